// SPDX-License-Identifier: Apache-2.0
// Refuses numbers that nobody can have measured.
#include "corridor/diagnose/observation.h"

#include <fmt/format.h>

namespace corridor::diagnose {
namespace {

Result<int> check_range(const std::optional<double>& value, const char* what, double least, double most) {
  if (!value || (*value >= least && *value <= most)) return 0;
  return fail(fmt::format("{:.6g} is no measurement of a run", *value), what,
              fmt::format("give {:g} to {:g}", least, most));
}

}  // namespace

Result<int> check_observation(const Observation& seen) {
  for (const Result<int>& step : {check_range(seen.tpot_s, "observed TPOT, seconds", least_seconds, most_seconds),
                                  check_range(seen.ttft_s, "observed TTFT, seconds", least_seconds, most_seconds),
                                  check_range(seen.tok_s_per_user, "observed tok/s per user", least_rate, most_rate),
                                  check_range(seen.output_tok_s, "observed output tok/s", least_rate, most_rate),
                                  check_range(seen.total_tok_s, "observed total tok/s", least_rate, most_rate),
                                  check_range(seen.prefill_tok_s, "observed prompt tok/s", least_rate, most_rate),
                                  check_range(seen.request_rate, "request rate", least_rate, most_rate),
                                  check_range(seen.request_per_s, "completed requests/s", least_rate, most_rate)}) {
    if (!step) return step;
  }
  return 0;
}

}  // namespace corridor::diagnose
