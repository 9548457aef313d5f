// SPDX-License-Identifier: Apache-2.0
// `corridor measure --on cpu`: the ladder, the peaks, the dispatch cost and the ridge of this machine's processor.
//
//   const Result<Measurement> m = measure_cpu({Effort::quick}, {});
//   m->ladder[0].level                       // "L1", 47.6 KiB found, 48 KiB reported, 255 GB/s, 1.9 ns
//   m->device                                // all of it as a device, basis measured
//
// Everything is taken hot (the same working set again and again, so it stands where it fits) except main memory, whose
// working set is several times the last-level cache.
#pragma once

#include "corridor/base/result.h"
#include "corridor/measure/clock.h"
#include "corridor/measure/cpu/cpu_probe.h"
#include "corridor/measure/machine_facts.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure {

/// Measures this machine. Fails when there is no memory for it or the clock does not move.
[[nodiscard]] Result<Measurement> measure_cpu(const MeasureSettings& settings, const Progress& progress);

/// The same through any probe. Fills everything but `warnings` about the surroundings.
[[nodiscard]] Result<Measurement> measure_with(CpuProbe& probe, const MachineFacts& facts, const Clock& clock,
                                               const MeasureSettings& settings, const Progress& progress);

/// Working set for an effort: several times the last-level cache, at least 512 MiB, at most a quarter of the free
/// memory.
[[nodiscard]] units::Bytes working_set(const MachineFacts& facts, Effort effort);

}  // namespace corridor::measure
