// SPDX-License-Identifier: Apache-2.0
// The simulated GPU's face: compile a parsed module once, give it memory and a launch, get results, counters and
// faults.
//
//   Program program = *Program::compile(*parse_module(text, "saxpy.ptx"));
//   DeviceMemory memory(Limits{}.max_memory_bytes);
//   std::uint64_t x = *memory.allocate(4 * n, "x");
//   Launch launch{.kernel = "saxpy", .grid = {n / 256}, .block = {256}};
//   launch.add_argument(x); launch.add_argument(n);
//   RunResult result = *run(program, launch, memory, {});
//   result.counters.flops(Type::f32)           // 2 n
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/ptx/functional/counters.h"
#include "corridor/ptx/functional/texture.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Global memory of the simulated device. Addresses are virtual and 256-byte aligned as cudaMalloc gives them, with
/// gaps between allocations, so that a run beyond the end is seen.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::uint64_t limit_bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&&) noexcept;
  /// A new allocation, not initialised (reads before a write are reported). Fails beyond the limit.
  [[nodiscard]] Result<std::uint64_t> allocate(std::uint64_t bytes, std::string name);
  /// Host copies; an address and length outside one allocation fail.
  [[nodiscard]] Result<void> write(std::uint64_t address, std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> read(std::uint64_t address, std::span<std::byte> out) const;
  /// A texture over one allocation: the 64-bit object that a kernel takes as an argument. Fails when the buffer does
  /// not hold its texels.
  [[nodiscard]] Result<std::uint64_t> add_texture(const Texture& texture);
  /// What a .texref variable of that name means in every module.
  void bind_texture(const std::string& name, std::uint64_t object);
  struct State;
  [[nodiscard]] State& state();

 private:
  std::unique_ptr<State> state_;
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct Launch {
  std::string kernel;
  Dim3 grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::vector<std::byte>> arguments;  ///< one a parameter, in its own size
  template <class T>
  void add_argument(const T& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    arguments.emplace_back(first, first + sizeof(T));
  }
};

/// What the device is to a running kernel; timing has a larger picture of it.
struct RunDevice {
  HierarchyShape memory;
  std::uint32_t blocks_per_sm = 1;  ///< that run at one time: from the occupancy calculator
  std::uint32_t shared_bytes_per_block = 227 * 1024;
  std::uint32_t warp_slots = 64;
  double clock_hz = 1.755e9;
};

struct Limits {
  std::uint64_t max_instructions = 20'000'000'000;  ///< warp instructions
  std::uint64_t max_memory_bytes = std::uint64_t{4} << 30;
};

struct RunOptions {
  Limits limits;
  bool caches = true;           ///< feed L1, L2, DRAM
  bool check = true;            ///< initialisation, races, lanes of shuffles; bounds and alignment are always checked
  std::size_t max_faults = 20;  ///< then the run stops
  /// Blocks to run, evenly spread with the first and the last; 0: all. Counters of what a block does by itself are
  /// scaled, those of L2 and DRAM become bounds, results are partial.
  std::uint64_t sample_blocks = 0;
  std::uint32_t trace_blocks = 0;  ///< record the first so many blocks for a time-line
};

/// Something a kernel did wrong, or could not do.
struct Fault {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    uninitialised,
    race,
    divergent_barrier,
    dead_lane,
    trap,
    deadlock,
    limit,
    unsupported
  };
  Kind kind = Kind::out_of_bounds;
  std::string message;  ///< one line: what, where, what to do
  std::string kernel;
  std::uint32_t line = 0;
  SourceLine source;
  Dim3 block, thread;
  std::uint64_t address = 0;
  std::string allocation;   ///< nearest, or empty
  std::uint64_t count = 1;  ///< of this kind at this line
};
[[nodiscard]] std::string_view name_of(Fault::Kind kind);

/// One warp's instructions as they ran, for a time-line.
struct TraceEntry {
  std::uint32_t instruction = 0;  ///< index into the body
  std::uint16_t sectors = 0, wavefronts = 0;
};
struct WarpTrace {
  std::uint32_t block = 0, warp = 0;
  std::vector<TraceEntry> entries;
};

/// Sectors of 32 bytes, no fewer and no more than.
struct SectorBounds {
  std::uint64_t least = 0, most = 0;
};

struct RunResult {
  Counters counters;
  std::vector<LineCounters> lines;  ///< by PTX line, those that ran
  std::vector<Fault> faults;        ///< empty: the kernel ran clean
  bool completed = false;           ///< every block ran to its end
  std::uint64_t blocks_run = 0;     ///< of counters.blocks, when sampled
  double sampling_error = 0;        ///< standard error of warp instructions, as a share; 0 when all ran
  /// Of a sample, in place of counters.cache, which stays zero: blocks share the caches, so that what a few of them
  /// missed tells little of all. Least: the sectors that the sample touched. Most: what it missed in L1, scaled.
  std::optional<SectorBounds> l2_sectors, dram_sectors;
  std::string printed;  ///< of printf
  std::vector<WarpTrace> traces;
};

/// A module ready to run. Functions with an instruction that cannot be executed compile; running them fails at it by
/// name and line.
class Program {
 public:
  [[nodiscard]] static Result<Program> compile(Module module);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();
  [[nodiscard]] const Module& module() const;
  struct State;
  [[nodiscard]] const State& state() const;

 private:
  Program();
  std::unique_ptr<State> state_;
};

/// Runs one kernel. Results do not depend on the number of cores: the warps of a block run in turn, 2,048 instructions
/// or to the next barrier at a time, the lanes of an atomic in lane order, and the blocks of a kernel that has atomics,
/// fences, volatile or ordered accesses to global memory one after the other by number (4 million instructions at a
/// time, so that a block may wait for another that runs at the same time). Blocks of other kernels run on all cores.
///
/// An error is a launch that cannot start (no such kernel, arguments that do not fit, too many
/// threads); what goes wrong while it runs is a fault.
[[nodiscard]] Result<RunResult> run(const Program& program, const Launch& launch, DeviceMemory& memory,
                                    const RunDevice& device, const RunOptions& options);

}  // namespace corridor::ptx
