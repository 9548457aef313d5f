// SPDX-License-Identifier: Apache-2.0
// Starts a block and lets its warps run in turn.
#include "corridor/ptx/functional/block_run.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"

namespace corridor::ptx {
namespace {

constexpr std::uint64_t turn_budget = 1U << 11;  // instructions of one warp before the next one runs
constexpr std::uint32_t stuck_polls = 256;       // of a barrier object that does not change: no limit but a deadlock
constexpr std::uint32_t most_local_bytes = 512U << 10;

Dim3 place(std::uint64_t index, const Dim3& extent) {
  Dim3 out;
  out.x = static_cast<std::uint32_t>(index % extent.x);
  out.y = static_cast<std::uint32_t>(index / extent.x % extent.y);
  out.z = static_cast<std::uint32_t>(index / extent.x / extent.y);
  return out;
}

void write_constant(std::uint8_t* frame, const FrameConstant& c, std::uint64_t value, std::uint32_t lanes) {
  if (lanes == all_lanes) {
    if (c.width == Width::row64) {
      std::fill_n(reinterpret_cast<std::uint64_t*>(frame + c.slot), 32, value);
    } else {
      std::fill_n(reinterpret_cast<std::uint32_t*>(frame + c.slot), 32, static_cast<std::uint32_t>(value));
    }
    return;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((lanes >> lane) & 1) == 0) continue;
    if (c.width == Width::row64) {
      std::memcpy(frame + c.slot + 8 * lane, &value, 8);
    } else {
      std::memcpy(frame + c.slot + 4 * lane, &value, 4);
    }
  }
}

}  // namespace

BlockRun::BlockRun(const LaunchState& launch, Tally& tally) : launch_(launch), tally_(tally), warps_(launch.warps) {
  shared_.resize(launch.shared_bytes + 16);
  const std::size_t words = launch.options->check ? launch.shared_bytes / 4 + 1 : 0;
  writer_.resize(words);
  reader_.resize(words);
  shared_written_.resize(words);
  shared_words_ = {shared_.data(), launch.shared_bytes, nullptr, nullptr, nullptr, 0};
  if (words != 0) {
    shared_words_.writer = writer_.data();
    shared_words_.reader = reader_.data();
    shared_words_.written = shared_written_.data();
  }
  for (std::uint32_t i = 0; i < launch.warps; ++i) warps_[i].index = i;
}

void BlockRun::start(std::uint64_t index, AccessLog* log, std::vector<WarpTrace>* traces) {
  index_ = index;
  log_ = log;
  block_ = place(index, launch_.launch->grid);
  instructions_ = 0;
  next_warp_ = 0;
  live_warps_ = launch_.warps;
  stopped_ = false;
  faults.clear();
  printed.clear();
  failed_wait = {};
  std::fill(shared_.begin(), shared_.end(), std::uint8_t{0});
  std::fill(shared_written_.begin(), shared_written_.end(), std::uint8_t{0});
  ++epoch_;
  if (epoch_ >= 1U << 24) epoch_ = 1U << 24;
  order();
  for (Barrier& barrier : barriers_) barrier = {};
  if (traces != nullptr) traces->assign(launch_.warps, {});
  for (Warp& warp : warps_) {
    start_warp(warp);
    warp.trace = traces == nullptr ? nullptr : &(*traces)[warp.index];
    if (warp.trace != nullptr) {
      warp.trace->block = static_cast<std::uint32_t>(index);
      warp.trace->warp = warp.index;
    }
  }
  constants_filled_ = true;
}

void BlockRun::start_warp(Warp& warp) {
  const Code& code = program().codes[launch_.kernel];
  const auto threads = static_cast<std::uint32_t>(launch_.launch->block.count());
  const std::uint32_t lanes = std::min(32U, threads - warp.index * 32);
  warp.state = Warp::State::ready;
  warp.alive = lanes == 32 ? all_lanes : (1U << lanes) - 1;
  warp.split = false;
  warp.groups.assign(1, LaneGroup{code.first, no_place, warp.alive, 0, LaneGroup::Wait::none, 0, 0});
  warp.calls.assign(1, CallFrame{no_place, no_place, launch_.kernel, 0, 0, 0});
  warp.spin_pc = no_place;
  warp.spin_count = warp.spin_yields = 0;
  warp.since_change = warp.turns = 0;
  warp.copies.clear();
  warp.arrivals.clear();
  warp.bulk_copies.clear();
  warp.committed = warp.copies_done = 0;
  warp.barrier_slot = no_place;
  if (warp.file == nullptr || !constants_filled_) {
    warp.registers.resize(code.frame_bytes + 64);
    auto* const data = warp.registers.data();
    warp.file = data + (64 - reinterpret_cast<std::uintptr_t>(data) % 64) % 64;
    fill_frame(warp, warp.calls[0], all_lanes);
  } else {
    fill_specials(warp, code, 0, all_lanes, false);
    for (const ClearedSlot& c : code.cleared) std::memset(warp.file + c.slot, 0, c.bytes);
  }
  warp.local_capacity = std::max(warp.local_capacity, code.local_bytes);
  warp.local.resize(std::size_t{warp.local_capacity} * 32);
  std::fill(warp.local.begin(), warp.local.end(), std::uint8_t{0});
  if (checks()) warp.local_written.assign(std::size_t{warp.local_capacity} * 32, 0);
}

bool BlockRun::grow_local(Warp& warp, std::uint32_t bytes) {
  if (bytes > most_local_bytes) return false;
  if (bytes <= warp.local_capacity) return true;
  const std::uint32_t capacity = std::min(most_local_bytes, std::max(bytes, 2 * warp.local_capacity));
  std::vector<std::uint8_t> local(std::size_t{capacity} * 32), written(checks() ? local.size() : 0);
  for (std::size_t lane = 0; lane < 32 && warp.local_capacity > 0; ++lane) {
    std::memcpy(&local[lane * capacity], &warp.local[lane * warp.local_capacity], warp.local_capacity);
    if (checks()) {
      std::memcpy(&written[lane * capacity], &warp.local_written[lane * warp.local_capacity], warp.local_capacity);
    }
  }
  warp.local = std::move(local);
  warp.local_written = std::move(written);
  warp.local_capacity = capacity;
  return true;
}

void BlockRun::fill_frame(Warp& warp, const CallFrame& frame, std::uint32_t lanes) {
  const Code& code = program().codes[frame.function];
  std::uint8_t* const base = warp.file + frame.frame;
  const auto set = [&](std::uint32_t slot, std::uint32_t value) {
    std::uint32_t old = 0;
    std::memcpy(&old, base + slot, 4);
    old = (old & ~lanes) | (value & lanes);
    std::memcpy(base + slot, &old, 4);
  };
  set(always_slot, all_lanes);
  set(never_slot, 0);
  set(carry_slot, 0);
  for (const FrameConstant& c : code.constants) {
    if (c.kind == FrameConstant::Kind::special) continue;
    std::uint64_t value = c.value;
    if (c.kind == FrameConstant::Kind::variable) {
      const auto local = code.local_offsets.find(c.variable);
      if (local != code.local_offsets.end()) {
        value += frame.local + local->second;
      } else if (const auto found = launch_.addresses.find(c.variable); found != launch_.addresses.end()) {
        value += found->second;
      }
    }
    write_constant(base, c, value, lanes);
  }
  fill_specials(warp, code, frame.frame, lanes, true);
  for (const ClearedSlot& c : code.cleared) {
    if (c.bytes == 4) {
      set(c.slot, 0);
      continue;
    }
    const std::uint32_t bytes = c.bytes / 32;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (((lanes >> lane) & 1) != 0) std::memset(base + c.slot + lane * bytes, 0, bytes);
    }
  }
}

void BlockRun::fill_specials(Warp& warp, const Code& code, std::uint32_t base, std::uint32_t lanes, bool all) {
  const Dim3& block = launch_.launch->block;
  const Dim3& grid = launch_.launch->grid;
  const auto sm_count = std::max(1U, launch_.device->memory.sm_count);
  for (const FrameConstant& c : code.constants) {
    if (c.kind != FrameConstant::Kind::special) continue;
    const bool changes = c.special == Special::ctaid_x || c.special == Special::ctaid_y ||
                         c.special == Special::ctaid_z || c.special == Special::smid;
    if (!all && !changes) continue;
    if (changes) {  // the same for all lanes
      const std::uint64_t v = c.special == Special::ctaid_x   ? block_.x
                              : c.special == Special::ctaid_y ? block_.y
                              : c.special == Special::ctaid_z ? block_.z
                                                              : index_ % sm_count;
      write_constant(warp.file + base, c, v, lanes);
      continue;
    }
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (((lanes >> lane) & 1) == 0) continue;
      const std::uint64_t thread = warp.index * 32 + lane;
      const std::uint32_t bit = 1U << lane;
      std::uint64_t v = 0;
      switch (c.special) {
        case Special::tid_x:
          v = thread % block.x;
          break;
        case Special::tid_y:
          v = thread / block.x % block.y;
          break;
        case Special::tid_z:
          v = thread / block.x / block.y;
          break;
        case Special::ntid_x:
          v = block.x;
          break;
        case Special::ntid_y:
          v = block.y;
          break;
        case Special::ntid_z:
          v = block.z;
          break;
        case Special::nctaid_x:
          v = grid.x;
          break;
        case Special::nctaid_y:
          v = grid.y;
          break;
        case Special::nctaid_z:
          v = grid.z;
          break;
        case Special::laneid:
          v = lane;
          break;
        case Special::warpid:
          v = warp.index;
          break;
        case Special::nwarpid:
          v = launch_.device->warp_slots;
          break;
        case Special::nsmid:
          v = sm_count;
          break;
        case Special::lanemask_eq:
          v = bit;
          break;
        case Special::lanemask_lt:
          v = bit - 1;
          break;
        case Special::lanemask_le:
          v = (bit - 1) | bit;
          break;
        case Special::lanemask_gt:
          v = ~((bit - 1) | bit);
          break;
        case Special::lanemask_ge:
          v = ~(bit - 1);
          break;
        case Special::dynamic_shared:
          v = launch_.launch->dynamic_shared_bytes;
          break;
        case Special::total_shared:
          v = launch_.shared_bytes;
          break;
        case Special::one:
          v = 1;
          break;
        default:
          break;
      }
      write_constant(warp.file + base, c, v & (c.width == Width::row64 ? ~std::uint64_t{0} : 0xFFFFFFFF), 1U << lane);
    }
  }
}

BlockRun::Outcome BlockRun::run(std::uint64_t budget) {
  const std::uint64_t end = instructions_ + budget;
  std::uint32_t idle = 0, spinning = 0;  // warps in a row that could not run, or only waited in a loop
  while (!stopped_) {
    if (live_warps_ == 0) return Outcome::finished;
    Warp& warp = warps_[next_warp_];
    next_warp_ = next_warp_ + 1 == warps_.size() ? 0 : next_warp_ + 1;
    if (warp.state != Warp::State::ready) {
      if (++idle > warps_.size()) {
        deadlock();
        break;
      }
      continue;
    }
    idle = 0;
    const Turn turn = run_warp(warp, turn_budget);
    if (turn == Turn::stopped) break;
    spinning = turn == Turn::spins ? spinning + 1 : 0;
    if (spinning > 2 * warps_.size()) return Outcome::waiting;
    const bool log_full = log_ != nullptr && log_->sectors.size() + log_->entries.size() > log_limit;
    if ((instructions_ >= end || log_full) && live_warps_ > 0) return Outcome::paused;
  }
  stopped_ = true;
  return Outcome::stopped;
}

void BlockRun::deadlock() {
  for (const Warp& warp : warps_) {
    if (warp.state != Warp::State::barrier) continue;
    Exec x;
    x.at = warp.barrier_pc;
    x.mask = warp.alive;
    x.warp = const_cast<Warp*>(&warp);
    x.block = this;
    const auto waiting =
        std::count_if(warps_.begin(), warps_.end(), [&](const Warp& w) { return w.state == Warp::State::barrier; });
    fault(x, Fault::Kind::deadlock, static_cast<std::uint32_t>(std::countr_zero(warp.alive)),
          fmt::format("{} warps wait at barriers that no other warp reaches (barrier {} here)", waiting, warp.barrier));
    return;
  }
}

void BlockRun::give_up(Fault::Kind kind, const std::string& why) {
  if (report_failed_wait(kind == Fault::Kind::deadlock ? 1 : stuck_polls)) return;
  for (Warp& warp : warps_) {
    if (warp.state == Warp::State::done || warp.groups.empty()) continue;
    Exec x;
    x.at = warp.groups.back().pc;
    x.warp = &warp;
    return fault(x, kind, static_cast<std::uint32_t>(std::countr_zero(warp.alive)), why);
  }
}

void BlockRun::fault(Exec& x, Fault::Kind kind, std::uint32_t lane, const std::string& what, std::uint64_t address,
                     const std::string& allocation) {
  const OpStatic& op = program().statics[x.at];
  const bool goes_on =
      kind == Fault::Kind::uninitialised || kind == Fault::Kind::race || kind == Fault::Kind::dead_lane;
  if (!goes_on) {
    x.event = Event::stop;
    stopped_ = true;
  }
  const std::uint32_t line = op.instruction == nullptr ? 0 : op.instruction->line;
  for (Fault& f : faults) {
    if (f.kind != kind || f.line != line) continue;
    ++f.count;
    return;
  }
  Fault f;
  f.kind = kind;
  f.kernel = launch_.launch->kernel;
  f.line = line;
  if (op.instruction != nullptr) f.source = op.instruction->source;
  f.block = block_;
  f.thread = place(std::uint64_t{x.warp->index} * 32 + (lane & 31), launch_.launch->block);
  f.address = address;
  f.allocation = allocation;
  f.message =
      fmt::format("{}:{}: {}: {} (kernel {}, block {},{},{}, thread {},{},{})", program().module.name, line,
                  name_of(kind), what, f.kernel, f.block.x, f.block.y, f.block.z, f.thread.x, f.thread.y, f.thread.z);
  faults.push_back(std::move(f));
}

}  // namespace corridor::ptx
