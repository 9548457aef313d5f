// SPDX-License-Identifier: Apache-2.0
// Two recorded runs against each other: which parts of the time changed, and whether by more work or a slower rate.
#pragma once

#include <string>
#include <vector>

#include "corridor/app/trace_case.h"

namespace corridor::app {

/// A part of the span. The parts of a run add up to its span.
struct ChangedPart {
  std::string part;  ///< "idle: host had not launched", "product"
  double this_s = 0, against_s = 0;
  std::string why;  ///< "2.00 × the bytes, at 0.98 × the rate"; empty when nothing tells
  [[nodiscard]] double change_s() const { return this_s - against_s; }
};

struct TraceComparison {
  std::string against_file;
  bool per_step = false;  ///< times are of one step (both runs have steps); else of the whole traces
  double this_span_s = 0, against_span_s = 0;
  double this_busy = 0, against_busy = 0;  ///< busy fractions
  std::vector<ChangedPart> parts;          ///< by size of the change
  std::string sentence;
  std::vector<std::string> caveats;  ///< what makes the two hard to compare: devices, step counts
};

/// `run` against `reference`; both answered by diagnose_traces.
[[nodiscard]] TraceComparison compare_traces(const TraceAnswer& run, const TraceAnswer& reference);

}  // namespace corridor::app
