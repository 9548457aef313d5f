// SPDX-License-Identifier: Apache-2.0
// How many blocks and warps of a kernel one SM holds, by the rules of NVIDIA's occupancy calculator.
#include "corridor/ptx/timing/occupancy.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace corridor::ptx {
namespace {

constexpr std::uint32_t lanes_of_warp = 32;
constexpr std::uint32_t most_threads_per_block = 1024, most_registers_per_thread = 255;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

std::uint32_t clamped(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

/// Registers lie in one part of the file for each scheduler; a warp's registers are all in one part.
std::uint64_t warps_by_registers(const BlockNeeds& needs, const Machine& machine) {
  const std::uint64_t of_warp =
      rounded_up(std::uint64_t{needs.registers_per_thread} * lanes_of_warp, machine.register_unit);
  const std::uint32_t parts = std::max<std::uint32_t>(1, machine.schedulers);
  return of_warp == 0 ? std::numeric_limits<std::uint32_t>::max() : machine.registers / parts / of_warp * parts;
}

Result<void> check(const BlockNeeds& needs, const Machine& machine, std::uint64_t warps) {
  const std::string where = machine.name;
  if (needs.threads == 0) return fail("a block of 0 threads", where, "give at least one thread");
  if (needs.threads > most_threads_per_block || warps > machine.warp_slots) {
    return fail(fmt::format("a block of {} threads is more than one SM takes", needs.threads), where,
                fmt::format("use at most {}", std::min(most_threads_per_block, machine.warp_slots * lanes_of_warp)));
  }
  if (needs.registers_per_thread > most_registers_per_thread) {
    return fail(
        fmt::format("{} registers a thread are more than {}", needs.registers_per_thread, most_registers_per_thread),
        where, "compile with fewer (-maxrregcount)");
  }
  if (needs.shared_bytes > machine.shared_bytes_per_block) {
    return fail(fmt::format("{} bytes of shared memory are more than the {} a block can have", needs.shared_bytes,
                            machine.shared_bytes_per_block),
                where, "use smaller tiles");
  }
  return {};
}

}  // namespace

std::string_view name_of(Occupancy::Limit limit) {
  switch (limit) {
    case Occupancy::Limit::warps:
      return "warp slots";
    case Occupancy::Limit::blocks:
      return "block slots";
    case Occupancy::Limit::registers:
      return "registers";
    case Occupancy::Limit::shared_memory:
      return "shared memory";
  }
  return "";
}

Result<Occupancy> occupancy(const BlockNeeds& needs, const Machine& machine) {
  const std::uint64_t warps = (std::uint64_t{needs.threads} + lanes_of_warp - 1) / lanes_of_warp;
  if (auto checked = check(needs, machine, warps); !checked) return tl::unexpected<Error>(std::move(checked.error()));
  Occupancy out;
  out.by_warps = clamped(machine.warp_slots / warps);
  out.by_blocks = machine.block_slots;
  // The launch check takes the registers of a block in all parts of the file at once.
  const std::uint64_t checked_warps = rounded_up(warps, std::max<std::uint32_t>(1, machine.schedulers));
  const std::uint64_t register_warps = warps_by_registers(needs, machine);
  out.by_registers = register_warps < checked_warps ? 0 : clamped(register_warps / warps);
  if (needs.registers_per_thread == 0) out.by_registers = machine.block_slots;
  if (out.by_registers == 0) {
    return fail(fmt::format("a block of {} threads with {} registers each needs more than the {} registers of an SM",
                            needs.threads, needs.registers_per_thread, machine.registers),
                machine.name, "use smaller blocks or fewer registers (__launch_bounds__)");
  }
  const std::uint64_t shared = rounded_up(needs.shared_bytes + machine.shared_reserved_per_block, machine.shared_unit);
  out.by_shared = shared == 0 ? machine.block_slots : clamped(machine.shared_bytes_per_sm / shared);
  if (out.by_shared == 0) {
    return fail(
        fmt::format("a block needs {} bytes of shared memory, an SM has {}", shared, machine.shared_bytes_per_sm),
        machine.name, "use smaller tiles");
  }
  out.blocks = std::min({out.by_warps, out.by_blocks, out.by_registers, out.by_shared});
  out.limit = out.blocks == out.by_warps       ? Occupancy::Limit::warps
              : out.blocks == out.by_blocks    ? Occupancy::Limit::blocks
              : out.blocks == out.by_registers ? Occupancy::Limit::registers
                                               : Occupancy::Limit::shared_memory;
  out.warps = out.blocks * static_cast<std::uint32_t>(warps);
  out.share = static_cast<double>(out.warps) / machine.warp_slots;
  return out;
}

}  // namespace corridor::ptx
