// SPDX-License-Identifier: Apache-2.0
// Lines and tables in the output of `nsys stats`.
#include "corridor/profile/nsys/stats_lines.h"

#include <algorithm>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile::nsys {

StatsLine stats_line(std::string_view text, std::size_t at) {
  const std::size_t found = std::min(text.find('\n', at), text.size());
  StatsLine line{text.substr(at, found - at), std::min(found + 1, text.size())};
  if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
  return line;
}

std::size_t table_end(std::string_view text, std::size_t at) {
  std::size_t end = stats_line(text, at).end;
  while (end < text.size()) {
    const StatsLine line = stats_line(text, end);
    if (trim(line.text).empty()) break;
    end = line.end;
  }
  return end;
}

double column_unit_s(std::string_view head) {
  return contains(head, "(us)") ? 1e-6 : contains(head, "(ms)") ? 1e-3 : contains(head, "(s)") ? 1 : 1e-9;
}

}  // namespace corridor::profile::nsys
