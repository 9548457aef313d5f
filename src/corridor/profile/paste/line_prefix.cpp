// SPDX-License-Identifier: Apache-2.0
// Recognises log stamps by their form; each looks at the first bytes of a line only.
#include "corridor/profile/paste/line_prefix.h"

#include <algorithm>
#include <array>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_stamp = 100;
constexpr int most_stamps = 4;

std::size_t blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

/// End of the text from `at` that has the form: '0' a digit, ' ' blanks, other characters themselves; npos otherwise.
std::size_t match(std::string_view text, std::size_t at, std::string_view form) {
  for (const char c : form) {
    if (at >= text.size()) return std::string_view::npos;
    if (c == ' ') {
      const std::size_t next = blanks(text, at);
      if (next == at) return std::string_view::npos;
      at = next;
      continue;
    }
    if (c == '0' ? !is_digit(text[at]) : text[at] != c) return std::string_view::npos;
    ++at;
  }
  return at;
}

/// "(EngineCore_0 pid=123) ", "(pid=123) ", "[pod/vllm-0/vllm] ".
std::size_t process(std::string_view line) {
  const bool round = line.starts_with("(");
  if (!round && !line.starts_with("[pod/")) return 0;
  const std::size_t close = line.substr(0, longest_stamp).find(round ? ')' : ']');
  if (close == std::string_view::npos || (round && !contains(line.substr(0, close), "pid="))) return 0;
  const std::size_t end = blanks(line, close + 1);
  return end > close + 1 ? end : 0;
}

/// "INFO 11-29 10:00:01 [loggers.py:118] " and "INFO 11-29 10:00:01 loggers.py:118] ".
std::size_t level(std::string_view line) {
  constexpr std::array<std::string_view, 5> levels{"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
  for (const std::string_view name : levels) {
    if (!line.starts_with(name)) continue;
    std::size_t at = match(line, name.size(), " 00-00 00:00:00");
    if (at == std::string_view::npos) return 0;
    if (at < line.size() && line[at] == '.') ++at;  // parts of a second
    while (at < line.size() && is_digit(line[at])) ++at;
    const std::size_t close = line.substr(at, longest_stamp).find("] ");
    const bool place = close != std::string_view::npos && contains(line.substr(at, close), ":");
    return blanks(line, place ? at + close + 1 : at);
  }
  return 0;
}

/// "2025-11-29T10:00:00.123456789Z ", then "stdout F " of a container's log file.
std::size_t iso_time(std::string_view line) {
  std::size_t at = match(line, 0, "0000-00-00T00:00:00");
  if (at == std::string_view::npos) return 0;
  while (at < line.size() && (is_digit(line[at]) || contains(".,+-:Z", line.substr(at, 1)))) ++at;
  std::size_t end = blanks(line, at);
  if (end == at) return 0;
  for (const std::string_view stream : {"stdout F ", "stderr F "}) {
    if (line.substr(end).starts_with(stream)) end += stream.size();
  }
  return end;
}

/// "Nov 29 10:00:00 host ollama[7]: " of the journal.
std::size_t journal(std::string_view line) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const bool month = std::any_of(months.begin(), months.end(), [&](auto name) { return line.starts_with(name); });
  if (!month) return 0;
  std::size_t at = match(line, 3, " 00 00:00:00 ");
  if (at == std::string_view::npos) at = match(line, 3, " 0 00:00:00 ");
  if (at == std::string_view::npos) return 0;
  const std::size_t close = line.substr(at, longest_stamp).find("]: ");
  return close == std::string_view::npos ? 0 : blanks(line, at + close + 2);
}

}  // namespace

std::size_t stamp_length(std::string_view line) {
  std::size_t at = 0;
  for (int i = 0; i < most_stamps; ++i) {
    const std::string_view rest = line.substr(at);
    std::size_t length = 0;
    for (const auto stamp : {process, level, iso_time, journal}) {
      if (length == 0) length = stamp(rest);
    }
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::size_t container_length(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && at < longest_stamp &&
         (is_letter(line[at]) || is_digit(line[at]) || contains("-_.", line.substr(at, 1)))) {
    ++at;
  }
  if (at == 0) return 0;
  at = blanks(line, at);
  if (at >= line.size() || line[at] != '|') return 0;
  ++at;
  if (at < line.size() && line[at] != ' ') return 0;
  return std::min(at + 1, line.size());
}

}  // namespace corridor::profile
