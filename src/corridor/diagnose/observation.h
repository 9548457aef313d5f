// SPDX-License-Identifier: Apache-2.0
// What somebody measured, in SI units; every field is optional and keeps its own definition.
#pragma once

#include <optional>

namespace corridor::diagnose {

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
  bool lengths_given = false;            ///< the scenario's lengths are the user's own, not defaults

  [[nodiscard]] bool has_speed() const {
    return tpot_s || tok_s_per_user || output_tok_s || total_tok_s || ttft_s || prefill_tok_s;
  }
  [[nodiscard]] bool empty() const {
    return !has_speed() && !request_rate && !request_per_s && !bytes_per_s && !flop_per_s;
  }
};

}  // namespace corridor::diagnose
