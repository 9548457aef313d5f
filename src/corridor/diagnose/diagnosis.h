// SPDX-License-Identifier: Apache-2.0
// A measured run against its prediction: which wall, how far from the limit, what else it could be, what would tell.
//
//   slow: 7.1 ms a token where 2.9 to 3.4 ms are expected; 14 % of the limit. The bytes explain 1.0 ms.
//   most likely: kernels launched one by one (+4.2 ms); look at the start line for --enforce-eager
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/diagnose/observation.h"
#include "corridor/roofline/predict.h"

namespace corridor::diagnose {

/// DESIGN §6.
enum class Status { healthy, slow, below_floor, load_limited, queueing, not_batched, not_comparable, does_not_fit };
[[nodiscard]] std::string_view name(Status);

/// The observed quantity as a time, beside what was predicted for the same time.
struct Comparison {
  std::string what;  ///< "time per output token"
  units::Seconds observed, limit;
  units::Seconds limit_memory;  ///< bytes at the data sheet's bandwidth: the part of the limit that is memory
  roofline::Interval expected;
  roofline::Budget budget;          ///< adds up to expected.mid
  roofline::StepTotals per_device;  ///< FLOPs and bytes of that time, one device
  [[nodiscard]] double fraction_of_limit() const { return limit / observed; }
  [[nodiscard]] double fraction_of_expected() const { return expected.mid / observed; }
};

/// What could explain the time beyond the budget, with the size it would have.
struct Hypothesis {
  std::string cause;
  units::Seconds expected;  ///< time it would add
  std::string how_to_tell;
  roofline::Wall wall = roofline::Wall::overhead;  ///< which wall it stands for
  double mismatch = 0;     ///< |ln(observed ÷ (expected.mid + its time))|: smaller explains better
  bool oversized = false;  ///< far larger than the time to be explained: it cannot be all of the cause
};

/// Rates of one device. From the observation when given, else from the model's bytes and FLOPs and the observed time.
struct Rates {
  std::optional<double> bytes_per_s, flop_per_s, mbu, mfu, meter;
  std::optional<double> mbu_weights, mbu_weights_kv;  ///< parts of mbu, from the model's bytes; empty for given rates
};

/// Another board that carries a similar name, and its prediction of the same time.
struct BoardVariant {
  std::string id;
  units::Seconds expected;
  bool slower_link = false;  ///< its devices reach each other by a slower link, or by none
};

struct Diagnosis {
  Status status = Status::healthy;
  roofline::Wall wall = roofline::Wall::memory;
  std::string sentence;
  std::string remedy;  ///< what to do next, when it is not a lever
  std::optional<Comparison> comparison;
  Rates rates;
  units::Seconds queue;                   ///< part of the observed time spent waiting behind others
  units::Seconds unexplained;             ///< observed − budget − queue; negative when faster than expected
  std::optional<double> effective_batch;  ///< not_batched: the batch that would give this throughput
  std::vector<Hypothesis> hypotheses;     ///< best explanation first; empty when healthy
};

struct DiagnoseInput {
  const roofline::PredictInput& input;
  const roofline::Prediction& prediction;
  const Observation& seen;
  std::optional<double> capacity_request_per_s;  ///< what the case serves at most, when a rate was given
  std::vector<BoardVariant> variants;
};

/// Fails only when nothing comparable was observed.
[[nodiscard]] Result<Diagnosis> diagnose(const DiagnoseInput& input);

/// From two rates and a device alone: memory, compute, or both low.
struct RateDiagnosis {
  Rates rates;
  enum class Outcome { memory, compute, both_low } outcome = Outcome::both_low;
  double intensity_flop_per_byte = 0;
  double ridge_flop_per_byte = 0;
  hardware::ComputeType type = hardware::ComputeType::bf16;
  std::string sentence;
  std::vector<std::string> remedies;
};
[[nodiscard]] Result<RateDiagnosis> diagnose_rates(const hardware::Device& device, hardware::ComputeType type,
                                                   double bytes_per_s, double flop_per_s, std::optional<double> meter);

/// Fails when one device cannot have the rate: above what its data sheet states. `type`: of the arithmetic.
[[nodiscard]] Result<int> check_rates(const hardware::Device& device, hardware::ComputeType type,
                                      std::optional<double> bytes_per_s, std::optional<double> flop_per_s);

/// What a utilisation meter tells and what it does not, with its reading.
[[nodiscard]] std::string meter_sentence(double meter);

}  // namespace corridor::diagnose
