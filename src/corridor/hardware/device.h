// SPDX-License-Identifier: Apache-2.0
// What is known of one device: its memory ladder, its arithmetic peaks and its links, each number with its source.
//
// A missing number is an empty optional and prints as "–"; nothing here is guessed. Peaks are dense.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/units/units.h"

namespace corridor::hardware {

enum class Basis { vendor, measured, derived, assumed };
[[nodiscard]] std::string_view name(Basis);

/// A number with what makes it believable.
template <class T>
struct Fact {
  T value{};
  Basis basis = Basis::assumed;
  std::string source;  ///< document, page or file; specific enough to find again
  std::string date;    ///< ISO date on which the source was read
  std::string note;    ///< e.g. the clock a peak assumes
};
template <class T>
using MaybeFact = std::optional<Fact<T>>;

/// Arithmetic types, in the order they are listed everywhere.
enum class ComputeType { fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8, int4 };
inline constexpr std::size_t compute_type_count = 10;
[[nodiscard]] std::string_view name(ComputeType);                                   ///< "bf16"
[[nodiscard]] std::optional<ComputeType> compute_type_from(std::string_view name);  ///< also "half" → fp16, "fp32" …

enum class DeviceKind { gpu, cpu, accelerator };
[[nodiscard]] std::string_view name(DeviceKind);

/// One rung of the ladder, nearest the arithmetic first. Totals are for the whole device.
struct MemoryLevel {
  std::string name;   ///< "registers", "L1/shared", "L2", "last-level cache", "HBM3"
  std::string reach;  ///< who can reach it: "thread", "block (one SM)", "device", "core"
  MaybeFact<units::Bytes> capacity;
  MaybeFact<units::BytesPerSecond> bandwidth;
  MaybeFact<units::Seconds> latency;
};

/// Execution resources of one streaming multiprocessor / compute unit / core.
struct SmLimits {
  MaybeFact<double> count;                 ///< SMs, CUs or cores on the device
  MaybeFact<double> lanes_fp32_per_clock;  ///< FP32 lanes that retire each clock, per SM
  MaybeFact<double> schedulers;            ///< warp schedulers per SM
  MaybeFact<double> warp_size;             ///< lanes in lockstep; 1 on CPUs
  MaybeFact<double> max_threads;           ///< resident threads per SM
  MaybeFact<double> max_warps;
  MaybeFact<double> max_blocks;
  MaybeFact<double> max_threads_per_block;
  MaybeFact<units::Bytes> registers;         ///< register file per SM
  MaybeFact<units::Bytes> shared_per_block;  ///< opt-in maximum for one block
  MaybeFact<units::Bytes> shared_per_sm;     ///< usable by all blocks of one SM
  MaybeFact<units::Bytes> l1_shared;         ///< unified L1 + shared per SM
};

/// The way to the neighbours.
struct Link {
  std::string kind;                                          ///< "NVLink4", "PCIe 4.0 x16", "xGMI"
  MaybeFact<units::BytesPerSecond> bandwidth_per_direction;  ///< per device, one way
  MaybeFact<double> devices_in_node;                         ///< devices joined by it inside one node
};

struct Device {
  std::string id;    ///< "h100-sxm"
  std::string name;  ///< as the driver prints it: "NVIDIA H100 80GB HBM3"
  std::vector<std::string> aliases;
  std::string vendor, family, architecture, form_factor;
  DeviceKind kind = DeviceKind::gpu;
  std::string default_engine;  ///< "vllm", or "llama.cpp" for Apple and CPUs
  std::string memory_type;     ///< "HBM3"
  MaybeFact<double> year;
  MaybeFact<double> board_power_w;
  MaybeFact<units::Hertz> clock_base, clock_boost;
  MaybeFact<units::Bytes> memory_capacity;               ///< what the driver reports when known, else the printed size
  MaybeFact<units::BytesPerSecond> memory_bandwidth;     ///< datasheet (bus × rate)
  MaybeFact<units::BytesPerSecond> reachable_bandwidth;  ///< what a read or copy kernel was seen to reach
  MaybeFact<units::FlopsPerSecond> reachable_bf16;       ///< best sustained matrix product seen
  /// One small kernel inside a captured graph, its gap to the next included; only a measurement of this machine has it.
  MaybeFact<units::Seconds> launch_floor;
  std::array<MaybeFact<units::FlopsPerSecond>, compute_type_count> peaks;  ///< dense, fp32 accumulate for fp16/bf16
  SmLimits sm;
  std::vector<MemoryLevel> ladder;  ///< registers … main memory, at least main memory
  Link link;                        ///< the fastest link to other devices of the node; kind empty when none
  Link pcie;                        ///< to the host
  bool unified_memory = false;      ///< CPU and GPU share one memory (Apple, GB10, Strix Halo)
  std::string warning;              ///< e.g. "peaks at base clock: not a ceiling"; empty when none

  [[nodiscard]] const MaybeFact<units::FlopsPerSecond>& peak(ComputeType type) const {
    return peaks[static_cast<std::size_t>(type)];
  }
};

/// Peak FLOP/s ÷ peak bytes/s for one compute type; empty when either is unknown.
[[nodiscard]] std::optional<units::FlopsPerByte> ridge_point(const Device& device, ComputeType type);

/// The type a product really runs in when a model asks for `wanted`: itself where the device has it, else the next
/// type up that holds its values (fp8 → fp16/bf16 on A100; fp4 → fp8 → bf16; bf16 → fp16 → fp32). Never empty for a
/// catalogue device that has any peak.
[[nodiscard]] std::optional<ComputeType> executed_type(const Device& device, ComputeType wanted);

}  // namespace corridor::hardware
