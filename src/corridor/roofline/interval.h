// SPDX-License-Identifier: Apache-2.0
// How wide an expected time is: ratios low and high around it, by regime, from residuals (data/intervals.toml).
//
// A regime is one cell of (engine class, phase, sequences). What a case has beyond it — a device of whose class no
// kernel was measured, an engine without a profile, experts, weights of 8 bits and less — widens the cell's
// ratios in the logarithm. A cell that is not in the table falls back to its phase without sequences, then to the class
// "any".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/units/units.h"

namespace corridor::roofline {

/// A time with its 80 % interval.
struct Interval {
  units::Seconds low, mid, high;
};

/// What the width of an interval depends on.
struct IntervalCase {
  enum class Phase {
    decode,            ///< a static batch, or one sequence
    decode_loop,       ///< a closed loop, every request admitted
    decode_saturated,  ///< a closed loop in which requests wait for memory or for the budget of tokens
    prefill,           ///< time to first token, nobody waiting
    prefill_loop       ///< time to first token of a closed loop, the wait included
  };
  Phase phase = Phase::decode;
  std::string engine_class;  ///< EngineProfile::interval_class
  double sequences = 1;
  bool device_measured = true, engine_known = true, experts = false, narrow_weights = false;
};

/// low ≤ 1 ≤ high, as multiples of the expected time.
struct RegimeRatios {
  double low = 1, high = 1;
};

class IntervalTable {
 public:
  /// Of data/intervals.toml.
  [[nodiscard]] static Result<IntervalTable> load(const Assets& assets);
  /// Of a text; `where` names it in errors.
  [[nodiscard]] static Result<IntervalTable> parse(std::string_view text, const std::string& where);
  [[nodiscard]] RegimeRatios ratios(const IntervalCase& of) const;

 private:
  std::map<std::string, RegimeRatios> cells_;  ///< "server.decode_loop.to_8"
  std::map<std::string, double> widen_;        ///< "device_unmeasured": factor on the logarithm of both ratios
};

/// low and high around mid by the ratios; never below the limit.
[[nodiscard]] Interval interval_around(units::Seconds mid, units::Seconds limit, const RegimeRatios& ratios);

}  // namespace corridor::roofline
