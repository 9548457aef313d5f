// SPDX-License-Identifier: Apache-2.0
// What the readers of "name: value" lines share.
#include "corridor/profile/paste/block_reader.h"

#include <fmt/format.h>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/units/text.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_key = 80;
constexpr std::size_t longest_stamp = 60;

/// Cuts "[01/02/2025-10:11:12] [TRT-LLM] [I] ", "> ", "- " and table borders in front of a line.
std::string_view without_front(std::string_view line) {
  line = trim(line);
  for (int part = 0; part < 6 && !line.empty(); ++part) {
    const std::size_t close = line.substr(0, longest_stamp).find(']');
    if (line[0] == '[' && close != std::string_view::npos) {
      line = trim(line.substr(close + 1));
    } else if (line.size() > 2 && (line[0] == '>' || line[0] == '-' || line[0] == '*' || line[0] == '|') &&
               line[1] == ' ') {
      line = trim(line.substr(2));
    } else {
      break;
    }
  }
  return line;
}

}  // namespace

std::optional<Labelled> labelled(std::string_view line) {
  line = without_front(line);
  const std::size_t colon = line.substr(0, longest_key).find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  return Labelled{normalised(line.substr(0, colon)), trim(line.substr(colon + 1))};
}

void keep_last(std::optional<double>& field, double value, std::string_view label, Recorder& recorder) {
  if (field && *field != value) {
    recorder.note(fmt::format("'{}' is given twice in one result: {}, then {}; the last is kept", label,
                              units::print_number(*field), units::print_number(value)));
  }
  field = value;
}

std::optional<double> Spread::*statistic(std::string_view word) {
  if (word == "mean" || word == "avg" || word == "average") return &Spread::mean;
  if (word == "median" || word == "p50") return &Spread::median;
  if (word == "p90") return &Spread::p90;
  if (word == "p95") return &Spread::p95;
  if (word == "p99") return &Spread::p99;
  if (word == "min" || word == "minimum") return &Spread::min;
  if (word == "max" || word == "maximum") return &Spread::max;
  if (word == "std" || word == "stddev") return &Spread::stddev;
  return nullptr;
}

}  // namespace corridor::profile
