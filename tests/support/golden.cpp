// SPDX-License-Identifier: Apache-2.0
// Parsing, comparing and rewriting of recorded commands.
#include "support/golden.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace corridor::test {
namespace {

constexpr std::string_view prompt = "$ ";

std::optional<int> exit_line(std::string_view line) {
  constexpr std::string_view head = "[exit ";
  if (!line.starts_with(head) || !line.ends_with("]") || line.size() < head.size() + 2) return std::nullopt;
  const std::string_view digits = line.substr(head.size(), line.size() - head.size() - 1);
  constexpr std::size_t most_digits = 3;
  const bool numeric = digits.size() <= most_digits && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!numeric) return std::nullopt;
  return std::atoi(std::string(digits).c_str());
}

bool is_gap(std::string_view line) {
  return line == "…" || line == "...";
}

bool names_the_program(std::string_view command) {
  const std::string_view word = command.substr(0, command.find(' '));
  return word == "corridor" || word.ends_with("/corridor");
}

void trim_end(std::vector<std::string>& lines) {
  while (!lines.empty() && lines.back().find_first_not_of(" \t") == std::string::npos) lines.pop_back();
}

/// [begin, end) of the lines that hold commands: the whole of a golden file, each console block of a document.
std::vector<std::pair<std::size_t, std::size_t>> regions(const std::vector<std::string>& lines, bool is_document) {
  if (!is_document) return {{0, lines.size()}};
  std::vector<std::pair<std::size_t, std::size_t>> found;
  std::optional<std::size_t> open;
  bool in_other_block = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (!line.starts_with("```")) continue;
    if (open) {
      found.emplace_back(*open, i);
      open.reset();
    } else if (!in_other_block && line.starts_with("```console")) {
      open = i + 1;
    } else {
      in_other_block = !in_other_block;
    }
  }
  return found;
}

/// Reads the command at line `at` with its continuation lines; leaves `at` on the first line of output.
std::string read_command(const std::vector<std::string>& lines, std::size_t& at, std::size_t end) {
  std::string command = lines[at++].substr(prompt.size());
  while (!command.empty() && command.back() == '\\' && at < end) {
    command.pop_back();
    std::string_view more = lines[at++];
    if (more.starts_with("> ")) more.remove_prefix(2);
    more.remove_prefix(std::min(more.find_first_not_of(" \t"), more.size()));
    while (!command.empty() && command.back() == ' ') command.pop_back();
    command += ' ';
    command += more;
  }
  return command;
}

std::string quoted(const std::vector<std::string>& lines, std::size_t at) {
  return at < lines.size() ? "\"" + lines[at] + "\"" : "the end";
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<GoldenCase> parse_golden(const std::vector<std::string>& lines, bool is_document) {
  std::vector<GoldenCase> cases;
  for (const auto& [begin, end] : regions(lines, is_document)) {
    std::size_t at = begin;
    while (at < end) {
      if (!lines[at].starts_with(prompt)) {
        ++at;
        continue;
      }
      GoldenCase golden;
      golden.command_line = at;
      golden.command = read_command(lines, at, end);
      golden.is_corridor = names_the_program(golden.command);
      golden.first_line = at;
      bool closed = false;
      for (; at < end && !closed && !lines[at].starts_with(prompt); ++at) {
        const std::optional<int> code = exit_line(lines[at]);
        closed = code.has_value();
        if (closed) {
          golden.exit_code = *code;
        } else {
          golden.output.push_back(lines[at]);
        }
      }
      golden.end_line = at;
      trim_end(golden.output);
      cases.push_back(std::move(golden));
    }
  }
  return cases;
}

bool has_gap(const std::vector<std::string>& expected) {
  return std::any_of(expected.begin(), expected.end(), [](const std::string& line) { return is_gap(line); });
}

std::string first_difference(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  std::vector<std::string> want = expected;
  std::vector<std::string> have = actual;
  trim_end(want);
  trim_end(have);
  std::size_t w = 0;
  std::size_t h = 0;
  std::optional<std::size_t> gap;  // index in want after the last gap
  std::size_t gap_resume = 0;      // where in have the lines after the gap are tried next
  while (h < have.size() || w < want.size()) {
    if (w < want.size() && is_gap(want[w])) {
      gap = ++w;
      gap_resume = h;
    } else if (w < want.size() && h < have.size() && want[w] == have[h]) {
      ++w;
      ++h;
    } else if (gap && gap_resume < have.size()) {
      w = *gap;
      h = ++gap_resume;
    } else {
      if (gap) return "no lines match what follows the gap: " + quoted(want, *gap);
      return "line " + std::to_string(h + 1) + " of the output: expected " + quoted(want, w) + ", got " +
             quoted(have, h);
    }
  }
  return {};
}

std::vector<std::string> replace_output(const std::vector<std::string>& lines, const GoldenCase& golden,
                                        const std::vector<std::string>& output, int exit_code) {
  const auto begin = lines.begin();
  std::vector<std::string> out(begin, begin + static_cast<std::ptrdiff_t>(golden.first_line));
  std::vector<std::string> body = output;
  trim_end(body);
  out.insert(out.end(), body.begin(), body.end());
  if (exit_code != 0) out.push_back("[exit " + std::to_string(exit_code) + "]");
  // A blank line that stood before the next command stays.
  const bool blank = golden.end_line > golden.first_line && lines[golden.end_line - 1].empty();
  if (blank) out.emplace_back();
  out.insert(out.end(), begin + static_cast<std::ptrdiff_t>(golden.end_line), lines.end());
  return out;
}

}  // namespace corridor::test
