// SPDX-License-Identifier: Apache-2.0
// Fills weight matrices of every format.
#include "corridor/measure/lab/weights.h"

#include "corridor/measure/lab/experiment.h"

namespace corridor::measure {
namespace {

std::uint32_t mixed(std::size_t i) {
  const std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761U;
  return x ^ (x >> 15U);
}

/// A scale of about 2⁻⁹ for int8 and 2⁻⁸ for int4 in bf16.
std::uint16_t scale_bits(LabWeights format) {
  return to_bf16(format == LabWeights::int8 ? 0.0003F : 0.004F);
}

void fill_part(const StoredWeights& w, void* codes, std::uint16_t* scales, const Part& rows) {
  const std::size_t begin = rows.begin * w.matrix.depth;
  const std::size_t end = rows.end * w.matrix.depth;
  switch (w.format) {
    case LabWeights::f32:
      for (std::size_t i = begin; i < end; ++i) {
        static_cast<float*>(codes)[i] = static_cast<float>(mixed(i) % 1024U) * (0.08F / 1024) - 0.04F;
      }
      break;
    case LabWeights::bf16:
      fill_bf16(static_cast<std::uint16_t*>(codes), begin, end);
      break;
    default:
      for (std::size_t i = code_bytes(w.format, begin); i < code_bytes(w.format, end); ++i) {
        static_cast<std::uint8_t*>(codes)[i] = static_cast<std::uint8_t>(mixed(i));
      }
      for (std::size_t i = begin / quantised_group; i < end / quantised_group; ++i) scales[i] = scale_bits(w.format);
      break;
  }
}

}  // namespace

void fill_bf16(std::uint16_t* data, std::size_t begin, std::size_t end) {
  // Sign and mantissa vary; the exponent is that of numbers from 1/64 to 1/32.
  for (std::size_t i = begin; i < end; ++i) data[i] = static_cast<std::uint16_t>((mixed(i) & 0x807FU) | 0x3C80U);
}

StoredWeights make_weights(WorkerTeam& team, LabWeights format, std::size_t rows, std::size_t depth) {
  StoredWeights out;
  out.format = format;
  out.matrix.rows = rows;
  out.matrix.depth = depth;
  out.codes = std::make_unique<Memory>(code_bytes(format, rows * depth));
  const std::size_t scales = scale_count(format, rows * depth);
  if (scales > 0) out.scales = std::make_unique<Memory>(scales * sizeof(std::uint16_t));
  if (out.codes->data() == nullptr || (out.scales && out.scales->data() == nullptr)) return out;
  auto* scale_data = out.scales ? reinterpret_cast<std::uint16_t*>(out.scales->data()) : nullptr;
  team.run([&](int index) { fill_part(out, out.codes->data(), scale_data, part_of(rows, 4, index, team.size())); });
  out.matrix.codes = out.codes->data();
  out.matrix.scales = scale_data;
  return out;
}

}  // namespace corridor::measure
