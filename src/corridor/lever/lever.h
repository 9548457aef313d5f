// SPDX-License-Identifier: Apache-2.0
// Changes that could make a case faster, ranked: what each gains, at most, why, and where it stops helping.
//
//   lever          gain                    at most   wall after
//   batch          12.4× (11.1 – 13.0)     128×      memory
//   weights_8bit   1.72× (1.66 – 1.75)     1.99×     memory
//   kv_8bit        1.01× (1.00 – 1.01)     1.01×     memory     "KV is 1 % of the bytes"
//
// A gain is always the ratio of two predictions (roofline::predict before and after the change), never a formula.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/roofline/predict.h"

namespace corridor::lever {

/// What a gain is measured in. Rates get larger with a gain, the time to first token gets smaller.
enum class Metric { all_users, per_user, first_token };
[[nodiscard]] std::string_view name(Metric);  ///< "tok/s all users", "tok/s per user", "time to first token"

/// New ÷ old rate (old ÷ new for a time): 1 changes nothing, 2 is twice as fast.
struct Gain {
  double low = 1, mid = 1, high = 1;
};

/// The parts of a case that a lever replaces; everything else stays.
struct Change {
  std::optional<model::ModelSpec> model, draft;
  std::optional<hardware::Device> device;
  std::optional<graph::Scenario> scenario;
  std::optional<roofline::EngineProfile> engine;
  std::optional<roofline::KernelConstants> constants;

  /// The changed case; both this change and `base` must outlive the returned references.
  [[nodiscard]] roofline::PredictInput applied_to(const roofline::PredictInput& base) const;
};

/// One lever at one case. When `applies` is false nothing can be changed here, the gain is 1 and `note` says why.
struct LeverResult {
  std::string id;
  std::string name;           ///< "8-bit weights"
  std::string change;         ///< corridor's flags that apply it: "--weights fp8"; empty when no flag of corridor does
  std::string engine_change;  ///< instead: the engine's own flag, "--max-num-batched-tokens 8192", or what to leave out
  bool applies = false;
  Gain gain;
  double max_gain = 1;  ///< bound by physics; gain never exceeds it
  roofline::Wall wall_after = roofline::Wall::memory;
  std::string stops_at;  ///< where it stops helping; may be empty
  std::string cost;      ///< what it costs, one sentence
  std::string note;      ///< why it cannot help, or what limits it, one clause with numbers
  Metric metric = Metric::per_user;
  double before = 0, after = 0;   ///< the metric, expected: tokens a second, or seconds
  std::optional<Change> changed;  ///< the changed case, to predict it again
};

/// Another device that could run the case.
struct DeviceChoice {
  hardware::Device device;
  roofline::KernelConstants constants;
};

/// How to apply a lever, for people: corridor's flags, or else what to tell the engine.
[[nodiscard]] inline const std::string& how_to(const LeverResult& r) {
  return r.change.empty() ? r.engine_change : r.change;
}

/// A case and its prediction, and what a user knows beyond them.
struct Situation {
  const roofline::PredictInput& input;
  const roofline::Prediction& now;
  std::vector<double> output_lengths;                  ///< tokens of real answers; empty = only the mean is known
  std::optional<double> acceptance;                    ///< of one drafted token, 0..1; empty = assumed
  const std::vector<DeviceChoice>* choices = nullptr;  ///< devices of the same vendor
};

/// Every lever at this case: those that apply by gain.mid, largest first, then those that do not, in a fixed order.
/// Never fails: a lever whose changed case cannot be predicted does not apply and says why.
[[nodiscard]] std::vector<LeverResult> rank_levers(const Situation& situation);

}  // namespace corridor::lever
