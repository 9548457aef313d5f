// SPDX-License-Identifier: Apache-2.0
// MeasureAnswer → Document: the ladder, main memory, peaks, dispatch and ridge, with curves and roofline for HTML.
//
//   Intel(R) Xeon(R) Processor, measured
//   Main memory is read at 27.1 GB/s; fp32 arithmetic does 341 GFLOP/s: the ridge stands at 12.6 FLOP/B.
//
//   Memory ladder
//     level        capacity  reported  read         spread  latency
//     L1           95.8 kB   98.3 kB   512 GB/s     1 %     1.92 ns
#pragma once

#include "corridor/app/measure.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Schema corridor/measurement/1 for one device. Several devices (--on all) give corridor/measurements/1: each device's
/// keys stand below its name ("cpu", "cuda:0"). A refusal is a document with its reason as verdict. `explain` adds how
/// each kind of figure is made.
[[nodiscard]] report::Document measure_view(const app::MeasureAnswer& answer, bool explain = false);

}  // namespace corridor::views
