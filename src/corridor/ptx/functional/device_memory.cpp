// SPDX-License-Identifier: Apache-2.0
// Allocations of the simulated device.
#include "corridor/ptx/functional/device_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"

namespace corridor::ptx {
namespace {

constexpr std::uint64_t first_address = std::uint64_t{0x70} << 40;
constexpr std::uint64_t address_unit = 256, gap_bytes = 4096;
constexpr std::uint64_t word_bits = 64;

}  // namespace

Allocation* DeviceMemory::State::find(std::uint64_t address) const {
  const auto after = std::upper_bound(allocations.begin(), allocations.end(), address,
                                      [](std::uint64_t a, const auto& b) { return a < b->address; });
  if (after == allocations.begin()) return nullptr;
  Allocation* const candidate = std::prev(after)->get();
  return address - candidate->address < candidate->bytes ? candidate : nullptr;
}

const Allocation* DeviceMemory::State::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& a : allocations) {
    const std::uint64_t end = a->address + a->bytes;
    const std::uint64_t distance = address < a->address ? a->address - address : address >= end ? address - end + 1 : 0;
    if (distance < least) {
      least = distance;
      best = a.get();
    }
  }
  return best;
}

Result<Allocation*> DeviceMemory::State::allocate(std::uint64_t bytes, std::string name) {
  if (bytes > limit || used > limit - bytes) {
    return fail(fmt::format("{} bytes do not fit: {} of {} bytes are taken", bytes, used, limit), std::move(name),
                "use a smaller buffer or raise the memory limit");
  }
  auto allocation = std::make_unique<Allocation>();
  const std::uint64_t words = (bytes + word_bits - 1) / word_bits;
  allocation->data.reset(static_cast<std::uint8_t*>(std::calloc(std::max<std::uint64_t>(bytes, 1), 1)));
  allocation->written.reset(static_cast<std::uint64_t*>(std::calloc(words + 1, sizeof(std::uint64_t))));
  if (!allocation->data || !allocation->written) {
    return fail(fmt::format("the host has no {} bytes", bytes), std::move(name), "use a smaller buffer");
  }
  if (next == 0) next = first_address;
  allocation->address = next;
  allocation->bytes = bytes;
  allocation->name = std::move(name);
  next += (bytes + address_unit - 1) / address_unit * address_unit + gap_bytes;
  used += bytes;
  allocations.push_back(std::move(allocation));
  return allocations.back().get();
}

namespace {
/// The bits [offset, offset + bytes) of one word of 64.
std::uint64_t bits_in_word(std::uint64_t word, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t start = word * word_bits, end = offset + bytes;
  const std::uint64_t low = offset > start ? offset - start : 0;
  const std::uint64_t high = std::min(end - start, word_bits);
  const std::uint64_t upper = high == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << high) - 1;
  return upper & ~((std::uint64_t{1} << low) - 1);
}
}  // namespace

void mark_written(Allocation& allocation, std::uint64_t offset, std::uint64_t bytes) {
  std::uint64_t* const words = allocation.written.get();
  if (words == nullptr || bytes == 0) return;
  const std::uint64_t last = (offset + bytes - 1) / word_bits;
  for (std::uint64_t word = offset / word_bits; word <= last; ++word) {
    const std::uint64_t bits = bits_in_word(word, offset, bytes);
    if (bits == ~std::uint64_t{0}) {
      __atomic_store_n(words + word, bits, __ATOMIC_RELAXED);
    } else if ((__atomic_load_n(words + word, __ATOMIC_RELAXED) & bits) != bits) {
      __atomic_fetch_or(words + word, bits, __ATOMIC_RELAXED);
    }
  }
}

bool was_written(const Allocation& allocation, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t* const words = allocation.written.get();
  if (words == nullptr || bytes == 0) return true;
  const std::uint64_t last = (offset + bytes - 1) / word_bits;
  for (std::uint64_t word = offset / word_bits; word <= last; ++word) {
    const std::uint64_t bits = bits_in_word(word, offset, bytes);
    if ((__atomic_load_n(words + word, __ATOMIC_RELAXED) & bits) != bits) return false;
  }
  return true;
}

DeviceMemory::DeviceMemory(std::uint64_t limit_bytes) : state_(std::make_unique<State>()) {
  state_->limit = limit_bytes;
}
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory::State& DeviceMemory::state() {
  return *state_;
}

Result<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::string name) {
  auto allocation = state_->allocate(bytes, std::move(name));
  if (!allocation) return tl::unexpected(allocation.error());
  return (*allocation)->address;
}

namespace {
Result<Allocation*> range(const DeviceMemory::State& state, std::uint64_t address, std::uint64_t bytes) {
  Allocation* const allocation = state.find(address);
  if (allocation == nullptr || bytes > allocation->bytes - (address - allocation->address)) {
    return fail(fmt::format("{} bytes at 0x{:x} do not lie in one allocation", bytes, address), "device memory",
                "copy within one buffer");
  }
  return allocation;
}
}  // namespace

Result<std::uint64_t> DeviceMemory::add_texture(const Texture& texture) {
  const bool is_number = texture.type == Type::f32 || texture.type == Type::f16 || texture.type == Type::u8 ||
                         texture.type == Type::s8 || texture.type == Type::u16 || texture.type == Type::s16 ||
                         texture.type == Type::u32 || texture.type == Type::s32;
  const bool is_texel = texture.channels == 1 || texture.channels == 2 || texture.channels == 4;
  constexpr std::uint32_t widest = 1U << 28;
  if (!is_number || !is_texel || texture.width == 0 || texture.width > widest || texture.height > widest) {
    return fail("a texture has 1, 2 or 4 values of up to 32 bits a texel, and at least one texel", "texture",
                "use f32, f16, or integers of 8, 16 or 32 bits");
  }
  const std::uint64_t texels = std::uint64_t{texture.width} * std::max(texture.height, 1U);
  auto allocation = range(*state_, texture.address, texels * texture.channels * bytes_of(texture.type));
  if (!allocation) return tl::unexpected(allocation.error());
  state_->textures.push_back(texture);
  return texture_window + state_->textures.size() - 1;
}

void DeviceMemory::bind_texture(const std::string& name, std::uint64_t object) {
  state_->texture_of_name[name] = object;
}

Result<void> DeviceMemory::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  auto allocation = range(*state_, address, bytes.size());
  if (!allocation) return tl::unexpected(allocation.error());
  const std::uint64_t offset = address - (*allocation)->address;
  std::memcpy((*allocation)->data.get() + offset, bytes.data(), bytes.size());
  if ((*allocation)->filled == offset) (*allocation)->filled += bytes.size();
  if ((*allocation)->filled == (*allocation)->bytes) {
    (*allocation)->written.reset();
  } else {
    mark_written(**allocation, offset, bytes.size());
  }
  return {};
}

Result<void> DeviceMemory::read(std::uint64_t address, std::span<std::byte> out) const {
  if (out.empty()) return {};
  auto allocation = range(*state_, address, out.size());
  if (!allocation) return tl::unexpected(allocation.error());
  std::memcpy(out.data(), (*allocation)->data.get() + (address - (*allocation)->address), out.size());
  return {};
}

}  // namespace corridor::ptx
