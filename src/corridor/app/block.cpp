// SPDX-License-Identifier: Apache-2.0
// Residency of thread blocks on a multiprocessor.
#include "corridor/app/block.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/units/text.h"

namespace corridor::app {
namespace {

constexpr double default_registers = 32;
constexpr double most_registers = 255;      ///< a thread can name; NVIDIA, all architectures in the catalogue
constexpr double most_registers_amd = 512;  ///< vector registers of a lane, CDNA
constexpr double register_step = 8;         ///< a thread: 256 a warp of 32
constexpr double register_bytes = 4;
constexpr double shared_step = 128;
/// A larger difference between what an SM has and what one block may take is no per-block reserve.
constexpr double largest_reserve = 4096;
constexpr double largest_grid = 1e15;

double round_up(double value, double step) {
  return std::ceil(value / step) * step;
}

std::string n(double value) {
  return units::print_count(value);
}

std::string plain(double value) {
  return fmt::format("{:.0f}", value);
}

/// A number as it was typed, however odd: 250.5, 1e+20.
std::string typed(double value) {
  return fmt::format("{}", value);
}

/// What this device calls a group of lanes in lockstep.
std::string lanes_name(const hardware::Device& device) {
  return device.vendor == "AMD" ? "wavefronts" : "warps";
}

Result<bool> check_device(const hardware::Device& device) {
  const hardware::SmLimits& sm = device.sm;
  const bool has_blocks = sm.warp_size && sm.warp_size->value > 1 && sm.max_threads_per_block &&
                          (sm.max_threads || sm.max_warps) && sm.max_threads_per_block->value >= 1;
  if (device.kind == hardware::DeviceKind::gpu && has_blocks) return true;
  const std::string why =
      device.kind == hardware::DeviceKind::gpu ? "its block limits are not known" : "it does not run thread blocks";
  return fail(fmt::format("{}: {}", device.name, why), "--device", "choose a GPU such as h100-sxm");
}

Result<bool> check_request(const BlockRequest& request, const hardware::Device& device) {
  const hardware::SmLimits& sm = device.sm;
  const double warp = sm.warp_size->value;
  const double most = sm.max_threads_per_block->value;
  const auto whole = [](double value, double least) {
    return std::isfinite(value) && value >= least && value == std::floor(value);
  };
  const std::string limit = fmt::format("{} allows at most {} threads = {} {} a block", device.name, plain(most),
                                        plain(std::ceil(most / warp)), lanes_name(device));
  if (!whole(request.threads, 1)) {
    return fail(fmt::format("{} threads", typed(request.threads)), "--threads", "give a whole number from 1; " + limit);
  }
  if (request.threads > most)
    return fail(fmt::format("{} threads in one block", n(request.threads)), "--threads", limit);
  const double registers = request.registers_per_thread.value_or(default_registers);
  const double most_here = device.vendor == "AMD" ? most_registers_amd : most_registers;
  if (!whole(registers, 1) || registers > most_here) {
    return fail(fmt::format("{} registers a thread", typed(registers)), "--registers",
                fmt::format("give a whole number from 1 to {}; the compiler spills beyond that", plain(most_here)));
  }
  const double shared = request.shared.value();
  if (!whole(shared, 0))
    return fail(fmt::format("{} bytes", typed(shared)), "--shared-bytes", "give a whole number from 0");
  if (sm.shared_per_block && shared > sm.shared_per_block->value.value()) {
    return fail(
        fmt::format("{} bytes of shared memory", n(shared)), "--shared-bytes",
        fmt::format("{} allows at most {} bytes a block", device.name, plain(sm.shared_per_block->value.value())));
  }
  if (request.grid && (!whole(*request.grid, 1) || *request.grid > largest_grid)) {
    return fail(fmt::format("{} blocks", typed(*request.grid)), "--blocks", "give a whole number from 1 to 1e15");
  }
  return true;
}

/// Warps a multiprocessor can hold by its thread and warp limits.
double most_warps(const hardware::SmLimits& sm) {
  const double by_threads = sm.max_threads ? std::floor(sm.max_threads->value / sm.warp_size->value) : HUGE_VAL;
  return std::min(by_threads, sm.max_warps ? sm.max_warps->value : HUGE_VAL);
}

void add_register_limit(const hardware::Device& device, BlockResult& r) {
  const hardware::SmLimits& sm = device.sm;
  if (!sm.registers) {
    r.notes.emplace_back("the register file of this device is not known: registers are not counted as a limit");
    return;
  }
  const double a_warp = round_up(r.registers_per_thread, register_step) * r.warp_size;
  const double file = sm.registers->value.value() / register_bytes;
  // Each scheduler owns its part of the file, and a warp lives in one part.
  const double parts = sm.schedulers && sm.schedulers->value >= 1 ? sm.schedulers->value : 1;
  const double warps = std::floor(file / parts / a_warp) * parts;
  r.limits.push_back({"registers", std::floor(warps / r.warps), a_warp * r.warps, file, "registers"});
  r.formulas.push_back(fmt::format("registers a warp = ({} rounded up to a multiple of {}) × {} lanes = {}; {} {} fit",
                                   plain(r.registers_per_thread), plain(register_step), plain(r.warp_size),
                                   plain(a_warp), plain(warps), lanes_name(device)));
}

void add_shared_limit(const hardware::SmLimits& sm, double asked, BlockResult& r) {
  const auto& pool = sm.shared_per_sm ? sm.shared_per_sm : sm.shared_per_block;
  if (!pool) {
    if (asked > 0) r.notes.emplace_back("the shared memory of this device is not known: it is not counted as a limit");
    return;
  }
  // What the largest block must leave free is what the system keeps for each block.
  const double difference = sm.shared_per_sm && sm.shared_per_block
                                ? sm.shared_per_sm->value.value() - sm.shared_per_block->value.value()
                                : 0;
  const double reserve = difference > 0 && difference <= largest_reserve ? difference : 0;
  const double a_block = round_up(asked, shared_step) + reserve;
  r.shared_a_block = units::Bytes{a_block};
  if (a_block == 0) return;
  const double available = pool->value.value();
  r.limits.push_back({"shared_memory", std::floor(available / a_block), a_block, available, "bytes"});
  r.formulas.push_back(fmt::format("shared memory a block = {} B rounded up to {} B, + {} B kept for each block = {} B",
                                   plain(asked), plain(shared_step), plain(reserve), plain(a_block)));
}

void collect_limits(const BlockRequest& request, const hardware::Device& device, BlockResult& r) {
  const hardware::SmLimits& sm = device.sm;
  r.limits.push_back({"threads", std::floor(r.max_warps_per_sm / r.warps), r.warps * r.warp_size,
                      r.max_warps_per_sm * r.warp_size, "threads"});
  r.formulas.push_back(fmt::format("threads: {} × {} lanes a block = {}, of {} an SM", plain(r.warps),
                                   plain(r.warp_size), plain(r.warps * r.warp_size),
                                   plain(r.max_warps_per_sm * r.warp_size)));
  if (sm.max_blocks) {
    r.limits.push_back({"blocks", sm.max_blocks->value, 1, sm.max_blocks->value, "blocks"});
  } else {
    r.notes.emplace_back("the most blocks an SM holds is not known: it is not counted as a limit");
  }
  add_register_limit(device, r);
  add_shared_limit(sm, request.shared.value(), r);
  std::stable_sort(r.limits.begin(), r.limits.end(), [](const auto& a, const auto& b) { return a.blocks < b.blocks; });
  r.blocks_per_sm = r.limits.front().blocks;
  for (const BlockLimit& limit : r.limits) {
    if (limit.blocks == r.blocks_per_sm) r.limited_by.push_back(limit.resource);
  }
}

void fill_device(const BlockRequest& request, const hardware::Device& device, BlockResult& r) {
  const hardware::SmLimits& sm = device.sm;
  r.device_id = device.id;
  r.device_name = device.name;
  if (sm.count) {
    r.multiprocessors = sm.count->value;
    r.blocks_per_device = r.blocks_per_sm * sm.count->value;
    r.warps_per_device = r.warps_per_sm * sm.count->value;
    r.threads_per_device = *r.blocks_per_device * r.threads;
    if (sm.registers) r.register_file = units::Bytes{sm.registers->value.value() * sm.count->value};
  }
  for (const hardware::MemoryLevel& level : device.ladder) {
    if (level.name == "L2" && level.capacity) r.l2 = level.capacity->value;
  }
  r.grid = request.grid;
  if (request.grid && r.blocks_per_device && *r.blocks_per_device > 0) {
    r.waves = std::ceil(*request.grid / *r.blocks_per_device);
    r.last_wave = *request.grid - (*r.waves - 1) * *r.blocks_per_device;
  }
}

}  // namespace

Result<BlockResult> place_block(const BlockRequest& request, const hardware::Device& device) {
  if (auto ok = check_device(device); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_request(request, device); !ok) return tl::unexpected(ok.error());
  BlockResult r;
  r.threads = request.threads;
  r.warp_size = device.sm.warp_size->value;
  r.warps = std::ceil(request.threads / r.warp_size);
  r.last_warp_lanes = request.threads - (r.warps - 1) * r.warp_size;
  r.max_warps_per_sm = most_warps(device.sm);
  r.registers_per_thread = request.registers_per_thread.value_or(default_registers);
  r.registers_assumed = !request.registers_per_thread;
  r.formulas.push_back(fmt::format("{} threads ÷ {} lanes = {} {}, the last with {} live lanes", plain(r.threads),
                                   plain(r.warp_size), plain(r.warps), lanes_name(device), plain(r.last_warp_lanes)));
  collect_limits(request, device, r);
  if (r.blocks_per_sm < 1) {
    const BlockLimit& least = r.limits.front();
    const bool shared = least.resource == "shared_memory";
    return fail(
        fmt::format("not one block fits: it needs {} {}, and a multiprocessor has {}", plain(least.used_a_block),
                    shared ? "bytes of shared memory" : least.unit, plain(least.available)),
        device.name, shared ? "use less shared memory a block" : "use fewer threads a block or registers a thread");
  }
  r.warps_per_sm = r.blocks_per_sm * r.warps;
  r.occupancy = r.warps_per_sm / r.max_warps_per_sm;
  r.formulas.push_back(fmt::format("occupancy = {} resident {} ÷ {} = {:.0f} %", plain(r.warps_per_sm),
                                   lanes_name(device), plain(r.max_warps_per_sm), r.occupancy * 100));
  if (device.vendor != "NVIDIA") {
    r.notes.emplace_back(
        "the allocation steps of registers and shared memory are those of NVIDIA: approximate on this device");
  }
  fill_device(request, device, r);
  return r;
}

}  // namespace corridor::app
