// SPDX-License-Identifier: Apache-2.0
// Branches, calls, returns and the ends of threads.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/print.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t deepest_call = 256;
constexpr std::size_t most_calls = 1U << 14, most_frame_file = 256U << 20;

/// The group that runs now: the top of the stack, or the one with these lanes.
LaneGroup& running(Exec& x) {
  auto& groups = x.warp->groups;
  if (!x.warp->split) return groups.back();
  return *std::find_if(groups.begin(), groups.end(), [&](const LaneGroup& g) { return (g.mask & x.active) != 0; });
}

/// Takes a loop back; sees when nothing changes from turn to turn.
void watch_loop(Exec& x) {
  Warp& warp = *x.warp;
  if (warp.spin_pc != x.at || warp.spin_mask != x.active) {
    warp.spin_pc = x.at;
    warp.spin_mask = x.active;
    warp.spin_count = 0;
    return;
  }
  const std::uint32_t turn = ++warp.spin_count;
  if (turn < 64 || std::popcount(turn & ~1U) != 1) return;  // turns 64 and 65, 128 and 129, …
  const Code& code = x.block->program().codes[warp.calls[running(x).call].function];
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
  for (std::uint32_t at = 0; at + 8 <= code.frame_bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, x.frame + at, 8);
    hash = (hash ^ word) * 0x100000001B3ULL;
    hash ^= hash >> 29;
  }
  if ((turn & 1) != 0 && hash == warp.spin_hash) {
    x.event = Event::yield;
    warp.spin_count = 0;
  }
  warp.spin_hash = hash;
}

void push(Warp& warp, std::uint32_t pc, std::uint32_t meet, std::uint32_t mask, std::uint32_t call) {
  if (mask == 0 || pc == meet) return;
  warp.groups.push_back(LaneGroup{pc, meet, mask, call, LaneGroup::Wait::none, 0, warp.turns});
}

/// Lanes `mask` of the running group go to `target`, the others to the next instruction.
void part(Exec& x, std::uint32_t mask, std::uint32_t target, std::uint32_t meet) {
  Warp& warp = *x.warp;
  x.event = Event::flow;
  ++x.block->tally().divergent_branches;
  LaneGroup& group = running(x);
  if (warp.split) {
    const std::uint32_t call = group.call;
    group.mask = x.active & ~mask;
    group.pc = x.pc;
    warp.groups.push_back(LaneGroup{target, no_place, mask, call, LaneGroup::Wait::none, 0, warp.turns});
    return;
  }
  const LaneGroup old = group;
  const std::uint32_t rest = x.active & ~mask;
  std::uint32_t inner = meet;
  if (meet == no_place || meet == old.meet) {
    inner = old.meet;  // the entry beneath waits there for all of them
    warp.groups.pop_back();
  } else {
    group.pc = meet;
  }
  const bool target_first = target < x.pc;
  if (target_first) {
    push(warp, x.pc, inner, rest, old.call);
    push(warp, target, inner, mask, old.call);
  } else {
    push(warp, target, inner, mask, old.call);
    push(warp, x.pc, inner, rest, old.call);
  }
}

void remove_lanes(Warp& warp, std::uint32_t lanes) {
  for (LaneGroup& group : warp.groups) group.mask &= ~lanes;
}

}  // namespace

void branch(Exec& x, const Op& op) {
  if (x.mask != x.active) return part(x, x.mask, op.d, op.b);
  const bool back = op.d <= x.at;
  x.pc = op.d;
  if (back) watch_loop(x);
  if (x.event != Event::none) return;
  x.event = x.warp->split ? Event::flow : Event::jump;
  if (x.warp->split) running(x).pc = x.pc;
}

void branch_indexed(Exec& x, const Op& op) {
  const auto& table = x.block->program().jumps[op.extra];
  const std::uint32_t* const index = row32(x, op.a);
  std::uint32_t left = x.mask;
  const std::uint32_t off = x.active & ~x.mask;
  Warp& warp = *x.warp;
  const LaneGroup old = running(x);
  std::vector<LaneGroup> parts;
  while (left != 0) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (index[lane] >= table.size()) {
      return x.block->fault(x, Fault::Kind::trap, lane,
                            fmt::format("brx index {} is beyond {} targets", index[lane], table.size()));
    }
    std::uint32_t lanes = 0;
    for (std::uint32_t l = 0; l < 32; ++l) {
      if (((left >> l) & 1) != 0 && index[l] == index[lane]) lanes |= 1U << l;
    }
    left &= ~lanes;
    parts.push_back(LaneGroup{table[index[lane]], no_place, lanes, old.call, LaneGroup::Wait::none, 0, warp.turns});
  }
  if (off != 0) parts.push_back(LaneGroup{x.pc, no_place, off, old.call, LaneGroup::Wait::none, 0, warp.turns});
  if (parts.size() > 1) ++x.block->tally().divergent_branches;
  x.event = Event::flow;
  if (warp.split || parts.size() == 1) {
    LaneGroup& group = running(x);
    group.pc = parts[0].pc;
    group.mask = parts[0].mask;
    for (std::size_t i = 1; i < parts.size(); ++i) warp.groups.push_back(parts[i]);
    return;
  }
  std::uint32_t meet = op.b;
  if (meet == no_place || meet == old.meet) {
    meet = old.meet;
    warp.groups.pop_back();
  } else {
    warp.groups.back().pc = meet;
  }
  std::sort(parts.begin(), parts.end(), [](const LaneGroup& a, const LaneGroup& b) { return a.pc > b.pc; });
  for (const LaneGroup& p : parts) push(warp, p.pc, meet, p.mask, old.call);
}

void leave_kernel(Exec& x, const Op& /*op*/) {
  Warp& warp = *x.warp;
  running(x).pc = x.pc;
  remove_lanes(warp, x.mask);
  warp.alive &= ~x.mask;
  x.event = Event::flow;
  for (LaneGroup& group : warp.groups) {  // those that waited for these lanes may go on
    if (group.wait == LaneGroup::Wait::lanes) group.wait = LaneGroup::Wait::none;
  }
}

namespace {

/// Copies between the local frames, or rows, of caller and callee.
void copy_values(Exec& x, const Call& call, const CallFrame& caller, const CallFrame& callee, std::uint32_t lanes,
                 bool to_callee) {
  Warp& warp = *x.warp;
  const Code& code = x.block->program().codes[callee.function];
  const auto& list = to_callee ? call.arguments : call.results;
  const auto& formal = to_callee ? code.function->parameters : code.function->results;
  for (const Passed& passed : list) {
    const std::size_t inside = callee.local + code.local_offsets.at(&formal[passed.callee]);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (((lanes >> lane) & 1) == 0) continue;
      const std::size_t start = std::size_t{lane} * warp.local_capacity;
      std::uint8_t* const there = warp.local.data() + start + inside;
      std::uint8_t* const row =
          warp.file + caller.frame + passed.caller + lane * (passed.width == Width::row64 ? 8 : 4);
      const std::size_t here_at = start + caller.local + passed.caller;
      std::uint8_t* const here = passed.in_row ? row : warp.local.data() + here_at;
      const std::size_t most = passed.width == Width::row64 ? 8 : 4;
      const std::size_t bytes =
          passed.in_row ? std::min<std::size_t>({passed.bytes, formal[passed.callee].bytes, most}) : passed.bytes;
      if (to_callee) {
        std::memcpy(there, here, bytes);
      } else {
        std::memcpy(here, there, bytes);
      }
      if (!x.block->checks() || warp.local_written.empty()) continue;
      std::uint8_t* const flags = warp.local_written.data();
      if (to_callee) std::memset(flags + start + inside, 1, passed.bytes);
      if (!to_callee && !passed.in_row) std::memset(flags + here_at, 1, passed.bytes);
    }
  }
}

/// Lanes go back to where their function was called.
void give_back(Exec& x) {
  Warp& warp = *x.warp;
  LaneGroup& group = running(x);
  const std::uint32_t call = group.call;
  const CallFrame frame = warp.calls[call];
  const CallFrame caller = warp.calls[frame.parent];
  const Op& site = x.block->program().ops[frame.return_pc - 1];
  copy_values(x, x.block->program().calls[site.extra], caller, frame, x.mask, false);
  x.event = Event::flow;
  group.pc = x.pc;
  if (warp.split) {
    group.mask = x.active & ~x.mask;
    warp.groups.push_back(
        LaneGroup{frame.return_pc, no_place, x.mask, frame.parent, LaneGroup::Wait::none, 0, warp.turns});
    return;
  }
  for (auto entry = warp.groups.rbegin(); entry != warp.groups.rend() && entry->call == call; ++entry) {
    entry->mask &= ~x.mask;
  }
}

}  // namespace

void return_or_leave(Exec& x, const Op& op) {
  if (running(x).call == 0) return leave_kernel(x, op);
  give_back(x);
}

void end_of_function(Exec& x, const Op& op) {
  --x.block->tally().active_lanes[lanes_in(x.active)];  // no instruction of the kernel
  return_or_leave(x, op);
}

namespace {

/// Whether a function takes and gives what an indirect call passes; if not, says so.
bool fits_call(Exec& x, std::uint32_t lane, const Call& call, const Function& callee) {
  const auto same = [](const std::vector<Passed>& passed, const std::vector<Variable>& formal) {
    bool fits = passed.size() == formal.size();
    for (std::size_t i = 0; fits && i < passed.size(); ++i) {
      const bool in_row = passed[i].in_row && formal[i].bytes <= passed[i].bytes;
      fits = formal[i].space != Space::reg && (in_row || formal[i].bytes == passed[i].bytes);
    }
    return fits;
  };
  if (!callee.is_entry && !callee.is_declaration && same(call.arguments, callee.parameters) &&
      same(call.results, callee.results)) {
    return true;
  }
  x.block->fault(x, Fault::Kind::trap, lane,
                 fmt::format("an indirect call to {}, which has no body or takes other values", callee.name));
  return false;
}

/// The function that the first lane calls through an address. Lanes that call another one go to `others`.
std::uint32_t indirect_target(Exec& x, const Call& call, std::uint32_t& others) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(x.mask));
  const std::uint64_t* const address = row64(x, call.function);
  const std::uint64_t function = address[lane] - function_window;
  const auto& functions = x.block->program().module.functions;
  if (address[lane] < function_window || function >= functions.size()) {
    x.block->fault(x, Fault::Kind::trap, lane, fmt::format("0x{:x} is the address of no function", address[lane]),
                   address[lane]);
    return no_index;
  }
  if (!fits_call(x, lane, call, functions[function])) return no_index;
  for (std::uint32_t l = 0; l < 32; ++l) others |= (address[l] != address[lane] ? 1U : 0U) << l;
  others &= x.mask;
  if (others != 0) ++x.block->tally().divergent_branches;
  x.mask &= ~others;
  return static_cast<std::uint32_t>(function);
}

}  // namespace

void call_function(Exec& x, const Op& op) {
  const Call& call = x.block->program().calls[op.extra];
  if (call.target == Call::Target::print) return print_formatted(x, call);
  if (call.target == Call::Target::assertion) return report_assertion(x, call);
  Warp& warp = *x.warp;
  const std::uint32_t parent = running(x).call;
  const bool indirect = call.target == Call::Target::indirect;
  std::uint32_t others = 0;
  const std::uint32_t called = indirect ? indirect_target(x, call, others) : call.function;
  if (called == no_index) return;
  std::uint32_t index = 0;
  for (std::uint32_t i = 1; i < warp.calls.size() && index == 0; ++i) {
    const CallFrame& c = warp.calls[i];
    if (c.parent == parent && c.return_pc == x.pc && c.function == called) index = i;
  }
  const CallFrame caller = warp.calls[parent];
  const Code& caller_code = x.block->program().codes[caller.function];
  const Code& code = x.block->program().codes[called];
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(x.mask));
  if (index == 0) {
    CallFrame frame{
        parent,          x.pc, called, caller.frame + caller_code.frame_bytes, caller.local + caller_code.local_bytes,
        caller.depth + 1};
    const std::size_t file = std::size_t{frame.frame} + code.frame_bytes;
    if (frame.depth > deepest_call || warp.calls.size() >= most_calls || file > most_frame_file ||
        !x.block->grow_local(warp, frame.local + code.local_bytes)) {
      return x.block->fault(x, Fault::Kind::limit, lane,
                            fmt::format("calls nest {} deep and fill the stack; end the recursion", frame.depth));
    }
    if (file + 64 > warp.registers.size()) {
      std::vector<std::uint8_t> grown(std::max(file + 64, warp.registers.size() * 2));
      std::uint8_t* const start = grown.data() + (64 - reinterpret_cast<std::uintptr_t>(grown.data()) % 64) % 64;
      std::memcpy(start, warp.file, warp.registers.size() - 64);
      warp.registers = std::move(grown);
      warp.file = start;
    }
    index = static_cast<std::uint32_t>(warp.calls.size());
    warp.calls.push_back(frame);
  }
  x.block->fill_frame(warp, warp.calls[index], x.mask);
  if (!warp.local_written.empty()) {
    for (std::uint32_t l = 0; l < 32; ++l) {
      if (((x.mask >> l) & 1) == 0) continue;
      std::memset(warp.local_written.data() + std::size_t{l} * warp.local_capacity + warp.calls[index].local, 0,
                  code.local_bytes);
    }
  }
  copy_values(x, call, caller, warp.calls[index], x.mask, true);
  x.event = Event::flow;
  LaneGroup& from = running(x);
  from.pc = x.pc;
  if (warp.split) from.mask = x.active & ~x.mask & ~others;
  if (others != 0) {  // they come here again
    const std::uint32_t meet = warp.split ? no_place : x.pc;
    warp.groups.push_back(LaneGroup{x.at, meet, others, parent, LaneGroup::Wait::none, 0, warp.turns});
  }
  warp.groups.push_back(LaneGroup{code.first, no_place, x.mask, index, LaneGroup::Wait::none, 0, warp.turns});
}

void trap(Exec& x, const Op& /*op*/) {
  x.block->fault(x, Fault::Kind::trap, static_cast<std::uint32_t>(std::countr_zero(x.mask)),
                 "the kernel ran into trap");
}

void not_executed(Exec& x, const Op& /*op*/) {
  const OpStatic& op = x.block->program().statics[x.at];
  std::string name(op.instruction->opcode);
  for (const std::string_view word : op.instruction->modifiers) name += fmt::format(".{}", word);
  x.block->fault(x, Fault::Kind::unsupported, static_cast<std::uint32_t>(std::countr_zero(x.mask)),
                 fmt::format("{} is not executed{}{}", name, op.why_not.empty() ? "" : ": ", op.why_not));
}

void nothing(Exec& /*x*/, const Op& /*op*/) {}

void fence(Exec& x, const Op& /*op*/) {
  x.block->order();
}

void give_way(Exec& x, const Op& /*op*/) {
  if (x.warp->split) {
    running(x).pc = x.pc;
    x.event = Event::flow;
    return;
  }
  // A warp that sleeps alone lets the others run; one with lanes that wait may be waiting for those.
  x.event = Event::yield;
}

void read_clock(Exec& x, const Op& op) {
  const std::uint64_t clock = x.block->clock(x);
  const double hz = x.block->launch().device->clock_hz;
  const std::uint64_t value =
      op.extra == 1 ? static_cast<std::uint64_t>(static_cast<double>(clock) * 1e9 / (hz > 1 ? hz : 1e9)) : clock;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((x.mask >> lane) & 1) == 0) continue;
    if ((op.flags & access::wide_rows) != 0) {
      row64(x, op.d)[lane] = value;
    } else {
      row32(x, op.d)[lane] = static_cast<std::uint32_t>(value);
    }
  }
}

}  // namespace corridor::ptx
