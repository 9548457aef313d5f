// SPDX-License-Identifier: Apache-2.0
// A texture of one or two dimensions over a buffer: how coordinates become values of it.
#pragma once

#include <cstdint>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Rows lie one after the other. Wrap and mirror act on normalized coordinates; on others they are clamp, as on a GPU.
struct Texture {
  enum class Edge : std::uint8_t { clamp, wrap, mirror, border /* zero outside */ };
  std::uint64_t address = 0;            ///< of the buffer
  Type type = Type::f32;                ///< f32, f16, or integers of 8, 16 and 32 bits
  std::uint32_t channels = 1;           ///< 1, 2 or 4 values a texel
  std::uint32_t width = 1, height = 0;  ///< in texels; height 0: one dimension
  Edge edge = Edge::clamp;
  bool linear = false;      ///< between texels, weights of 8 bits; floats and `unit` only
  bool normalized = false;  ///< coordinates from 0 to 1
  bool unit = false;        ///< integers of 8 and 16 bits are read as 0 to 1, or -1 to 1
};

}  // namespace corridor::ptx
