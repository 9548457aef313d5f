// SPDX-License-Identifier: Apache-2.0
// Arguments of a simulated kernel from short words: scalars and buffers.
//
//   i32:5   u64:100000   f32:2.5   f16x2:1.5   hex:0102ff00     a value of that type
//   7   2.5                                                     a number in the type of the kernel's parameter
//   buf:f32:1024            buffer of 1024 floats, all zero     buf:f32:1M:ramp     0, 1, 2 …
//   buf:i32:1M:rand=1000    whole numbers below 1000            buf:f32:64:rand     from 0 up to 1
//   buf:f32:64:const=3      buf:f32:64:none (not written)       buf:f32:64:file=x.bin (raw bytes)
//   buf:u32:4096:cycle      a permutation with one cycle, for chases
//   tex2d:f32:64x32:ramp:linear    a texture over such a buffer, 64 texels a row; f32x4: four values a texel
//   tex1d:u8:256:rand=256:unit     clamp, wrap, mirror, border; linear; normalized; unit: whole numbers as 0 to 1
// `x=` before a word gives it a name; without one an argument is called by its place: 0, 1 …
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::app {

struct PtxArgument {
  enum class Fill : std::uint8_t { zero, none, ramp, random, constant, cycle, file };
  std::string name;  ///< given, or its place
  bool is_buffer = false;
  ptx::Type type = ptx::Type::none;  ///< of a scalar or of a buffer's values; none: the parameter's
  std::string value;                 ///< of a scalar, as written
  std::uint64_t count = 0;           ///< values of a buffer
  Fill fill = Fill::zero;
  double fill_number = 0;  ///< const=V, rand=M (0: 0 to 1 for floats, every value for whole numbers), ramp=STEP
  std::string file;
  std::optional<ptx::Texture> texture;  ///< over the buffer
};

[[nodiscard]] Result<PtxArgument> parse_ptx_argument(const std::string& word, std::size_t place);

/// Bytes of a scalar for a parameter. Fails when the value is not of the type or the sizes differ.
[[nodiscard]] Result<std::vector<std::byte>> encode_scalar(const PtxArgument& argument, const ptx::Variable& parameter);

/// Allocates a buffer, fills it, and returns its address. Random values depend on `place` alone.
[[nodiscard]] Result<std::uint64_t> make_buffer(const PtxArgument& argument, std::size_t place,
                                                ptx::DeviceMemory& memory);

/// The object of a texture over a buffer that was made.
[[nodiscard]] Result<std::uint64_t> make_texture(const PtxArgument& argument, std::uint64_t buffer,
                                                 ptx::DeviceMemory& memory);

/// One value of a buffer as a number; `bytes` holds bytes_of(type).
[[nodiscard]] double value_of(ptx::Type type, const std::byte* bytes);
/// The other way: rounds to nearest even; whole numbers are cut to the type's bits.
void put_value(ptx::Type type, double value, std::byte* bytes);
[[nodiscard]] bool is_float(ptx::Type type);

}  // namespace corridor::app
