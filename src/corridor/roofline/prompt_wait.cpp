// SPDX-License-Identifier: Apache-2.0
// Closed forms of the wait; a simulation of the scheduler would tell them exactly.
#include "corridor/roofline/prompt_wait.h"

#include <algorithm>

#include "corridor/roofline/phases.h"

namespace corridor::roofline {

using units::Seconds;

Seconds queue_time(const PredictInput& input, const MemoryFit& memory, const DecodePrediction& decode, Seconds prompt) {
  const graph::Scenario& s = input.scenario;
  const double asked = s.sequences / static_cast<double>(s.parallelism.dp);
  const double running = std::max(1.0, memory.sequences);
  const double others = running - 1;
  const Seconds meeting = prompt * (input.engine.queue_meeting * others / running + input.engine.queue_wave * others);
  const double answer_s = decode.tpot_s(decode.budget.total()) * static_cast<double>(s.output);
  return meeting + (Seconds{answer_s} + prompt) * std::max(0.0, asked / running - 1);
}

double turn_speedup(const PredictInput& input, double chunks) {
  if (!input.engine.layers_in_turn || chunks < 1) return 1;
  const double stages = static_cast<double>(layout_run(input).pp);
  return 1 + input.engine.turn_overlap * (stages * chunks / (chunks + stages - 1) - 1);
}

}  // namespace corridor::roofline
