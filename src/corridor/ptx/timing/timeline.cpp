// SPDX-License-Identifier: Apache-2.0
// Replays recorded warps on one SM. Time goes clock by clock while something can issue and jumps to the next event when
// nothing can, so a long wait costs nothing.
#include "corridor/ptx/timing/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "corridor/ptx/timing/replay_ops.h"
#include "corridor/ptx/timing/state_samples.h"

namespace corridor::ptx {
namespace {

using Clock = std::uint64_t;
constexpr Clock never = std::numeric_limits<Clock>::max();
constexpr Clock most_clocks = 1'000'000;
constexpr std::uint32_t most_resident = 128;  // twice what any SM holds
constexpr std::uint32_t no_warp = 0xFFFFFFFF;

Clock clocks_up(double clocks) {
  return clocks > 0 ? static_cast<Clock>(std::ceil(std::min(clocks, 1e9))) : 0;
}

/// One place for a warp on the SM, and the warp in it.
struct Place {
  std::uint32_t trace = no_warp;
  std::uint64_t block = 0;
  std::size_t next = 0;          ///< entry of the trace
  std::uint32_t slots_left = 0;  ///< of the instruction that is being issued
  Clock ready = 0;               ///< when its registers are there
  bool waits_memory = false;     ///< it is memory that `ready` waits for
  bool at_barrier = false;
  bool taken = false;  ///< at any time
  std::vector<Clock> register_ready;
  std::vector<bool> from_memory;
};

/// Deals loads to L1, L2 and DRAM so that after each one the shares are as near as they can be.
class LoadDealer {
 public:
  LoadDealer(const LoadShares& shares, const Machine& machine) : shares_(shares), machine_(machine) {}
  double latency() {
    const std::array<double, 3> shares = {shares_.l1, shares_.l2, 1 - shares_.l1 - shares_.l2};
    for (std::size_t i = 0; i < owed_.size(); ++i) owed_[i] += shares[i];
    level_ = static_cast<std::size_t>(std::max_element(owed_.begin(), owed_.end()) - owed_.begin());
    --owed_[level_];
    return level_ == 0   ? machine_.l1_latency_clocks
           : level_ == 1 ? machine_.l2_latency_clocks
                         : machine_.dram_latency_clocks;
  }
  [[nodiscard]] bool leaves_sm() const { return level_ > 0; }
  [[nodiscard]] bool from_dram() const { return level_ > 1; }

 private:
  LoadShares shares_;
  const Machine& machine_;
  std::array<double, 3> owed_{};  ///< loads that each level is behind
  std::size_t level_ = 0;
};

class Replay {
 public:
  Replay(const Function& function, std::span<const WarpTrace> warps, const Machine& machine, std::uint32_t resident,
         const LoadShares& shares)
      : machine_(machine),
        warps_(warps),
        ops_(replay_ops(function, machine)),
        registers_(function.registers.size()),
        places_(resident),
        changes_(resident),
        dealer_(shares, machine) {
    schedulers_ = std::clamp(machine.schedulers, 1U, 16U);
    pipe_free_.resize(schedulers_);
    last_.resize(schedulers_);
    queue_blocks();
  }

  Timeline run();

 private:
  void queue_blocks();
  void fill_places(Clock now);
  void start(Place& place, std::uint32_t trace, std::uint64_t block, Clock now);
  void prepare(Place& place);
  void next_entry(Place& place, Clock now);
  [[nodiscard]] WarpState state_at(const Place& place, std::uint32_t scheduler, Clock now) const;
  [[nodiscard]] Clock pipe_ready(const ReplayOp& op, std::uint32_t scheduler) const;
  void issue(Place& place, std::uint32_t scheduler, Clock now);
  void write(Place& place, const ReplayOp& op, Clock ready, bool memory);
  Clock memory_access(const ReplayOp& op, const TraceEntry& entry, Clock now, bool& waits);
  void release_barriers(Clock now);
  void set_state(std::size_t place, WarpState state, Clock now);
  bool step(Clock now);
  [[nodiscard]] Clock next_event(Clock now) const;

  [[nodiscard]] const ReplayOp& op_of(const Place& place) const {
    return ops_[warps_[place.trace].entries[place.next].instruction];
  }

  const Machine& machine_;
  std::span<const WarpTrace> warps_;
  std::vector<ReplayOp> ops_;
  std::size_t registers_;
  std::uint32_t schedulers_ = 4;
  std::vector<Place> places_;
  std::vector<std::vector<StateChange>> changes_;
  std::vector<std::array<double, 16>> pipe_free_;  ///< of each scheduler, by pipe
  double memory_free_ = 0, l2_free_ = 0, dram_free_ = 0;
  std::vector<std::size_t> last_;  ///< place each scheduler issued last
  struct Waiting {
    std::uint32_t trace;
    std::uint64_t block;
    std::uint32_t of_block;  ///< warps of its block that are still to enter, itself included
  };
  std::vector<Waiting> queue_;  ///< warps that have not entered, block by block
  std::size_t queue_next_ = 0;
  LoadDealer dealer_;
  std::uint64_t issued_ = 0, warps_run_ = 0;
};

void Replay::queue_blocks() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_block;
  for (std::uint32_t i = 0; i < warps_.size(); ++i) of_block[warps_[i].block].push_back(i);
  std::uint64_t block = 0;
  while (queue_.size() < places_.size()) {
    for (const auto& [number, members] : of_block) {
      auto left = static_cast<std::uint32_t>(members.size());
      for (const std::uint32_t trace : members) queue_.push_back({trace, block, left--});
      ++block;
    }
  }
}

void Replay::start(Place& place, std::uint32_t trace, std::uint64_t block, Clock now) {
  place.trace = trace;
  place.block = block;
  place.next = 0;
  place.at_barrier = false;
  place.taken = true;
  place.register_ready.assign(registers_, now);
  place.from_memory.assign(registers_, false);
  ++warps_run_;
  prepare(place);
}

/// A block enters whole where it can: it waits for as many free places as it has warps, or for all of them.
void Replay::fill_places(Clock now) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].trace == no_warp) free.push_back(i);
  }
  std::size_t used = 0;
  while (queue_next_ < queue_.size() && used < free.size()) {
    const Waiting& first = queue_[queue_next_];
    const bool larger_than_sm = first.of_block > places_.size();
    const bool entering = queue_next_ > 0 && queue_[queue_next_ - 1].block == first.block;
    if (!entering && !larger_than_sm && first.of_block > free.size() - used) return;
    start(places_[free[used++]], first.trace, first.block, now);
    ++queue_next_;
  }
}

/// Looks up when the registers of the next instruction are there.
void Replay::prepare(Place& place) {
  const auto& entries = warps_[place.trace].entries;
  if (place.next >= entries.size()) return;
  const ReplayOp& op = op_of(place);
  place.slots_left = std::max(1U, op.slots);
  place.ready = 0;
  place.waits_memory = false;
  for (const auto* registers : {&op.reads, &op.writes}) {
    for (const std::uint32_t index : *registers) {
      if (place.register_ready[index] <= place.ready) continue;
      place.ready = place.register_ready[index];
      place.waits_memory = place.from_memory[index];
    }
  }
}

void Replay::next_entry(Place& place, Clock now) {
  ++place.next;
  const auto& entries = warps_[place.trace].entries;
  prepare(place);
  // Instructions that are none of their own on the machine pass with the one before.
  while (place.next < entries.size() && op_of(place).slots == 0) {
    const ReplayOp& op = op_of(place);
    write(place, op, std::max(place.ready, now + 1), place.waits_memory);
    ++place.next;
    prepare(place);
  }
}

Clock Replay::pipe_ready(const ReplayOp& op, std::uint32_t scheduler) const {
  if (op.kind == ReplayOp::Kind::memory) return clocks_up(memory_free_);
  return clocks_up(pipe_free_[scheduler][static_cast<std::size_t>(op.pipe)]);
}

WarpState Replay::state_at(const Place& place, std::uint32_t scheduler, Clock now) const {
  if (place.trace == no_warp) return place.taken ? WarpState::done : WarpState::absent;
  if (place.at_barrier) return WarpState::barrier;
  if (place.ready > now) return place.waits_memory ? WarpState::waits_memory : WarpState::waits_result;
  const ReplayOp& op = op_of(place);
  if (pipe_ready(op, scheduler) > now) {
    return op.kind == ReplayOp::Kind::memory ? WarpState::waits_memory : WarpState::waits_result;
  }
  return WarpState::eligible;
}

void Replay::write(Place& place, const ReplayOp& op, Clock ready, bool memory) {
  for (const std::uint32_t index : op.writes) {
    place.register_ready[index] = ready;
    place.from_memory[index] = memory;
  }
}

/// When the data of an access is there; stores take their part of the ways as well.
Clock Replay::memory_access(const ReplayOp& op, const TraceEntry& entry, Clock now, bool& waits) {
  const double start = std::max<double>(static_cast<double>(now), memory_free_);
  memory_free_ = start + std::max<double>(op.pipe_clocks, entry.wavefronts);
  waits = true;
  if (entry.sectors == 0) {
    // Shared memory and shuffles; a warp whose lanes were all off touches nothing.
    const bool any = entry.wavefronts > 0;
    return clocks_up(memory_free_ - 1 + (any ? machine_.shared_latency_clocks : machine_.alu_latency_clocks));
  }
  const double latency = dealer_.latency();
  double arrives = memory_free_ - 1 + latency;
  const double bytes = double{sector_bytes} * entry.sectors;
  const auto pass = [&](double& free, double bytes_per_clock) {
    if (!(bytes_per_clock > 0)) return;
    free = std::max(free, start) + bytes / bytes_per_clock;
    arrives = std::max(arrives, free + latency - bytes / bytes_per_clock);
  };
  if (dealer_.leaves_sm()) pass(l2_free_, machine_.l2_bytes_per_clock_sm);
  if (dealer_.from_dram() && machine_.clock_hz > 0) {
    pass(dram_free_, machine_.dram_bytes_per_s / machine_.clock_hz / std::max(1U, machine_.sm_count));
  }
  return clocks_up(arrives);
}

void Replay::issue(Place& place, std::uint32_t scheduler, Clock now) {
  ++issued_;
  const ReplayOp& op = op_of(place);
  if (op.kind == ReplayOp::Kind::plain) {
    double& free = pipe_free_[scheduler][static_cast<std::size_t>(op.pipe)];
    free = std::max<double>(free, static_cast<double>(now)) + op.pipe_clocks;
  }
  if (--place.slots_left > 0) return;
  switch (op.kind) {
    case ReplayOp::Kind::plain:
      write(place, op, now + clocks_up(op.latency_clocks), false);
      break;
    case ReplayOp::Kind::memory: {
      bool waits = false;
      const Clock ready = memory_access(op, warps_[place.trace].entries[place.next], now, waits);
      write(place, op, ready, waits);
      break;
    }
    case ReplayOp::Kind::barrier:
      place.at_barrier = true;
      return;
  }
  next_entry(place, now);
}

/// A barrier opens when every warp of the block that is on the SM has come to it.
void Replay::release_barriers(Clock now) {
  std::map<std::uint64_t, bool> all_there;
  for (const Place& place : places_) {
    if (place.trace == no_warp) continue;
    const auto [at, is_new] = all_there.emplace(place.block, true);
    at->second = at->second && place.at_barrier;
  }
  const Clock open = now + std::max<Clock>(1, clocks_up(machine_.barrier_clocks));
  for (Place& place : places_) {
    if (place.trace == no_warp || !place.at_barrier || !all_there[place.block]) continue;
    place.at_barrier = false;
    next_entry(place, now);
    if (open > place.ready) {
      place.ready = open;
      place.waits_memory = false;
    }
  }
}

void Replay::set_state(std::size_t place, WarpState state, Clock now) {
  auto& changes = changes_[place];
  if (!changes.empty() && changes.back().state == state) return;
  if (!changes.empty() && changes.back().first == now) {
    changes.back().state = state;
    return;
  }
  changes.push_back({now, state});
}

/// One clock: each scheduler issues one warp that can, in turn. True when any did.
bool Replay::step(Clock now) {
  bool any = false, at_barrier = false, ended = false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    set_state(i, state_at(places_[i], static_cast<std::uint32_t>(i % schedulers_), now), now);
  }
  for (std::uint32_t scheduler = 0; scheduler < schedulers_; ++scheduler) {
    const std::size_t own = (places_.size() + schedulers_ - 1 - scheduler) / schedulers_;
    for (std::size_t turn = 1; turn <= own; ++turn) {
      const std::size_t i = (last_[scheduler] + turn) % own * schedulers_ + scheduler;
      Place& place = places_[i];
      if (state_at(place, scheduler, now) != WarpState::eligible) continue;
      issue(place, scheduler, now);
      set_state(i, WarpState::issued, now);
      last_[scheduler] = (last_[scheduler] + turn) % own;
      at_barrier = at_barrier || place.at_barrier;
      if (place.next >= warps_[place.trace].entries.size() && !place.at_barrier) {
        place.trace = no_warp;
        ended = true;
      }
      any = true;
      break;
    }
  }
  if (at_barrier || ended) release_barriers(now);
  // A barrier at the very end of a warp leaves nothing to run.
  for (Place& place : places_) {
    if (place.trace != no_warp && !place.at_barrier && place.next >= warps_[place.trace].entries.size()) {
      place.trace = no_warp;
      ended = true;
    }
  }
  if (ended) fill_places(now + 1);
  return any;
}

/// The first clock after `now` at which a warp that waits may go on.
Clock Replay::next_event(Clock now) const {
  Clock next = never;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.trace == no_warp || place.at_barrier) continue;
    const Clock at = std::max(place.ready, pipe_ready(op_of(place), static_cast<std::uint32_t>(i % schedulers_)));
    next = std::min(next, std::max(at, now + 1));
    if (place.ready > now) next = std::min(next, place.ready);
  }
  return next;
}

Timeline Replay::run() {
  Timeline out;
  out.resident_warps = static_cast<std::uint32_t>(places_.size());
  fill_places(0);
  Clock now = 0;
  while (now < most_clocks) {
    const bool any = step(now);
    const bool empty =
        std::all_of(places_.begin(), places_.end(), [](const Place& place) { return place.trace == no_warp; });
    if (empty) {
      out.clocks = now + 1;
      break;
    }
    const Clock next = any ? now + 1 : next_event(now);
    if (next == never) break;  // traces that end while others wait at a barrier: nothing goes on
    now = next;
  }
  out.cut = out.clocks == 0;
  if (out.cut) out.clocks = std::max<Clock>(1, std::min(now, most_clocks));
  out.warps_run = warps_run_;
  out.issue_share = static_cast<double>(issued_) / (static_cast<double>(out.clocks) * schedulers_);
  sample_states(changes_, out);
  return out;
}

}  // namespace

LoadShares load_shares(const CacheCounters& cache) {
  LoadShares out;
  const double asked = static_cast<double>(std::max(cache.l1_sectors, cache.l2_read_sectors));
  if (asked == 0) return out;
  out.l1 = static_cast<double>(cache.l1_hits) / asked;
  out.l2 = static_cast<double>(cache.l2_read_hits) / asked;
  return out;
}

Timeline timeline(const Function& function, std::span<const WarpTrace> warps, const Machine& machine,
                  std::uint32_t resident_warps, const LoadShares& shares) {
  std::vector<WarpTrace> kept;
  for (const WarpTrace& warp : warps) {
    for (const TraceEntry& entry : warp.entries) {
      if (entry.instruction >= function.body.size()) return {};
    }
    if (!warp.entries.empty()) kept.push_back(warp);
  }
  if (kept.empty() || resident_warps == 0) return {};
  return Replay(function, kept, machine, std::min(resident_warps, most_resident), shares).run();
}

}  // namespace corridor::ptx
