// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor measure`: what to measure, in the user's words → measurements, and a device file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/measurement.h"

namespace corridor::app {

struct MeasureRequest {
  std::string on = "cpu";  ///< "cpu", "cuda", "cuda:N", "all"
  measure::MeasureSettings settings;
  std::string output;  ///< device file to write; empty: none
};

struct MeasureAnswer {
  std::vector<measure::Measurement> measured;
  std::optional<Error> refusal;    ///< why nothing could be measured: no such GPU, no driver
  std::string written;             ///< the device file; empty when none was asked for
  std::vector<std::string> notes;  ///< what `all` did not find
};

/// What `--on` means.
struct MeasureTarget {
  bool cpu = false;
  bool every_gpu = false;
  std::optional<int> gpu;
};
[[nodiscard]] Result<MeasureTarget> parse_target(const std::string& on);

/// Measures and writes. A GPU that is not there is an answer (`refusal`), not an error. Fails on a word that names
/// nothing, on a file that cannot be written, and when the processor cannot be measured.
[[nodiscard]] Result<MeasureAnswer> measure(const MeasureRequest& request, const measure::Progress& progress);

}  // namespace corridor::app
