// SPDX-License-Identifier: Apache-2.0
// The annotated trace: the time-line of a recorded run with what bounds each kernel, for ui.perfetto.dev and
// chrome://tracing.
//
//   {"ph":"X","cat":"kernel","pid":0,"tid":1,"ts":12.000,"dur":84.500,"name":"gemm…",
//    "args":{"operation":"aten::mm","bound":"compute","fraction_of_roof":0.617,"flop_per_s":6.11e+14, …}}
//   {"ph":"C","pid":0,"ts":12.000,"name":"FLOP/s","args":{"FLOP/s":6.11e+14}}
#pragma once

#include <cstddef>

#include "corridor/diagnose/trace/trace_analysis.h"
#include "corridor/profile/byte_sink.h"
#include "corridor/profile/trace.h"

namespace corridor::app {

/// Writes all GPU work as Chrome trace events, one a line, and returns how many lines there are. Rates and fractions
/// are means over all executions of the span's operation and shape; work of devices that `analysis` is not of has none.
/// Counter tracks hold the sum of the rates of what runs at that time. Fails when the sink does.
[[nodiscard]] Result<std::size_t> write_perfetto(const profile::Trace& trace, const diagnose::TraceAnalysis& analysis,
                                                 const profile::ByteSink& sink);

}  // namespace corridor::app
