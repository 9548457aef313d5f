// SPDX-License-Identifier: Apache-2.0
// Keeps the bounds of PastedRun: what is one too many is counted, not kept.
#include "corridor/profile/paste/recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t most_results = 200;
constexpr std::size_t most_facts_at_each_end = 500;
constexpr std::size_t most_ignored = 50;
constexpr std::size_t longest_ignored = 80;
constexpr std::size_t most_notes = 50;
constexpr std::size_t most_clauses = 300;
constexpr std::size_t most_gpus = 1024;

bool is_window(LogKind kind) {
  return kind == LogKind::vllm_window || kind == LogKind::sglang_decode || kind == LogKind::sglang_prefill;
}

void raise(double& largest, const std::optional<double>& value) {
  if (value) largest = std::max(largest, *value);
}

}  // namespace

void Recorder::clause(std::size_t line, std::string text) {
  if (clauses_.size() < most_clauses) clauses_.push_back({line, std::move(text)});
}

void Recorder::command(ServeCommand command) {
  const bool other = run_.command && (run_.command->engine != command.engine || run_.command->model != command.model ||
                                      command.engine != Engine::ollama);
  if (other && (run_.command->model || command.engine != Engine::ollama)) {
    note(fmt::format("two serve commands: {} (line {}), then {} (line {}); the last is kept", run_.command->program,
                     run_.command->line, command.program, command.line));
  }
  run_.command = std::move(command);
}

void Recorder::client(ClientCommand client) {
  if (run_.client) {
    note(fmt::format("two benchmark commands: {} (line {}), then {} (line {}); the last is kept", run_.client->program,
                     run_.client->line, client.program, client.line));
  }
  run_.client = std::move(client);
}

void Recorder::result(ResultBlock block) {
  const bool same_kind = !run_.results.empty() && run_.results.back().kind == block.kind;
  if (same_kind && block.kind != ResultKind::llama_bench && run_.results.size() == 1) {
    note(fmt::format("several {} results; diagnosis of one run should use one of them", name(block.kind)));
  }
  clause(block.line, fmt::format("{} result: {}", name(block.kind), describe(block)));
  if (run_.results.size() >= most_results) {
    run_.results.erase(run_.results.begin());
    ++dropped_results_;
  }
  run_.results.push_back(std::move(block));
}

ResultBlock* Recorder::last_result(ResultKind kind) {
  if (run_.results.empty() || run_.results.back().kind != kind) return nullptr;
  return &run_.results.back();
}

void Recorder::count_window(const LogFact& fact) {
  LogWindows& windows = run_.windows;
  if (windows.count++ == 0) first_window_line_ = fact.line;
  if (fact.generation_tok_s && *fact.generation_tok_s > 0) {
    ++windows.busy;
    windows.generation_tok_s_sum += *fact.generation_tok_s;
  }
  raise(windows.generation_tok_s_max, fact.generation_tok_s);
  raise(windows.prompt_tok_s_max, fact.prompt_tok_s);
  raise(windows.running_max, fact.running);
  raise(windows.waiting_max, fact.waiting);
  raise(windows.kv_usage_max, fact.kv_usage);
}

void Recorder::log(LogFact fact) {
  if (is_window(fact.kind)) count_window(fact);
  if (const std::string text = describe(fact); !text.empty()) clause(fact.line, text);
  const std::size_t seen = facts_++;
  if (seen < most_facts_at_each_end) {
    run_.log_facts.push_back(std::move(fact));
  } else if (late_facts_.size() < most_facts_at_each_end) {
    late_facts_.push_back(std::move(fact));
  } else {
    late_facts_[seen % most_facts_at_each_end] = std::move(fact);
  }
}

void Recorder::gpu(GpuSeen gpu) {
  auto& gpus = run_.gpus;
  const auto same = std::find_if(gpus.begin(), gpus.end(),
                                 [&](const GpuSeen& seen) { return seen.index && seen.index == gpu.index; });
  if (same != gpus.end()) {
    *same = std::move(gpu);
  } else if (gpus.size() < most_gpus) {
    gpus.push_back(std::move(gpu));
  }
}

void Recorder::ignore(std::string_view text) {
  std::string cut = shortened(text, longest_ignored);
  std::replace(cut.begin(), cut.end(), '\n', ' ');
  if (std::find(run_.ignored.begin(), run_.ignored.end(), cut) != run_.ignored.end()) return;
  if (run_.ignored.size() >= most_ignored) {
    ++run_.ignored_more;
  } else {
    run_.ignored.push_back(std::move(cut));
  }
}

void Recorder::note(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (run_.notes.size() < most_notes) run_.notes.push_back(std::move(text));
}

void Recorder::finish() {
  if (!late_facts_.empty()) {
    const std::size_t oldest = late_facts_.size() < most_facts_at_each_end ? 0 : facts_ % most_facts_at_each_end;
    std::rotate(late_facts_.begin(), late_facts_.begin() + static_cast<std::ptrdiff_t>(oldest), late_facts_.end());
    std::move(late_facts_.begin(), late_facts_.end(), std::back_inserter(run_.log_facts));
  }
  if (facts_ > 2 * most_facts_at_each_end) {
    note(fmt::format("{} log lines were understood; the first and the last {} are kept one by one", facts_,
                     most_facts_at_each_end));
  }
  if (dropped_results_ > 0) {
    note(fmt::format("{} results beyond the last {} were dropped", dropped_results_, most_results));
  }
  if (run_.command) {
    clause(run_.command->line, fmt::format("{} command: {}", run_.command->program, describe(*run_.command)));
  }
  if (run_.client) {
    clause(run_.client->line, fmt::format("{} command: {}", run_.client->program, describe(*run_.client)));
  }
  if (run_.windows.count > 0) clause(first_window_line_, describe(run_.windows));
  for (const GpuSeen& gpu : run_.gpus) clause(gpu.line, describe(gpu));
  std::stable_sort(clauses_.begin(), clauses_.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  for (Clause& one : clauses_) run_.understood.push_back(std::move(one.text));
}

}  // namespace corridor::profile
