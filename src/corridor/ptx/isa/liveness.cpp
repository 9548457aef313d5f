// SPDX-License-Identifier: Apache-2.0
// Which registers are live: one register at a time, walking back from its uses, so that memory stays linear.
#include <algorithm>
#include <limits>

#include "corridor/ptx/isa/flow.h"
#include "corridor/ptx/isa/op_info.h"

namespace corridor::ptx {
namespace {

constexpr std::uint64_t most_steps = std::uint64_t{1} << 27;  // of blocks passed; real kernels need thousands

/// One use or definition of a register.
struct Event {
  std::uint32_t at = 0;  ///< instruction
  bool is_write = false;
  bool kills = false;  ///< an unconditional write: what was there before is dead
};

std::uint32_t words_of(Type type) {
  if (type == Type::pred) return 0;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(bytes_of(type) / 4));
}

class LivenessCount {
 public:
  LivenessCount(const Function& function, const Flow& flow);
  std::uint32_t peak(const std::vector<bool>& left_out);

 private:
  void collect();
  void one_register(std::uint32_t reg);
  void walk_block(std::uint32_t block, std::size_t first, std::size_t last, bool live_out);
  void need_before(std::uint32_t block);
  void spread();
  void add(std::uint32_t from, std::uint32_t to);  ///< live before the instructions from … to − 1
  const Function& function_;
  const Flow& flow_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<Event> events_;               ///< by register, then by instruction
  std::vector<std::size_t> first_event_;    ///< of each register
  std::vector<std::int64_t> change_;        ///< of the number of live words before each instruction
  std::vector<std::uint32_t> live_out_of_;  ///< the last register found live at the end of a block, plus 1
  std::vector<std::uint32_t> defined_in_;   ///< the last register that a block kills, plus 1
  std::vector<std::uint32_t> work_;
  std::vector<std::uint32_t> passed_;  ///< blocks live at their end, of the register at hand
  std::uint32_t mark_ = 0;
  std::uint32_t words_ = 0;
  std::uint64_t steps_ = 0;
};

LivenessCount::LivenessCount(const Function& function, const Flow& flow) : function_(function), flow_(flow) {
  predecessors_.resize(flow.blocks.size());
  for (std::uint32_t i = 0; i < flow.blocks.size(); ++i) {
    for (const std::uint32_t next : flow.blocks[i].successors) {
      if (next != exit_block) predecessors_[next].push_back(i);
    }
  }
  change_.assign(function.body.size() + 2, 0);
  live_out_of_.assign(flow.blocks.size(), 0);
  defined_in_.assign(flow.blocks.size(), 0);
  collect();
}

void LivenessCount::collect() {
  first_event_.assign(function_.registers.size() + 1, 0);
  for (const Instruction& instruction : function_.body) {
    each_register(instruction, [&](std::uint32_t reg, bool) { ++first_event_[reg + 1]; });
  }
  for (std::size_t i = 1; i < first_event_.size(); ++i) first_event_[i] += first_event_[i - 1];
  events_.resize(first_event_.back());
  std::vector<std::size_t> next(first_event_.begin(), first_event_.end() - 1);
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    const bool is_certain = function_.body[i].guard == no_index;
    each_register(function_.body[i], [&](std::uint32_t reg, bool is_write) {
      events_[next[reg]++] = {i, is_write, is_write && is_certain};
    });
  }
}

void LivenessCount::add(std::uint32_t from, std::uint32_t to) {
  if (from >= to) return;
  change_[from] += words_;
  change_[to] -= words_;
}

/// Marks the blocks before `block` as live at their end.
void LivenessCount::need_before(std::uint32_t block) {
  for (const std::uint32_t before : predecessors_[block]) {
    if (live_out_of_[before] == mark_) continue;
    live_out_of_[before] = mark_;
    passed_.push_back(before);
    work_.push_back(before);
  }
}

void LivenessCount::spread() {
  while (!work_.empty() && steps_ < most_steps) {
    const std::uint32_t block = work_.back();
    work_.pop_back();
    ++steps_;
    if (defined_in_[block] != mark_) need_before(block);
  }
  work_.clear();
}

/// Events [first, last) of the register in one block, from the back.
void LivenessCount::walk_block(std::uint32_t block, std::size_t first, std::size_t last, bool live_out) {
  constexpr std::uint32_t not_live = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t until = live_out ? flow_.blocks[block].last : not_live;
  for (std::size_t i = last; i-- > first;) {
    const Event& event = events_[i];
    if (!event.is_write) {
      if (until == not_live) until = event.at + 1;
    } else {
      // A value that nobody reads takes its register for a moment.
      if (until == not_live) add(event.at + 1, event.at + 2);
      if (!event.kills || until == not_live) continue;
      add(event.at + 1, until);
      until = not_live;
    }
  }
  if (until != not_live) add(flow_.blocks[block].first, until);
}

void LivenessCount::one_register(std::uint32_t reg) {
  words_ = words_of(function_.registers[reg].type);
  const std::size_t first = first_event_[reg];
  const std::size_t last = first_event_[reg + 1];
  if (words_ == 0 || first == last) return;
  mark_ = reg + 1;
  passed_.clear();
  for (std::size_t i = first; i < last; ++i) {
    if (events_[i].kills) defined_in_[flow_.block_of[events_[i].at]] = mark_;
  }
  std::uint32_t block = no_index;
  bool is_killed = false;
  for (std::size_t i = first; i < last; ++i) {  // reads that come before any certain write of their block
    if (flow_.block_of[events_[i].at] != block) is_killed = false;
    block = flow_.block_of[events_[i].at];
    if (!events_[i].is_write && !is_killed) need_before(block);
    is_killed = is_killed || events_[i].kills;
  }
  spread();
  for (std::size_t i = first; i < last;) {
    std::size_t end = i;
    block = flow_.block_of[events_[i].at];
    while (end < last && flow_.block_of[events_[end].at] == block) ++end;
    walk_block(block, i, end, live_out_of_[block] == mark_);
    live_out_of_[block] = 0;  // counted
    i = end;
  }
  for (const std::uint32_t through : passed_) {
    if (live_out_of_[through] == mark_) add(flow_.blocks[through].first, flow_.blocks[through].last);
  }
}

std::uint32_t LivenessCount::peak(const std::vector<bool>& left_out) {
  for (std::uint32_t reg = 0; reg < function_.registers.size(); ++reg) {
    if (reg >= left_out.size() || !left_out[reg]) one_register(reg);
  }
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const std::int64_t change : change_) {
    live += change;
    most = std::max(most, live);
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace

std::uint32_t live_registers(const Function& function, const Flow& flow) {
  return live_registers(function, flow, {});
}

std::uint32_t live_registers(const Function& function, const Flow& flow, const std::vector<bool>& left_out) {
  return function.body.empty() ? 0 : LivenessCount(function, flow).peak(left_out);
}

}  // namespace corridor::ptx
