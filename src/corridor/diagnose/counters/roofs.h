// SPDX-License-Identifier: Apache-2.0
// How high the roofs of one launch stand: from the profile itself, else measured by the profiler, else the data sheet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "corridor/diagnose/counters/counter_analysis.h"

namespace corridor::diagnose {

struct Roof {
  double per_s = 0;  ///< bytes or FLOPs a second, above 0
  RoofSource source = RoofSource::data_sheet;
};

/// What the roofs of all launches of a trace come from.
struct RoofInput {
  const profile::Trace& trace;
  const hardware::Device* device = nullptr;
};

/// Share of the data sheet's arithmetic that the clock of the launch leaves: 1 when a clock is not known.
[[nodiscard]] double clock_share(const profile::KernelCounters& launch, const hardware::Device* device);

[[nodiscard]] std::optional<Roof> level_roof(const RoofInput& input, const profile::KernelCounters& launch,
                                             CounterLevel level);

/// `type` as KernelCounters names it: "fp32", "fp16 tensor".
[[nodiscard]] std::optional<Roof> type_roof(const RoofInput& input, const profile::KernelCounters& launch,
                                            std::string_view type);

/// FLOPs of one warp-wide tensor instruction in 16-bit types, where a generation has only one size of it that matters;
/// empty for those whose products run in other instructions (Hopper and later).
[[nodiscard]] std::optional<double> flops_of_tensor_instruction(const profile::Trace& trace,
                                                                const hardware::Device* device);

}  // namespace corridor::diagnose
