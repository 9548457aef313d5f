// SPDX-License-Identifier: Apache-2.0
// Fills the simulated GPU's machine fact by fact and notes each that nobody stated.
#include "corridor/app/ptx_machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "corridor/app/ptx_capability.h"

namespace corridor::app {
namespace {

using ptx::Pipe;

constexpr std::uint64_t kib = 1024;

double& lanes(ptx::Machine& machine, Pipe pipe) {
  return machine.lanes_per_clock[static_cast<std::size_t>(pipe)];
}

/// A whole number that a file states, within reason; else `otherwise`.
template <class Integer>
Integer whole(const hardware::MaybeFact<double>& fact, Integer otherwise) {
  constexpr double most = 1e9;
  return fact && fact->value >= 1 && fact->value <= most ? static_cast<Integer>(fact->value) : otherwise;
}

std::uint64_t bytes(const hardware::MaybeFact<units::Bytes>& fact, std::uint64_t otherwise) {
  constexpr double most = 1e15;
  const double value = fact ? fact->value.value() : 0;
  return value >= 1 && value <= most ? static_cast<std::uint64_t>(value) : otherwise;
}

template <class Quantity>
double value_of(const hardware::MaybeFact<Quantity>& fact) {
  const double value = fact ? fact->value.value() : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

const hardware::MemoryLevel* level(const hardware::Device& device, std::string_view word) {
  for (const hardware::MemoryLevel& one : device.ladder) {
    if (one.name.starts_with(word)) return &one;
  }
  return nullptr;
}

/// Clock and number of SMs; each can stand for the other through the FP32 peak.
Result<void> size(const hardware::Device& device, const Capability& cc, PtxMachine& out) {
  ptx::Machine& m = out.machine;
  const double per_lane = 2 * lanes(m, Pipe::fma);  // FLOP a clock and SM
  const double peak = value_of(device.peak(hardware::ComputeType::fp32));
  m.clock_hz = value_of(device.clock_boost);
  m.sm_count = whole<std::uint32_t>(device.sm.count, 0);
  const double fp64 = value_of(device.peak(hardware::ComputeType::fp64));
  if (m.clock_hz == 0 && m.sm_count > 0 && (peak > 0 || fp64 > 0)) {
    m.clock_hz = (peak > 0 ? peak / per_lane : fp64 / (2 * lanes(m, Pipe::fp64))) / m.sm_count;
    out.assumed.push_back(
        fmt::format("clock {:.0f} MHz, from the {} peak", m.clock_hz / 1e6, peak > 0 ? "FP32" : "FP64"));
  }
  if (m.sm_count == 0 && m.clock_hz > 0 && peak > 0) {
    m.sm_count = static_cast<std::uint32_t>(std::clamp(std::round(peak / (m.clock_hz * per_lane)), 1.0, 4096.0));
    out.assumed.push_back(fmt::format("{} SMs, from the FP32 peak", m.sm_count));
  }
  if (m.clock_hz > 0 && m.sm_count > 0) return {};
  struct Usual {
    std::uint32_t major, minor, sms;
    double clock_hz;
    std::string_view why;
  };
  constexpr Usual usual[] = {{10, 0, 148, 1.965e9, "as the B200"},
                             {6, 1, 30, 1.531e9, "as the Tesla P40 datasheet says"},
                             {8, 6, 80, 1.71e9, "where sources say 72 or 80 SMs"}};  // A10G
  for (const Usual& one : usual) {
    if (one.major != cc.major || one.minor != cc.minor) continue;
    if (m.sm_count == 0) m.sm_count = one.sms;
    if (m.clock_hz == 0) m.clock_hz = one.clock_hz;
    out.assumed.push_back(fmt::format("{} SMs at {:.0f} MHz, {}", m.sm_count, m.clock_hz / 1e6, one.why));
    return {};
  }
  return fail(fmt::format("no {} known", m.sm_count == 0 ? "number of SMs" : "clock"), device.id,
              "add sm.count and general.clock_boost_hz to a device file of your own, or choose another device");
}

void limits(const hardware::Device& device, const Capability& cc, ptx::Machine& m) {
  m.warp_slots = whole(device.sm.max_warps, cc.warp_slots);
  m.block_slots = whole(device.sm.max_blocks, cc.block_slots);
  m.schedulers = whole<std::uint32_t>(device.sm.schedulers, 4);
  m.registers = static_cast<std::uint32_t>(bytes(device.sm.registers, 256 * kib) / 4);
  m.l1_shared_bytes = bytes(device.sm.l1_shared, cc.l1_shared_kib * kib);
  m.shared_bytes_per_sm = bytes(device.sm.shared_per_sm, cc.shared_kib * kib);
  m.shared_bytes_per_block = bytes(device.sm.shared_per_block, cc.shared_block_kib * kib);
  m.shared_unit = cc.shared_unit;
  m.shared_reserved_per_block = cc.shared_reserved;
}

void pipes(const hardware::Device& device, const Capability& cc, ptx::Machine& m) {
  lanes(m, Pipe::fma) = value_of(device.peak(hardware::ComputeType::fp32)) > 0 && device.sm.lanes_fp32_per_clock
                            ? whole(device.sm.lanes_fp32_per_clock, cc.fp32)
                            : cc.fp32;
  lanes(m, Pipe::fp16) = cc.fp16;
  lanes(m, Pipe::fp64) = cc.fp64;
  lanes(m, Pipe::alu) = cc.alu;
  lanes(m, Pipe::xu) = cc.xu;
  lanes(m, Pipe::lsu) = cc.lsu;
}

/// Peaks that a board holds below its chip's: FP64 of the export parts, tensor rates of GeForce boards.
void peaks(const hardware::Device& device, const Capability& cc, PtxMachine& out) {
  ptx::Machine& m = out.machine;
  const double clocks = m.clock_hz * m.sm_count;
  const double fp64 = value_of(device.peak(hardware::ComputeType::fp64)) / (2 * clocks);
  if (fp64 > 0 && fp64 < lanes(m, Pipe::fp64)) lanes(m, Pipe::fp64) = std::max(1.0, fp64);
  m.tensor_f16_flop_per_clock_sm = cc.tensor_f16_flop_per_clock;
  // Data-centre peaks are rated a tenth below the highest clock: those keep the chip's own rate.
  const double rated = value_of(device.peak(hardware::ComputeType::fp16)) / clocks;
  constexpr double near_low = 0.8, near_high = 1.1;
  const bool as_chip =
      rated > near_low * cc.tensor_f16_flop_per_clock && rated < near_high * cc.tensor_f16_flop_per_clock;
  if (rated > 0 && !as_chip) m.tensor_f16_flop_per_clock_sm = rated;
}

/// Latency of one level in clocks: stated in seconds, else the capability's.
double latency(const hardware::MemoryLevel* of, double clock_hz, double otherwise, std::string_view name,
               const Capability& cc, std::vector<std::string>& assumed) {
  if (of != nullptr && value_of(of->latency) > 0) return value_of(of->latency) * clock_hz;
  assumed.push_back(fmt::format("{:.0f} clocks to {}, as on cc {}.{}", otherwise, name, cc.major, cc.minor));
  return otherwise;
}

Result<void> memory(const hardware::Device& device, const Capability& cc, PtxMachine& out) {
  ptx::Machine& m = out.machine;
  m.dram_bytes_per_s = value_of(device.reachable_bandwidth);
  if (m.dram_bytes_per_s == 0) m.dram_bytes_per_s = value_of(device.memory_bandwidth);
  if (m.dram_bytes_per_s == 0) {
    return fail("no memory bandwidth known", device.id,
                "add memory.bandwidth_bytes_per_s to a device file of your own");
  }
  const hardware::MemoryLevel* const l1 = level(device, "L1");
  const hardware::MemoryLevel* const l2 = level(device, "L2");
  const hardware::MemoryLevel* const main = device.ladder.empty() ? nullptr : &device.ladder.back();
  m.l1_bytes_per_clock_sm = cc.l1_bytes_per_clock;
  m.l2_bytes = l2 != nullptr ? bytes(l2->capacity, 0) : 0;
  if (m.l2_bytes == 0) {
    m.l2_bytes = m.sm_count * 256 * kib;  // between 160 KiB (V100: 80 a SM) and 900 KiB (B200) a SM
    out.assumed.push_back(fmt::format("L2 of {} MiB, 256 KiB a SM", m.l2_bytes / (kib * kib)));
  }
  m.l2_bytes_per_s = l2 != nullptr ? value_of(l2->bandwidth) : 0;
  if (m.l2_bytes_per_s == 0) {
    constexpr double per_sm = 32;  // A100 to H200 reach 23 to 37 bytes a clock and SM (gpu-benches, mt4g)
    m.l2_bytes_per_s = per_sm * m.sm_count * m.clock_hz;
    out.assumed.push_back("L2 of 32 bytes a clock and SM");
  }
  if (m.l2_bytes_per_s < m.dram_bytes_per_s) {
    // What comes from DRAM passes L2; the stated figure was measured with a kernel that did not fill it.
    m.l2_bytes_per_s = m.dram_bytes_per_s;
    out.assumed.push_back("L2 as fast as DRAM: the catalogue's figure is below it");
  }
  m.l1_latency_clocks = latency(l1, m.clock_hz, cc.l1_latency, "L1", cc, out.assumed);
  m.l2_latency_clocks = latency(l2, m.clock_hz, cc.l2_latency, "L2", cc, out.assumed);
  m.dram_latency_clocks = latency(main, m.clock_hz, cc.dram_latency, "DRAM", cc, out.assumed);
  m.shared_latency_clocks = cc.shared_latency;
  return {};
}

void start(const hardware::Device& device, const FoundCapability& found, PtxMachine& out) {
  const Capability& cc = found.capability;
  ptx::Machine& m = out.machine;
  m.launch_s = cc.launch_s;
  m.block_start_clocks = cc.block_start;
  m.blocks_per_clock = cc.blocks_per_clock;
  if (!cc.start_measured) {
    out.assumed.push_back(
        fmt::format("{:.1f} µs a launch, {:.0f} clocks from block to block, as a neighbour generation",
                    cc.launch_s * 1e6, cc.block_start));
  }
  if (const double measured = value_of(device.launch_floor); measured > 0) m.launch_s = measured;
}

}  // namespace

Result<PtxMachine> ptx_machine(const hardware::Device& device) {
  if (device.vendor != "NVIDIA" || device.kind != hardware::DeviceKind::gpu) {
    return fail(
        fmt::format("{} is no NVIDIA GPU; PTX is the language of those", device.name.empty() ? device.id : device.name),
        device.id, "name one, for example h100-sxm or rtx-4090");
  }
  const FoundCapability found = capability_of(device);
  PtxMachine out;
  ptx::Machine& m = out.machine;
  m.name = device.name.empty() ? device.id : device.name;
  m.compute_major = found.capability.major;
  m.compute_minor = found.capability.minor;
  if (!found.known) out.assumed.push_back("compute capability 9.0");
  if (!found.exact) {
    out.assumed.push_back(
        fmt::format("rates of an SM of cc {}.{} as its predecessor's", m.compute_major, m.compute_minor));
  }
  limits(device, found.capability, m);
  pipes(device, found.capability, m);
  if (auto sized = size(device, found.capability, out); !sized) return tl::unexpected(sized.error());
  peaks(device, found.capability, out);
  if (auto filled = memory(device, found.capability, out); !filled) return tl::unexpected(filled.error());
  start(device, found, out);
  return out;
}

ptx::RunDevice run_device(const ptx::Machine& machine, const ptx::BlockNeeds& needs, const ptx::Occupancy& occupancy) {
  // CUDA C++ Programming Guide: the sizes the driver can set aside, of which it takes the smallest that holds the
  // blocks.
  constexpr std::array<std::uint64_t, 10> sizes_kib = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  const std::uint32_t blocks = std::max(1U, occupancy.blocks);
  const std::uint64_t wanted =
      needs.shared_bytes == 0 ? 0 : blocks * (needs.shared_bytes + machine.shared_reserved_per_block);
  std::uint64_t aside = machine.shared_bytes_per_sm;
  for (const std::uint64_t size : sizes_kib) {
    if (size * kib >= wanted && size * kib <= machine.shared_bytes_per_sm) {
      aside = size * kib;
      break;
    }
  }
  ptx::RunDevice out;
  out.memory.sm_count = machine.sm_count;
  out.memory.l1_bytes = machine.l1_shared_bytes - std::min(aside, machine.l1_shared_bytes);
  out.memory.l2_bytes = machine.l2_bytes;
  out.blocks_per_sm = blocks;
  out.shared_bytes_per_block =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(machine.shared_bytes_per_block, UINT32_MAX));
  out.warp_slots = machine.warp_slots;
  out.clock_hz = machine.clock_hz;
  return out;
}

}  // namespace corridor::app
