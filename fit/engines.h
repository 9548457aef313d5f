// SPDX-License-Identifier: Apache-2.0
// Fits what engines add to the kernels (data/engines/*.toml) and the width of intervals (data/intervals.toml) from the
// shipped table of runs.
#pragma once

#include <string>

#include "corridor/base/assets.h"

namespace corridor::fit {

struct EngineFitOptions {
  std::string data;    ///< folder with engines/, intervals.toml and validation/runs.csv
  std::string only;    ///< one profile; empty = all
  bool write = false;  ///< puts the values into the files; else they are only printed
};

/// Profiles are fitted one after the other; one that is based on another sees the other's new values at the next run,
/// so run it until nothing changes (twice). Prints old and new values, residuals in sample and with a model or a device
/// left out. Returns an exit code.
[[nodiscard]] int fit_engines(const Assets& assets, const EngineFitOptions& options);

}  // namespace corridor::fit
