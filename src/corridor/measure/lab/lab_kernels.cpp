// SPDX-License-Identifier: Apache-2.0
// The table of loops, the plain ones among them, and how weights are stored.
#include "corridor/measure/lab/lab_kernels.h"

#include <array>
#include <cstring>

namespace corridor::measure {

std::string_view name(LabWeights format) {
  switch (format) {
    case LabWeights::f32:
      return "f32";
    case LabWeights::bf16:
      return "bf16";
    case LabWeights::int8:
      return "int8";
    case LabWeights::int4:
      break;
  }
  return "int4";
}

double bits_of(LabWeights format) {
  constexpr double scale_bits = 16.0 / quantised_group;
  switch (format) {
    case LabWeights::f32:
      return 32;
    case LabWeights::bf16:
      return 16;
    case LabWeights::int8:
      return 8 + scale_bits;
    case LabWeights::int4:
      break;
  }
  return 4 + scale_bits;
}

std::size_t code_bytes(LabWeights format, std::size_t count) {
  switch (format) {
    case LabWeights::f32:
      return count * 4;
    case LabWeights::bf16:
      return count * 2;
    case LabWeights::int8:
      return count;
    case LabWeights::int4:
      break;
  }
  return count / 2;
}

std::size_t scale_count(LabWeights format, std::size_t count) {
  return format == LabWeights::int8 || format == LabWeights::int4 ? count / quantised_group : 0;
}

std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16U);
}

float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16U;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float weight_at(LabWeights format, const LabMatrix& w, std::size_t row, std::size_t column) {
  const std::size_t at = row * w.depth + column;
  const std::size_t group = at / quantised_group;
  switch (format) {
    case LabWeights::f32:
      return static_cast<const float*>(w.codes)[at];
    case LabWeights::bf16:
      return from_bf16(static_cast<const std::uint16_t*>(w.codes)[at]);
    case LabWeights::int8:
      return static_cast<float>(static_cast<const std::int8_t*>(w.codes)[at]) * from_bf16(w.scales[group]);
    case LabWeights::int4:
      break;
  }
  const std::size_t place = at % quantised_group;
  const std::size_t half = quantised_group / 2;
  const unsigned byte = static_cast<const std::uint8_t*>(w.codes)[group * half + place % half];
  const unsigned code = place < half ? byte & 15U : byte >> 4U;
  return (static_cast<float>(code) - 8.0F) * from_bf16(w.scales[group]);
}

namespace {

/// The stride is known to the compiler, so that addresses cost nothing.
template <std::size_t stride>
std::uint32_t sum_every(const std::uint32_t* data, std::size_t count) {
  constexpr std::size_t unroll = 8;
  std::array<std::uint32_t, unroll> sums{};
  for (std::size_t i = 0; i < count; i += unroll * stride) {
    for (std::size_t k = 0; k < unroll; ++k) sums[k] += data[i + k * stride];
  }
  std::uint32_t sum = 0;
  for (const std::uint32_t part : sums) sum += part;
  return sum;
}

}  // namespace

std::uint32_t sum_strided(const std::uint32_t* data, std::size_t count, std::size_t stride) {
  switch (stride) {
    case 1:
      return sum_every<1>(data, count);
    case 2:
      return sum_every<2>(data, count);
    case 4:
      return sum_every<4>(data, count);
    case 8:
      return sum_every<8>(data, count);
    default:
      return sum_every<16>(data, count);
  }
}

std::uint32_t sum_scattered(const std::uint32_t* data, std::size_t lines) {
  // x → a · x + c takes every value below a power of two once when c is odd and a − 1 is a multiple of 4. The next
  // place is known some cycles after the last one, whatever the memory does, so many reads are under way.
  constexpr std::size_t line_values = 16;
  constexpr std::size_t a = 2862933555777941757U;
  constexpr std::size_t c = 3037000493U;
  std::uint32_t sum = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    sum += data[at * line_values];
    at = (a * at + c) & (lines - 1);
  }
  return sum;
}

const LabKernels& lab_kernels() {
  static const LabKernels table = [] {
    LabKernels all;
    take_stream_kernels(all);
    take_product_kernels(all);
    take_attention_kernels(all);
    return all;
  }();
  return table;
}

}  // namespace corridor::measure
