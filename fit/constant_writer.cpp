// SPDX-License-Identifier: Apache-2.0
// Line-wise edits: one constant stands on one line, { value, unit, source, basis, date, … }.
#include "constant_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace corridor::fit {
namespace {

using Lines = std::vector<std::string>;

/// Replaces `NAME = NUMBER` inside a line, or puts it before the note (or the closing brace).
void set_field(std::string& line, const std::string& name, const std::string& value) {
  const std::string head = name + " = ";
  std::size_t at = line.find("{ " + head);
  if (at != std::string::npos) at += 2;
  if (at == std::string::npos && (at = line.find(", " + head)) != std::string::npos) at += 2;
  if (at != std::string::npos) {
    const std::size_t from = at + head.size();
    line.replace(from, line.find_first_of(",}", from) - from,
                 value + (line[line.find_first_of(",}", from)] == '}' ? " " : ""));
    return;
  }
  std::size_t before = line.find(", note = ");
  if (before == std::string::npos) before = line.rfind(" }");
  line.insert(before, ", " + head + value);
}

std::string number(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e5)) {
    std::string text = fmt::format("{:.2e}", value);  // 1.74e-06 → 1.74e-6
    const std::size_t sign = text.find('e') + 1;
    std::size_t digits = sign + (text[sign] == '-' || text[sign] == '+' ? 1 : 0);
    if (text[digits] == '0') text.erase(digits, 1);
    if (text[sign] == '+') text.erase(sign, 1);
    return text;
  }
  return fmt::format("{:.3g}", value);
}

/// First line after the table's header, and the line after its last entry.
std::pair<std::size_t, std::size_t> table_range(const Lines& lines, const std::string& table) {
  const auto header = std::find(lines.begin(), lines.end(), "[" + table + "]");
  if (header == lines.end()) return {lines.size(), lines.size()};
  auto end = std::find_if(header + 1, lines.end(), [](const std::string& line) { return line.starts_with("["); });
  while (end != header + 1 && (end - 1)->empty()) --end;
  return {static_cast<std::size_t>(header - lines.begin()) + 1, static_cast<std::size_t>(end - lines.begin())};
}

std::string new_line(const std::string& name, const NewConstant& constant) {
  return fmt::format(
      "{} = {{ value = {}, unit = \"{}\", source = \"corridor_fit on data/validation/operations\", "
      "basis = \"measured\", date = \"2026-11-29\" }}",
      name, number(constant.value), constant.unit);
}

void write_one(Lines& lines, const NewConstant& constant) {
  const std::size_t dot = constant.key.rfind('.');
  const std::string table = constant.key.substr(0, dot);
  const std::string name = constant.key.substr(dot + 1);
  auto [from, to] = table_range(lines, table);
  if (from == lines.size() && to == lines.size()) {
    const std::size_t sources = table_range(lines, "sources").first;
    const std::size_t at = sources < lines.size() ? sources - 1 : lines.size();
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), {"[" + table + "]", ""});
    from = to = at + 1;
  }
  const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(from);
  auto line = std::find_if(begin, lines.begin() + static_cast<std::ptrdiff_t>(to),
                           [&](const std::string& text) { return text.starts_with(name + " = {"); });
  if (line == lines.begin() + static_cast<std::ptrdiff_t>(to)) line = lines.insert(line, new_line(name, constant));
  set_field(*line, "value", number(constant.value));
  if (constant.fitted.points == 0) return;
  set_field(*line, "residual_median", fmt::format("{:.3f}", constant.fitted.median));
  set_field(*line, "residual_p90", fmt::format("{:.3f}", constant.fitted.p90));
  set_field(*line, "points", fmt::format("{}", constant.fitted.points));
}

}  // namespace

double rounded(double value) {
  return std::strtod(number(value).c_str(), nullptr);
}

std::string with_constants(const std::string& toml_text, const std::vector<NewConstant>& constants) {
  Lines lines;
  std::istringstream in(toml_text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (const NewConstant& constant : constants) write_one(lines, constant);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace corridor::fit
