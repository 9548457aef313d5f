// SPDX-License-Identifier: Apache-2.0
// Runs one warp: on its stack of diverged lanes, or as groups that are scheduled on their own.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"

namespace corridor::ptx {
namespace {

constexpr std::uint64_t patience = 2'000'000;  // instructions without a change of the stack while other lanes wait
constexpr std::uint64_t group_slice = 2048;    // instructions of one group before another may run
constexpr std::size_t most_trace = 1U << 20;
constexpr std::uint32_t most_polls = 4096;  // of barrier objects that do not change, by groups of a warp in turn

/// Instructions of called functions are left out: a trace is of the kernel's own body.
void note(WarpTrace& trace, std::uint32_t index, std::uint32_t length, std::uint16_t sectors,
          std::uint16_t wavefronts) {
  if (index < length && trace.entries.size() < most_trace) trace.entries.push_back({index, sectors, wavefronts});
}

}  // namespace

void split_warp(Warp& warp) {
  if (warp.split) return;
  std::vector<LaneGroup> groups;
  std::uint32_t seen = 0;
  for (auto entry = warp.groups.rbegin(); entry != warp.groups.rend(); ++entry) {
    const std::uint32_t lanes = entry->mask & warp.alive & ~seen;
    seen |= lanes;
    if (lanes == 0) continue;
    groups.push_back(*entry);
    groups.back().mask = lanes;
    groups.back().meet = no_place;
  }
  warp.groups = std::move(groups);
  warp.split = true;
}

void BlockRun::enter(Exec& x, Warp& warp, const LaneGroup& group) {
  x.active = group.mask;
  x.pc = group.pc;
  x.frame = warp.file + warp.calls[group.call].frame;
  x.event = Event::none;
}

/// Runs instructions one after the other, from x.pc to before `end` or to one that has an event. Returns the place
/// after the last that ran.
template <bool traced>
std::uint32_t BlockRun::until_event(Exec& x, std::uint64_t end) {
  const Op* const ops = program().ops.data();
  const std::uint32_t active = x.active;
  std::uint32_t at = x.pc;
  do {
    const Op& op = ops[at];
    x.at = at;
    x.pc = ++at;
    x.mask = active & (predicate(x, op.guard) ^ op.guard_flip);
    if (traced) x.sectors = x.wavefronts = 0;
    if (x.mask == active) {
      op.run(x, op);
    } else {
      tally_.ops[x.at].lanes_off += lanes_in(active & ~x.mask);
      if (x.mask != 0) op.run(x, op);
    }
    if (traced && x.event != Event::repeat && x.event != Event::again) {
      const Code& kernel = program().codes[launch_.kernel];
      note(*x.warp->trace, x.at - kernel.first, kernel.count, x.sectors, x.wavefronts);
    }
  } while (x.event == Event::none && at != end);
  return at;
}

template <bool traced>
void BlockRun::straight(Exec& x, std::uint32_t meet, std::uint64_t budget) {
  const std::uint64_t lanes = lanes_in(x.active);
  std::uint64_t n = 0;
  while (x.pc != meet && n < budget) {
    const std::uint32_t first = x.pc;
    before_pc_ = n - first;
    const std::uint64_t end = first + (budget - n);
    std::uint32_t at = until_event<traced>(x, meet > first ? std::min<std::uint64_t>(meet, end) : end);
    if (x.event == Event::repeat || x.event == Event::again) {  // as if it had not run
      at = x.pc = x.at;
      tally_.ops[at].lanes_off -= lanes - lanes_in(x.mask);
    }
    tally_.ops[first].warps_change += 1;
    tally_.ops[first].lanes_change += lanes;
    tally_.ops[at].warps_change -= 1;
    tally_.ops[at].lanes_change -= lanes;
    n += at - first;
    if (x.event == Event::jump) x.event = Event::none;
    if (x.event != Event::none) break;
  }
  tally_.active_lanes[lanes] += n;
  instructions_ += n;
}

BlockRun::Turn BlockRun::run_warp(Warp& warp, std::uint64_t budget) {
  Exec x;
  x.warp = &warp;
  x.block = this;
  const std::uint64_t end = instructions_ + budget;
  while (instructions_ < end) {
    if (warp.alive == 0) {
      leave(warp);
      return stopped_ ? Turn::stopped : Turn::ran;
    }
    const Turn turn = warp.split ? run_groups(x, warp, end - instructions_) : run_stack(x, warp, end - instructions_);
    if (stopped_) return Turn::stopped;
    if (turn != Turn::ran) return turn;
  }
  return Turn::ran;
}

BlockRun::Turn BlockRun::run_stack(Exec& x, Warp& warp, std::uint64_t budget) {
  while (!warp.groups.empty()) {
    const LaneGroup& top = warp.groups.back();
    if (top.mask != 0 && top.pc != top.meet) break;
    warp.groups.pop_back();
    warp.since_change = 0;
  }
  if (warp.groups.empty()) {
    warp.alive = 0;
    return Turn::ran;
  }
  const std::size_t depth = warp.groups.size();
  const std::uint64_t before = instructions_;
  enter(x, warp, warp.groups.back());
  const std::uint32_t meet = warp.groups.back().meet;
  warp.trace != nullptr ? straight<true>(x, meet, budget) : straight<false>(x, meet, budget);
  const bool waiting = depth > 1 || warp.groups[0].mask != warp.alive;
  warp.since_change = x.event == Event::flow ? 0 : warp.since_change + (instructions_ - before);
  switch (x.event) {
    case Event::stop:
      return Turn::stopped;
    case Event::flow:
      return Turn::ran;  // the handler left the stack as it is to be
    default:
      break;
  }
  if (x.event == Event::repeat || x.event == Event::again) split_warp(warp);
  LaneGroup& top = warp.groups.back();
  if (!warp.split) {
    top.pc = x.pc;
  } else {
    for (LaneGroup& group : warp.groups) {
      if (group.mask == x.active) {
        group.pc = x.pc;
        group.wait = x.event == Event::repeat ? LaneGroup::Wait::lanes : LaneGroup::Wait::none;
      }
    }
    return Turn::ran;
  }
  if (x.event == Event::wait) return Turn::waits;
  if (x.event == Event::yield) {
    if (waiting && ++warp.spin_yields > 2) split_warp(warp);
    return Turn::spins;
  }
  if (waiting && warp.since_change > patience) split_warp(warp);
  return Turn::ran;
}

void BlockRun::merge_groups(Warp& warp) {
  auto& groups = warp.groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].mask &= warp.alive;
    for (std::size_t k = i + 1; k < groups.size();) {
      const bool same = groups[k].pc == groups[i].pc && groups[k].call == groups[i].call &&
                        groups[k].wait != LaneGroup::Wait::barrier && groups[i].wait != LaneGroup::Wait::barrier;
      if (!same) {
        ++k;
        continue;
      }
      groups[i].mask |= groups[k].mask & warp.alive;
      groups[i].wait = LaneGroup::Wait::none;
      groups[i].last_run = std::min(groups[i].last_run, groups[k].last_run);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  std::erase_if(groups, [](const LaneGroup& group) { return group.mask == 0; });
}

bool BlockRun::pick_group(Exec& x, Warp& warp, std::size_t& picked) {
  // The group that is furthest behind, unless another has been left out for long.
  constexpr std::uint64_t too_long = 64;
  bool found = false;
  for (std::size_t i = 0; i < warp.groups.size(); ++i) {
    const LaneGroup& group = warp.groups[i];
    if (group.wait != LaneGroup::Wait::none) continue;
    if (!found) {
      picked = i;
      found = true;
      continue;
    }
    const LaneGroup& best = warp.groups[picked];
    const bool starved = warp.turns - group.last_run > too_long, best_starved = warp.turns - best.last_run > too_long;
    const std::uint32_t depth = warp.calls[group.call].depth, best_depth = warp.calls[best.call].depth;
    const bool behind = depth != best_depth ? depth > best_depth : group.pc < best.pc;
    if (starved != best_starved ? starved : starved ? group.last_run < best.last_run : behind) picked = i;
  }
  if (found) return true;
  // All wait. Those at a barrier may be let go by other warps; lanes that wait for lanes cannot.
  const bool at_barrier = std::any_of(warp.groups.begin(), warp.groups.end(),
                                      [](const LaneGroup& group) { return group.wait == LaneGroup::Wait::barrier; });
  const auto stuck = std::find_if(warp.groups.begin(), warp.groups.end(),
                                  [](const LaneGroup& group) { return group.wait == LaneGroup::Wait::lanes; });
  if (stuck == warp.groups.end()) return false;
  x.at = stuck->pc;
  x.mask = stuck->mask;
  fault(x, Fault::Kind::deadlock, static_cast<std::uint32_t>(std::countr_zero(stuck->mask)),
        fmt::format("lanes 0x{:08x} wait for lanes of their warp that never come here{}; name in the mask only lanes "
                    "that take this path",
                    stuck->mask, at_barrier ? " (they are at a barrier)" : ""));
  return false;
}

BlockRun::Turn BlockRun::run_groups(Exec& x, Warp& warp, std::uint64_t budget) {
  merge_groups(warp);
  if (warp.groups.empty()) {
    warp.alive = 0;
    return Turn::ran;
  }
  std::size_t picked = 0;
  if (!pick_group(x, warp, picked)) {
    if (stopped_) return Turn::stopped;
    const LaneGroup first = warp.groups[0];
    const bool together = std::all_of(warp.groups.begin(), warp.groups.end(),
                                      [&](const LaneGroup& group) { return group.barrier == first.barrier; });
    if (together) {  // the others have left since: the warp is complete
      x.at = first.pc - 1;
      x.active = first.mask;
      arrive(x, first.barrier, first.threads, true, 0, 0, no_place);
      return Turn::waits;
    }
    warp.state = Warp::State::barrier;
    return Turn::waits;
  }
  warp.groups[picked].last_run = ++warp.turns;
  const std::uint32_t lanes = warp.groups[picked].mask;
  enter(x, warp, warp.groups[picked]);
  const std::uint64_t slice = std::min(budget, group_slice);
  warp.trace != nullptr ? straight<true>(x, no_place, slice) : straight<false>(x, no_place, slice);
  if (x.event == Event::stop) return Turn::stopped;
  if (x.event == Event::flow) return Turn::ran;
  for (LaneGroup& group : warp.groups) {
    if (group.mask != lanes) continue;
    group.pc = x.pc;
    if (x.event == Event::repeat) group.wait = LaneGroup::Wait::lanes;
  }
  if (x.event == Event::wait) return warp.state == Warp::State::barrier ? Turn::waits : Turn::ran;
  if (x.event != Event::yield) return Turn::ran;
  const auto able = std::count_if(warp.groups.begin(), warp.groups.end(),
                                  [](const LaneGroup& group) { return group.wait == LaneGroup::Wait::none; });
  return able == 1 || failed_wait.polls > most_polls ? Turn::spins : Turn::ran;
}

}  // namespace corridor::ptx
