// SPDX-License-Identifier: Apache-2.0
// One block while it runs: its warps, shared memory, barriers and what it counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "corridor/ptx/functional/device_memory.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/functional/program_state.h"
#include "corridor/ptx/functional/shared_words.h"
#include "corridor/ptx/functional/warp.h"
#include "corridor/ptx/memory/hierarchy.h"

namespace corridor::ptx {

// Where generic addresses of the other spaces lie; global memory is above them all.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 40, local_window = std::uint64_t{2} << 40,
                               parameter_window = std::uint64_t{3} << 40, window_bytes = std::uint64_t{1} << 32,
                               function_window = std::uint64_t{4} << 40, texture_window = std::uint64_t{5} << 40;

/// What one instruction counted. Warps and lanes are kept as changes from the instruction before: a warp that runs
/// straight through many instructions adds itself to the first and takes itself off after the last. `plain` are
/// accesses to shared memory by all lanes, 4 bytes each, that take one wavefront.
struct OpCount {
  std::uint64_t warps_change = 0, lanes_change = 0;
  std::uint64_t lanes_off = 0;  ///< of those: guarded off
  std::uint64_t sectors = 0, wavefronts = 0, conflicts = 0, plain = 0;
};

/// What is the same for all blocks of a launch.
struct LaunchState {
  const Program::State* program = nullptr;
  const Launch* launch = nullptr;
  const RunDevice* device = nullptr;
  const RunOptions* options = nullptr;
  DeviceMemory::State* memory = nullptr;
  std::uint32_t kernel = 0;  ///< index of its function
  std::vector<std::byte> parameters;
  std::unordered_map<const Variable*, std::uint64_t> addresses;  ///< of variables: global addresses, shared offsets
  std::uint32_t shared_bytes = 0, static_shared_bytes = 0;
  std::uint32_t warps = 0;  ///< of a block
  bool parallel = false;
};

/// The last test of a barrier object in memory that found its phase open, since any of them changed.
struct FailedWait {
  std::uint32_t polls = 0, pc = 0, lane = 0, warp = 0, address = 0;
};

/// What one worker keeps from block to block.
struct Tally {
  std::vector<OpCount> ops;  ///< and one more
  std::uint64_t active_lanes[33] = {};
  std::uint64_t divergent_branches = 0;
  AccessCounters global_load, global_store, global_atomic, local_load, local_store, shared_load, shared_store,
      shared_atomic;
};

class BlockRun {
 public:
  enum class Outcome : std::uint8_t { finished, paused, waiting /* nothing but loops that wait */, stopped };

  BlockRun(const LaunchState& launch, Tally& tally);
  /// Starts block `index`; `log` and `traces` may be null.
  void start(std::uint64_t index, AccessLog* log, std::vector<WarpTrace>* traces);
  /// Runs about `budget` warp instructions more.
  Outcome run(std::uint64_t budget);

  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  [[nodiscard]] std::uint64_t index() const { return index_; }
  /// Ends the block with a fault: where it waits at a barrier object in memory, else where its first warp is.
  void give_up(Fault::Kind kind, const std::string& why);
  std::vector<Fault> faults;
  std::string printed;
  std::size_t log_limit = ~std::size_t{0};  ///< sectors and requests; then the block pauses

  // For handlers.
  [[nodiscard]] const LaunchState& launch() const { return launch_; }
  [[nodiscard]] const Program::State& program() const { return *launch_.program; }
  Tally& tally() { return tally_; }
  AccessLog* log() { return log_; }
  std::span<std::uint8_t> shared() { return {shared_.data(), launch_.shared_bytes}; }
  OpCount& count(const Exec& x) { return tally_.ops[x.at]; }
  [[nodiscard]] bool checks() const { return launch_.options->check; }
  /// Instructions of the block so far, with the one that runs.
  [[nodiscard]] std::uint64_t clock(const Exec& x) const { return instructions_ + before_pc_ + x.at + 1; }
  void fault(Exec& x, Fault::Kind kind, std::uint32_t lane, const std::string& what, std::uint64_t address = 0,
             const std::string& allocation = {});
  /// Races and first reads in shared memory. `lanes` of `bytes` at `address`; kind: 0 load, 1 store, 2 atomic.
  void check_shared(Exec& x, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, int kind,
                    bool is_row);
  [[nodiscard]] const SharedWords& shared_words() const { return shared_words_; }
  /// Something that may order accesses of different warps happened: races before it are forgotten.
  void order();
  std::span<Warp> warps() { return warps_; }
  FailedWait failed_wait;
  void fill_frame(Warp& warp, const CallFrame& frame, std::uint32_t lanes);
  bool grow_local(Warp& warp, std::uint32_t bytes);

  // Barriers (barriers.cpp).
  void arrive(Exec& x, std::uint32_t id, std::uint32_t threads, bool waits, int reduction, std::uint32_t values,
              std::uint32_t slot);
  void leave(Warp& warp);

 private:
  struct Barrier {
    std::uint32_t arrived = 0, expected = 0;  ///< warps; expected 0: all that live
    std::uint32_t population = 0;             ///< of bar.red.popc
    bool all = true, any = false;
  };
  void start_warp(Warp& warp);
  void fill_specials(Warp& warp, const Code& code, std::uint32_t base, std::uint32_t lanes, bool all);
  enum class Turn : std::uint8_t { ran, waits, spins, stopped };
  Turn run_warp(Warp& warp, std::uint64_t budget);
  Turn run_stack(Exec& x, Warp& warp, std::uint64_t budget);
  Turn run_groups(Exec& x, Warp& warp, std::uint64_t budget);
  bool pick_group(Exec& x, Warp& warp, std::size_t& picked);
  void merge_groups(Warp& warp);
  template <bool traced>
  void straight(Exec& x, std::uint32_t meet, std::uint64_t budget);
  template <bool traced>
  std::uint32_t until_event(Exec& x, std::uint64_t end);
  void enter(Exec& x, Warp& warp, const LaneGroup& group);
  void release_if_complete(std::uint32_t id);
  void deadlock();
  bool report_failed_wait(std::uint32_t least_polls);  ///< mbarrier.cpp

  const LaunchState& launch_;
  Tally& tally_;
  AccessLog* log_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<std::uint8_t> shared_;
  std::vector<std::uint32_t> writer_, reader_;
  std::vector<std::uint8_t> shared_written_;
  SharedWords shared_words_;  ///< the four above
  std::uint32_t epoch_ = 1;
  Barrier barriers_[16];
  std::uint64_t index_ = 0, instructions_ = 0;
  std::uint64_t before_pc_ = 0;  ///< what is added to a pc to count the instructions of the running turn
  std::uint64_t random_ = 0;
  std::uint32_t next_warp_ = 0, live_warps_ = 0;
  bool stopped_ = false;
  Dim3 block_;
  bool constants_filled_ = false;
};

}  // namespace corridor::ptx
