// SPDX-License-Identifier: Apache-2.0
// What somebody measured, in SI units; every field is optional and keeps its own definition.
#pragma once

#include <optional>

#include "corridor/base/result.h"

namespace corridor::diagnose {

// Times and rates outside these are no measurement of a run: a slip of a unit, or a broken clock.
inline constexpr double least_seconds = 1e-9, most_seconds = 1e9;
inline constexpr double least_rate = 1e-3, most_rate = 1e12;             ///< tokens or requests a second
inline constexpr double least_device_rate = 1, most_device_rate = 1e18;  ///< bytes or FLOP a second

struct Observation {
  std::optional<double> tpot_s;          ///< (E2E − TTFT) ÷ (output tokens − 1)
  std::optional<double> tok_s_per_user;  ///< 1 ÷ TPOT of one user
  std::optional<double> output_tok_s;    ///< generated tokens of all users
  std::optional<double> total_tok_s;     ///< generated and prompt tokens
  std::optional<double> ttft_s;          ///< request sent to first token
  std::optional<double> prefill_tok_s;   ///< prompt tokens a second
  std::optional<double> request_rate;    ///< requests/s offered
  std::optional<double> request_per_s;   ///< requests/s completed
  std::optional<double> bytes_per_s;     ///< read from main memory, one device
  std::optional<double> flop_per_s;      ///< one device
  std::optional<double> meter;           ///< GPU utilisation as nvidia-smi prints it, 0..1
  std::optional<double> kv_usage;        ///< 0..1, from an engine log
  std::optional<double> waiting;         ///< requests in the queue, from an engine log
  std::optional<double> preemptions;     ///< requests thrown out of the full KV cache, from an engine log
  bool from_log_windows = false;         ///< the throughput is an average of an engine log, idle time counted
  bool lengths_given = false;            ///< the scenario's lengths are the user's own, not defaults

  [[nodiscard]] bool has_speed() const {
    return tpot_s || tok_s_per_user || output_tok_s || total_tok_s || ttft_s || prefill_tok_s;
  }
  [[nodiscard]] bool empty() const {
    return !has_speed() && !request_rate && !request_per_s && !bytes_per_s && !flop_per_s;
  }
};

/// Fails when a time or rate lies outside the bounds above; the device's own rates are checked against its peaks.
[[nodiscard]] Result<int> check_observation(const Observation& seen);

}  // namespace corridor::diagnose
