// SPDX-License-Identifier: Apache-2.0
// Reads the table of intervals and finds the regime nearest to a case.
#include "corridor/roofline/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "corridor/roofline/constant_file.h"

namespace corridor::roofline {
namespace {

const char* word(IntervalCase::Phase phase) {
  switch (phase) {
    case IntervalCase::Phase::decode:
      return "decode";
    case IntervalCase::Phase::decode_loop:
      return "decode_loop";
    case IntervalCase::Phase::decode_saturated:
      return "decode_saturated";
    case IntervalCase::Phase::prefill:
      return "prefill";
    case IntervalCase::Phase::prefill_loop:
      return "prefill_loop";
  }
  return "";
}

const char* sequences_word(double sequences) {
  return sequences <= 1 ? "one" : sequences <= 8 ? "to_8" : sequences <= 64 ? "to_64" : "above_64";
}

}  // namespace

Result<IntervalTable> IntervalTable::load(const Assets& assets) {
  const std::string path = "intervals.toml";
  const Result<std::string_view> text = assets.read(path);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, assets.describe(path));
}

Result<IntervalTable> IntervalTable::parse(std::string_view text, const std::string& where) {
  const Result<ConstantFile> file = parse_constants(text, where);
  if (!file) return tl::unexpected(file.error());
  IntervalTable table;
  for (const auto& [key, constant] : file->values) {
    const std::size_t dot = key.rfind('.');
    const std::string cell = key.substr(0, dot == std::string::npos ? 0 : dot);
    const std::string name = key.substr(dot == std::string::npos ? 0 : dot + 1);
    if (cell == "widen") {
      table.widen_[name] = constant.value;
    } else if (name == "low" && constant.value > 0 && constant.value <= 1) {
      table.cells_[cell].low = constant.value;
    } else if (name == "high" && constant.value >= 1) {
      table.cells_[cell].high = constant.value;
    } else {
      return fail(key + " is not a ratio of an interval", where + ":" + std::to_string(constant.line),
                  "low lies in (0, 1], high at 1 or above");
    }
  }
  return table;
}

RegimeRatios IntervalTable::ratios(const IntervalCase& of) const {
  const std::string phase = word(of.phase);
  RegimeRatios found;
  for (const std::string& engine : {of.engine_class, std::string("any")}) {
    std::string name = engine;
    name.append(".").append(phase);
    auto cell = cells_.find(name);
    const auto finer = cells_.find(name.append(".").append(sequences_word(of.sequences)));
    if (finer != cells_.end()) cell = finer;
    if (cell == cells_.end()) continue;
    found = cell->second;
    break;
  }
  const std::array<std::pair<bool, const char*>, 4> reasons = {{{!of.device_measured, "device_unmeasured"},
                                                                {!of.engine_known, "engine_unknown"},
                                                                {of.experts, "experts"},
                                                                {of.narrow_weights, "narrow_weights"}}};
  double width = 1;
  for (const auto& [holds, name] : reasons) {
    const auto factor = widen_.find(name);
    if (holds && factor != widen_.end()) width *= factor->second;
  }
  return {std::pow(found.low, width), std::pow(found.high, width)};
}

Interval interval_around(units::Seconds mid, units::Seconds limit, const RegimeRatios& ratios) {
  return {std::max(limit, mid * ratios.low), mid, std::max(mid, mid * ratios.high)};
}

}  // namespace corridor::roofline
