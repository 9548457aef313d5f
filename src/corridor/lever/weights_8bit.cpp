// SPDX-License-Identifier: Apache-2.0
// Lever: 8-bit weights. fp8 where the chip multiplies it, else int8 weights that are unpacked to 16 bit.
#include "corridor/lever/registry.h"
#include "corridor/lever/weights.h"

namespace corridor::lever {

LeverResult weights_8bit(const Situation& s) {
  const bool has_fp8 = s.input.device.peak(hardware::ComputeType::fp8).has_value();
  return change_weights(s, "weights_8bit", "8-bit weights", uses_gguf(s) ? "q8_0" : has_fp8 ? "fp8" : "int8");
}

}  // namespace corridor::lever
