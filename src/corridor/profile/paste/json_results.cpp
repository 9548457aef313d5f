// SPDX-License-Identifier: Apache-2.0
// Finds JSON objects in pasted lines and reads those that are results of a benchmark tool.
#include "corridor/profile/paste/json_results.h"

#include <string_view>
#include <utility>

#include "corridor/profile/paste/json_scan.h"
#include "corridor/profile/paste/result_fields.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

/// All attempts together may look at so many bytes; it keeps a text of a million braces linear.
constexpr std::size_t most_scanned = 32U << 20U;

}  // namespace

std::size_t JsonReader::read(const PasteLines& lines, std::size_t at) {
  std::string_view first = trim(lines[at].text);
  if (first.starts_with("[{")) first.remove_prefix(1);
  if (!first.starts_with("{") || scanned_ > most_scanned) return 0;
  JsonScan scan;
  std::size_t taken = 0;
  for (; at + taken < lines.size() && scanned_ <= most_scanned; ++taken) {
    const std::string_view part = taken == 0 ? first : lines[at + taken].text;
    scanned_ += scan.feed(part) + 1;
    if (scan.state() == JsonScan::State::inside) scan.feed("\n");
    if (scan.state() != JsonScan::State::inside) {
      ++taken;
      break;
    }
  }
  if (scan.state() != JsonScan::State::closed) return 0;
  ResultBlock block;
  block.line = lines[at].number;
  if (!read_result_fields(scan.fields(), block)) return 0;
  if (std::string lists = describe_lists(scan.fields()); !lists.empty()) recorder_.note(std::move(lists));
  recorder_.result(std::move(block));
  return taken;
}

}  // namespace corridor::profile
