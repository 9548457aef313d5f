// SPDX-License-Identifier: Apache-2.0
// Brings what several texts of one run told into one PastedRun, within its bounds.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {
namespace {

template <class T>
void append_up_to(std::vector<T>& into, std::vector<T>& from, std::size_t most) {
  const std::size_t room = into.size() < most ? most - into.size() : 0;
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(room, from.size()));
  std::move(from.begin(), end, std::back_inserter(into));
}

/// A later statement replaces an earlier one, and a note says so when they differ.
template <class Command>
void replace_command(std::optional<Command>& into, std::optional<Command>& from, std::vector<std::string>& notes) {
  if (!from) return;
  if (into && (into->program != from->program || into->model != from->model))
    notes.push_back(
        fmt::format("two commands in the files: {}, then {}; the last is kept", into->program, from->program));
  into = std::move(from);
}

void merge_windows(LogWindows& into, const LogWindows& from) {
  into.count += from.count;
  into.busy += from.busy;
  into.generation_tok_s_sum += from.generation_tok_s_sum;
  into.generation_tok_s_max = std::max(into.generation_tok_s_max, from.generation_tok_s_max);
  into.prompt_tok_s_max = std::max(into.prompt_tok_s_max, from.prompt_tok_s_max);
  into.running_max = std::max(into.running_max, from.running_max);
  into.waiting_max = std::max(into.waiting_max, from.waiting_max);
  into.kv_usage_max = std::max(into.kv_usage_max, from.kv_usage_max);
}

}  // namespace

void merge_run(PastedRun& into, PastedRun other) {
  constexpr std::size_t most_merged_results = 200, most_merged_facts = 1000, most_merged_gpus = 1024;
  constexpr std::size_t most_merged_lines = 300, most_merged_notes = 50;
  std::vector<std::string> notes;
  replace_command(into.command, other.command, notes);
  replace_command(into.client, other.client, notes);
  append_up_to(into.results, other.results, most_merged_results);
  append_up_to(into.log_facts, other.log_facts, most_merged_facts);
  append_up_to(into.gpus, other.gpus, most_merged_gpus);
  merge_windows(into.windows, other.windows);
  append_up_to(into.understood, other.understood, most_merged_lines);
  append_up_to(into.ignored, other.ignored, most_merged_notes);
  into.ignored_more += other.ignored_more;
  append_up_to(into.notes, other.notes, most_merged_notes);
  append_up_to(into.notes, notes, most_merged_notes);
  into.bytes_seen += other.bytes_seen;
  into.cut = into.cut || other.cut;
}

}  // namespace corridor::profile
