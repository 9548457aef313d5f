// SPDX-License-Identifier: Apache-2.0
// Lever: 4-bit weights. nvfp4 where the chip multiplies fp4, else int4 in groups of 128, unpacked to 16 bit.
#include "corridor/lever/registry.h"
#include "corridor/lever/weights.h"

namespace corridor::lever {

LeverResult weights_4bit(const Situation& s) {
  const bool has_fp4 = s.input.device.peak(hardware::ComputeType::fp4).has_value();
  const char* own_fp4 = s.input.device.vendor == "AMD" ? "mxfp4" : "nvfp4";
  return change_weights(s, "weights_4bit", "4-bit weights", uses_gguf(s) ? "q4_k_m" : has_fp4 ? own_fp4 : "int4-g128");
}

}  // namespace corridor::lever
