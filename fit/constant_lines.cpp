// SPDX-License-Identifier: Apache-2.0
// Edits one line of a TOML file.
#include "constant_lines.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "corridor/base/file.h"

namespace corridor::fit {
namespace {

constexpr const char* fit_date = "2026-11-29";  // of the table of runs; a date of today would change the file every day

}  // namespace

std::string toml_line(const ConstantLine& line) {
  return fmt::format(
      "{} = {{ value = {:.3g}, unit = \"{}\", source = \"fit engines over data/validation/runs.csv\", basis = "
      "\"measured\", "
      "date = \"{}\", residual_median = {:.3f}, residual_p90 = {:.3f}, points = {} }}",
      line.key, line.value, line.unit, fit_date, line.residuals.median, line.residuals.p90, line.residuals.points);
}

Result<int> write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) return fail("cannot be written", path, "check that the folder is yours to write");
  return 0;
}

Result<int> write_constant(const std::string& path, const ConstantLine& line) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  std::istringstream in(*text);
  std::string out;
  bool done = false;
  for (std::string each; std::getline(in, each);) {
    const bool is_key = each.rfind(line.key + " ", 0) == 0 || each.rfind(line.key + "=", 0) == 0;
    const bool table = !each.empty() && each[0] == '[';
    if (!done && (is_key || table)) {
      out += toml_line(line) + "\n";
      done = true;
      if (is_key) continue;
    } else if (is_key) {
      continue;
    }
    out += each + "\n";
  }
  if (!done) out += toml_line(line) + "\n";
  return write_file(path, out);
}

}  // namespace corridor::fit
