// SPDX-License-Identifier: Apache-2.0
// From the constants of a device's class to those of the device: what its own facts say takes the place of the class's.
//
// Order of belief: figures that its owner measured (a launch floor stands in the file) over the class's own kernels,
// those over the catalogue's reachable figures, those over rules from the data sheet (memory kind, board power).
#pragma once

#include "corridor/hardware/device.h"
#include "corridor/roofline/constant_file.h"
#include "corridor/roofline/kernel_constants.h"

namespace corridor::roofline {

/// Applies every rule to `c`; `file` holds the rules' own constants ([rule], [memory_fraction]). Missing ones change
/// nothing.
void apply_device_rules(const hardware::Device& device, const ConstantFile& file, KernelConstants& c);

}  // namespace corridor::roofline
