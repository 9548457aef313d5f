// SPDX-License-Identifier: Apache-2.0
// tex: reads of textures of one and two dimensions. Each texel that is needed counts as one request to global memory;
// memory is taken row after row, where a GPU has a layout of its own for two dimensions.
#include "corridor/ptx/functional/texture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/device_memory.h"
#include "corridor/ptx/functional/memory_access.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t most_channels = 4, most_corners = 4;
constexpr std::uint16_t integer_coordinates = 1, two_dimensions = 2;
constexpr float weight_steps = 256;

using Texel = std::array<std::uint32_t, most_channels>;

/// A coordinate as a place on the grid of texels; anything odd stays within what an integer holds.
float place_of(std::uint32_t word, bool is_integer, const Texture& texture, std::uint32_t size) {
  const float x = is_integer ? static_cast<float>(static_cast<std::int32_t>(word)) : std::bit_cast<float>(word);
  if (x != x) return 0;
  if (is_integer || !texture.normalized) return std::clamp(x, -0x1p30F, 0x1p30F);
  const auto texels = static_cast<float>(size);
  if (texture.edge == Texture::Edge::wrap) return (std::isinf(x) ? 0 : x - std::floor(x)) * texels;
  if (texture.edge == Texture::Edge::mirror) {
    const float turns = std::isinf(x) ? 0 : std::floor(x);
    const bool back = std::fmod(turns, 2.0F) != 0;
    const float part = (std::isinf(x) ? 0 : x) - turns;
    return (back ? 1 - part : part) * texels;
  }
  return std::clamp(x * texels, -0x1p30F, 0x1p30F);
}

/// The texel at a place of the grid, or -1: outside, where the border is.
std::int64_t texel_at(std::int64_t i, const Texture& texture, std::uint32_t size) {
  const auto texels = static_cast<std::int64_t>(size);
  if (i >= 0 && i < texels) return i;
  if (texture.edge == Texture::Edge::border) return -1;
  const bool turns = texture.edge == Texture::Edge::wrap && texture.normalized;
  return turns ? ((i % texels) + texels) % texels : std::clamp<std::int64_t>(i, 0, texels - 1);
}

/// What one lane reads: up to four texels and their weights.
struct Footprint {
  std::array<std::int64_t, most_corners> offset{};  ///< bytes, or -1
  std::array<float, most_corners> weight{};
  std::uint32_t corners = 1;
};

/// The texels beside a place in one direction: the nearest, or two with the weight of the second.
struct Axis {
  std::array<std::int64_t, 2> texel{};
  float second = 0;
};

Axis axis_of(std::uint32_t word, bool is_integer, const Texture& texture, std::uint32_t size) {
  const float place = place_of(word, is_integer, texture, size);
  Axis axis;
  if (is_integer) {
    axis.texel[0] = texel_at(static_cast<std::int32_t>(word), texture, size);
  } else if (!texture.linear) {
    axis.texel[0] = texel_at(static_cast<std::int64_t>(std::floor(place)), texture, size);
  } else {
    const float centred = place - 0.5F, whole = std::floor(centred);
    const auto i = static_cast<std::int64_t>(whole);
    axis.texel = {texel_at(i, texture, size), texel_at(i + 1, texture, size)};
    axis.second = std::nearbyint((centred - whole) * weight_steps) / weight_steps;
  }
  return axis;
}

Footprint footprint_of(const Texture& texture, std::uint32_t x, std::uint32_t y, std::uint16_t flags) {
  const bool is_integer = (flags & integer_coordinates) != 0, flat = (flags & two_dimensions) == 0;
  const bool filters = texture.linear && !is_integer;
  const Axis across = axis_of(x, is_integer, texture, texture.width);
  const Axis down = flat ? Axis{} : axis_of(y, is_integer, texture, std::max(texture.height, 1U));
  const auto texel_bytes = static_cast<std::int64_t>(texture.channels * bytes_of(texture.type));
  Footprint out;
  out.corners = !filters ? 1 : flat ? 2 : 4;
  for (std::uint32_t c = 0; c < out.corners; ++c) {
    const std::int64_t i = across.texel[c % 2], j = down.texel[c / 2];
    out.offset[c] = i < 0 || j < 0 ? -1 : (j * static_cast<std::int64_t>(texture.width) + i) * texel_bytes;
    const float beside = c % 2 == 0 ? 1 - across.second : across.second;
    out.weight[c] = beside * (c / 2 == 0 ? 1 - down.second : down.second);
  }
  return out;
}

/// One channel as it is in memory: whole numbers widened, floats (and `unit` integers) as f32.
std::uint32_t channel_of(const Texture& texture, const std::uint8_t* p) {
  std::uint32_t raw = 0;
  const std::size_t bytes = bytes_of(texture.type);
  std::memcpy(&raw, p, bytes);
  if (texture.type == Type::f16) return std::bit_cast<std::uint32_t>(lane_kernels().f16_to_float(raw));
  const bool is_signed = texture.type == Type::s8 || texture.type == Type::s16;
  const auto unused = static_cast<unsigned>(32 - 8 * bytes);
  const auto number = static_cast<std::int32_t>(raw << unused) >> unused;
  if (!texture.unit || bytes == 4) return is_signed ? static_cast<std::uint32_t>(number) : raw;
  const float most = static_cast<float>((1U << (8 * bytes - (is_signed ? 1 : 0))) - 1);
  return std::bit_cast<std::uint32_t>(is_signed ? std::max(static_cast<float>(number) / most, -1.0F)
                                                : static_cast<float>(raw) / most);
}

bool holds_floats(const Texture& texture) {
  return texture.type == Type::f32 || texture.type == Type::f16 || (texture.unit && bytes_of(texture.type) < 4);
}

/// Reads for the lanes that have the same texture.
bool read_texture(Exec& x, const Op& op, const Texture& texture, std::uint32_t lanes, std::array<Texel, 32>& out) {
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  std::array<Footprint, 32> print;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    print[lane] = footprint_of(texture, row32(x, slots[0])[lane], row32(x, slots[1])[lane], op.flags);
    out[lane] = {};
  }
  const auto bytes = static_cast<std::uint32_t>(texture.channels * bytes_of(texture.type));
  const std::uint32_t corners = print[std::countr_zero(lanes)].corners;
  for (std::uint32_t c = 0; c < corners; ++c) {
    alignas(64) std::uint64_t address[32];
    std::uint32_t inside = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      if (print[lane].offset[c] < 0) continue;
      inside |= 1U << lane;
      address[lane] = texture.address + static_cast<std::uint64_t>(print[lane].offset[c]);
    }
    if (inside == 0) continue;
    LaneAddresses a;
    HostLanes host;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (((inside >> lane) & 1) == 0) address[lane] = address[std::countr_zero(inside)];
    }
    lane_kernels().addresses(address, false, 0, inside, bytes, a);
    if (!reach_global(x, a, inside, bytes, Touch::load, 0, host)) return false;
    for (std::uint32_t left = inside; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint8_t* const p = lane_pointer(host, a, lane, bytes);
      for (std::uint32_t k = 0; k < texture.channels; ++k) {
        const std::uint32_t value = channel_of(texture, p + k * bytes_of(texture.type));
        std::uint32_t& sum = out[lane][k];
        sum = corners == 1 ? value
                           : std::bit_cast<std::uint32_t>(std::bit_cast<float>(sum) +
                                                          print[lane].weight[c] * std::bit_cast<float>(value));
      }
    }
  }
  return true;
}

void read_textures(Exec& x, const Op& op) {
  const auto& textures = x.block->launch().memory->textures;
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  const std::uint64_t* const handle = row64(x, op.a);
  std::array<Texel, 32> texel;
  for (std::uint32_t left = x.mask; left != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint32_t lanes = 0;
    for (std::uint32_t lane = first; lane < 32; ++lane) {
      if (handle[lane] == handle[first]) lanes |= 1U << lane;
    }
    lanes &= left;
    left &= ~lanes;
    const std::uint64_t index = handle[first] - texture_window;
    if (index >= textures.size()) {
      return x.block->fault(x, Fault::Kind::out_of_bounds, first,
                            fmt::format("0x{:x} is no texture; give one with --arg tex2d:… or tex1d:…", handle[first]),
                            handle[first]);
    }
    const bool flat = (op.flags & two_dimensions) == 0;
    if (flat != (textures[index].height == 0)) {
      return x.block->fault(x, Fault::Kind::trap, first, "the texture has another number of dimensions");
    }
    if (textures[index].linear && !holds_floats(textures[index])) {
      return x.block->fault(x, Fault::Kind::trap, first, "whole numbers cannot be filtered; read them as unit");
    }
    if (!read_texture(x, op, textures[index], lanes, texel)) return;
  }
  for (std::uint32_t k = 0; k < most_channels; ++k) {
    std::uint32_t* const row = row32(x, slots[2 + k]);
    for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      row[lane] = texel[lane][k];
    }
  }
}

}  // namespace

bool Decoder::texture(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (!form.is("tex")) return false;
  const bool flat = form.has("1d"), has_level = form.has("level");
  const std::size_t wanted = has_level ? 3 : 2;
  const bool types = form.type_count == 2 && bytes_of(form.types[0]) == 4 && bytes_of(form.types[1]) == 4;
  if (!types || flat == form.has("2d") || !form.has("v4") || form.has("grad") || operands.size() != wanted) {
    return refuse("this texture read is not executed");
  }
  const Operand& place = operands[1];
  const bool one_texture = place.kind == Operand::Kind::address && place.parts.size() == 1 && place.offset == 0;
  if (!one_texture || operands[0].kind != Operand::Kind::vector || operands[0].parts.size() != most_channels) {
    return refuse("a texture and its coordinates are expected; samplers apart from it are not executed");
  }
  const Operand& coordinates = place.parts[0];
  const bool many = coordinates.kind == Operand::Kind::vector;
  if ((many ? coordinates.parts.size() : 1) != (flat ? 1U : 2U)) return refuse("coordinates are missing");
  op.run = &read_textures;
  op.flags =
      static_cast<std::uint16_t>((form.types[1] == Type::s32 ? integer_coordinates : 0) | (flat ? 0 : two_dimensions));
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  for (std::size_t i = 0; i < 2; ++i) {
    std::uint32_t slot = 0;
    const Operand& part = many ? coordinates.parts[std::min(i, coordinates.parts.size() - 1)] : coordinates;
    if (!source(part, Width::row32, form.types[1], slot)) return false;
    state_.slots.push_back(slot);
  }
  for (const Operand& part : operands[0].parts) {
    std::uint32_t slot = 0;
    if (!destination(part, Width::row32, slot)) return false;
    state_.slots.push_back(slot);
  }
  if (place.base == Operand::Base::symbol) {
    const Variable* const variable = variable_of(place);
    if (variable == nullptr) return refuse(fmt::format("{} is not a variable", place.name));
    op.a = variable_address(*variable);
    return true;
  }
  const bool has_handle = place.base == Operand::Base::reg && place.index < function_.registers.size() &&
                          register_width(place.index) == Width::row64;
  if (!has_handle) return refuse("a texture is named by a .texref or a register of 64 bits");
  op.a = register_slot_[place.index];
  return true;
}

}  // namespace corridor::ptx
