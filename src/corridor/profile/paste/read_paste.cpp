// SPDX-License-Identifier: Apache-2.0
// Passes each line of a paste to the readers, and names the lines that look like facts and belong to none of them.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/command_reader.h"
#include "corridor/profile/paste/json_results.h"
#include "corridor/profile/paste/paste_lines.h"
#include "corridor/profile/paste/recorder.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

std::vector<std::unique_ptr<BlockReader>> make_readers(Recorder& recorder) {
  std::vector<std::unique_ptr<BlockReader>> readers;
  readers.push_back(make_vllm_log_reader(recorder));
  readers.push_back(make_sglang_log_reader(recorder));
  readers.push_back(make_llama_log_reader(recorder));
  readers.push_back(make_trtllm_log_reader(recorder));
  readers.push_back(make_nvidia_smi_reader(recorder));
  readers.push_back(make_serving_reader(recorder));
  readers.push_back(make_offline_reader(recorder));
  readers.push_back(make_trtllm_reader(recorder));
  readers.push_back(make_ollama_reader(recorder));
  readers.push_back(make_llama_table_reader(recorder));
  readers.push_back(make_aiperf_reader(recorder));
  return readers;
}

/// A short "name: number unit" line: a few words, a colon or equals sign, and a number that ends the line, unit aside.
bool looks_like_fact(std::string_view line) {
  line = trim(line);
  constexpr std::size_t longest_fact = 120;
  constexpr std::size_t longest_unit = 20;
  if (line.size() > longest_fact) return false;
  const std::size_t mark = line.find_first_of(":=");
  if (mark == std::string_view::npos || mark < 2 || !is_letter(line[0])) return false;
  if (std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(mark), ' ') > 5) return false;
  const auto number = leading_number(line.substr(mark + 1));
  if (!number) return false;
  const std::string_view unit = trim(number->rest);
  if (unit.starts_with(":")) return false;  // a time of day
  return unit.size() <= longest_unit && std::count(unit.begin(), unit.end(), ' ') <= 1;
}

/// A line that is only a flag, outside any command.
bool looks_like_flag(std::string_view line) {
  line = trim(line);
  return line.size() > 3 && line.size() < 120 && line.starts_with("--") && is_letter(line[2]) &&
         std::count(line.begin(), line.end(), ' ') <= 2;
}

}  // namespace

PastedRun read_paste(std::string_view text) {
  PastedRun run;
  run.bytes_seen = text.size();
  const PasteLines lines(text);
  Recorder recorder(run);
  run.cut = lines.cut();
  if (run.cut) {
    constexpr double mb = 1e6;
    recorder.note(fmt::format("the text has {:.0f} MB: only its first and last {:.0f} MB were read",
                              static_cast<double>(text.size()) / mb, static_cast<double>(kept_bytes_at_each_end) / mb));
  }
  CommandReader commands(recorder);
  JsonReader json(recorder);
  const auto readers = make_readers(recorder);
  for (std::size_t at = 0; at < lines.size();) {
    std::size_t taken = json.read(lines, at);
    if (taken == 0) taken = commands.read(lines, at);
    const Line line = lines[at];
    const bool known = taken > 0 || commands.read_setting(line) ||
                       std::any_of(readers.begin(), readers.end(), [&](const auto& r) { return r->feed(line); });
    if (!known && (looks_like_fact(line.text) || looks_like_flag(line.text))) recorder.ignore(line.text);
    at += std::max<std::size_t>(taken, 1);
  }
  for (const auto& reader : readers) reader->finish();
  commands.finish();
  recorder.finish();
  return run;
}

}  // namespace corridor::profile
