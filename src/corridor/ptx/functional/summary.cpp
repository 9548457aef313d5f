// SPDX-License-Identifier: Apache-2.0
// Counters of a run, by kind and by line.
#include "corridor/ptx/functional/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace corridor::ptx {
namespace {

void add_access(AccessCounters& to, const AccessCounters& from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
  to.wavefronts += from.wavefronts;
  to.ideal_wavefronts += from.ideal_wavefronts;
  to.bytes += from.bytes;
}

void add_plain(AccessCounters& to, std::uint64_t accesses) {
  constexpr std::uint64_t bytes = 32 * 4;
  add_access(to, {accesses, 0, accesses, accesses, accesses * bytes});
}

/// The counts of one instruction after the other, of all workers together.
struct OpSum {
  std::uint64_t warps = 0, lanes_with_off = 0;  ///< running sums
  std::uint64_t lanes = 0, sectors = 0, wavefronts = 0, conflicts = 0, plain = 0;

  void next(std::span<const Tally> tallies, std::size_t i) {
    std::uint64_t off = 0;
    sectors = wavefronts = conflicts = plain = 0;
    for (const Tally& t : tallies) {
      const OpCount& op = t.ops[i];
      warps += op.warps_change;
      lanes_with_off += op.lanes_change;
      off += op.lanes_off;
      sectors += op.sectors;
      wavefronts += op.wavefronts + op.plain;
      conflicts += op.conflicts;
      plain += op.plain;
    }
    lanes = lanes_with_off - off;
  }
};

void add_work(Counters& c, const Work& work, std::uint64_t warps, std::uint64_t lanes) {
  const auto type = static_cast<std::size_t>(work.type);
  if (type >= c.fadd.size()) return;
  switch (work.kind) {
    case Work::Kind::add:
      c.fadd[type] += lanes * work.flops;
      break;
    case Work::Kind::mul:
      c.fmul[type] += lanes * work.flops;
      break;
    case Work::Kind::fma:
      c.ffma[type] += lanes * work.flops / 2;
      break;
    case Work::Kind::special:
      c.special += lanes;
      break;
    case Work::Kind::tensor:
      c.tensor_flops[type] += warps * work.flops;
      break;
    case Work::Kind::none:
      break;
  }
}

void add_kind(Counters& c, const Instruction& instruction, std::uint64_t warps) {
  const std::string_view op = instruction.opcode;
  const auto has = [&](std::string_view word) {
    return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), word) != instruction.modifiers.end();
  };
  if (op == "bra" || op == "brx") c.branches += warps;
  if ((op == "bar" || op == "barrier") && !has("warp")) c.barriers += warps;
  if (op == "shfl") c.shuffles += warps;
  if (op == "vote") c.votes += warps;
}

double flops_of(const Work& work, std::uint64_t warps, std::uint64_t lanes) {
  return static_cast<double>(work.flops) * static_cast<double>(work.kind == Work::Kind::tensor ? warps : lanes);
}

void times(std::uint64_t& value, double factor) {
  value = static_cast<std::uint64_t>(std::llround(static_cast<double>(value) * factor));
}
void times(AccessCounters& c, double factor) {
  for (std::uint64_t* v : {&c.requests, &c.sectors, &c.wavefronts, &c.ideal_wavefronts, &c.bytes}) times(*v, factor);
}

}  // namespace

void summarise(const LaunchState& launch, std::span<const Tally> tallies, const CacheCounters* caches,
               RunResult& result) {
  Counters& c = result.counters;
  const Program::State& program = *launch.program;
  c.blocks = result.blocks_run;
  c.warps = c.blocks * launch.warps;
  for (const Tally& t : tallies) {
    c.divergent_branches += t.divergent_branches;
    add_access(c.global_load, t.global_load);
    add_access(c.global_store, t.global_store);
    add_access(c.global_atomic, t.global_atomic);
    add_access(c.local_load, t.local_load);
    add_access(c.local_store, t.local_store);
    add_access(c.shared_load, t.shared_load);
    add_access(c.shared_store, t.shared_store);
    add_access(c.shared_atomic, t.shared_atomic);
    for (std::size_t lanes = 0; lanes <= 32; ++lanes) {
      c.active_lanes[lanes] += t.active_lanes[lanes];
      c.thread_instructions += lanes * t.active_lanes[lanes];
    }
  }
  std::map<std::uint32_t, LineCounters> lines;
  OpSum sum;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const OpStatic& op = program.statics[i];
    sum.next(tallies, i);
    if (op.instruction == nullptr || sum.warps == 0) continue;
    c.warp_instructions += sum.warps;
    c.thread_instructions_on += sum.lanes;
    c.issue_slots += op.info.issue_slots * static_cast<double>(sum.warps);
    c.by_pipe[static_cast<std::size_t>(op.info.pipe)] += sum.warps;
    add_work(c, op.info.work, sum.warps, sum.lanes);
    add_kind(c, *op.instruction, sum.warps);
    if (sum.plain != 0) add_plain(op.instruction->opcode == "ld" ? c.shared_load : c.shared_store, sum.plain);
    LineCounters& line = lines[op.instruction->line];
    line.line = op.instruction->line;
    line.source = op.instruction->source;
    line.warp_instructions += sum.warps;
    line.thread_instructions_on += sum.lanes;
    line.sectors += sum.sectors;
    line.wavefronts += sum.wavefronts;
    line.conflicts += sum.conflicts;
    line.flops += flops_of(op.info.work, sum.warps, sum.lanes);
  }
  for (const auto& [number, line] : lines) result.lines.push_back(line);
  if (caches != nullptr) c.cache = *caches;
}

void scale(RunResult& result, double factor, std::uint64_t touched) {
  Counters& c = result.counters;
  for (std::uint64_t* v : {&c.blocks, &c.warps, &c.warp_instructions, &c.thread_instructions, &c.thread_instructions_on,
                           &c.special, &c.branches, &c.divergent_branches, &c.barriers, &c.shuffles, &c.votes}) {
    times(*v, factor);
  }
  c.issue_slots *= factor;
  for (auto* array : {&c.fadd, &c.fmul, &c.ffma, &c.tensor_flops}) {
    for (std::uint64_t& v : *array) times(v, factor);
  }
  for (std::uint64_t& v : c.active_lanes) times(v, factor);
  for (std::uint64_t& v : c.by_pipe) times(v, factor);
  for (AccessCounters* a : {&c.global_load, &c.global_store, &c.global_atomic, &c.local_load, &c.local_store,
                            &c.shared_load, &c.shared_store, &c.shared_atomic}) {
    times(*a, factor);
  }
  const CacheCounters& k = c.cache;
  if (touched > 0) {
    // Each access of L2 moves a sector to or from DRAM at most once, an atomic one both ways.
    SectorBounds l2{touched, k.l2_read_sectors + k.l2_write_sectors + k.l2_atomic_sectors};
    SectorBounds dram{touched, l2.most + k.l2_atomic_sectors};
    times(l2.most, factor);
    times(dram.most, factor);
    result.l2_sectors = l2;
    result.dram_sectors = dram;
  }
  c.cache = {};
  for (LineCounters& line : result.lines) {
    for (std::uint64_t* v :
         {&line.warp_instructions, &line.thread_instructions_on, &line.sectors, &line.wavefronts, &line.conflicts}) {
      times(*v, factor);
    }
    line.flops *= factor;
  }
}

void add_faults(std::vector<Fault>& to, std::vector<Fault>& from) {
  for (Fault& fault : from) {
    const auto same = std::find_if(to.begin(), to.end(),
                                   [&](const Fault& f) { return f.kind == fault.kind && f.line == fault.line; });
    if (same != to.end()) {
      same->count += fault.count;
    } else {
      to.push_back(std::move(fault));
    }
  }
}

std::string_view name_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::out_of_bounds:
      return "out of bounds";
    case Fault::Kind::misaligned:
      return "misaligned";
    case Fault::Kind::uninitialised:
      return "uninitialised";
    case Fault::Kind::race:
      return "race";
    case Fault::Kind::divergent_barrier:
      return "divergent barrier";
    case Fault::Kind::dead_lane:
      return "dead lane";
    case Fault::Kind::trap:
      return "trap";
    case Fault::Kind::deadlock:
      return "deadlock";
    case Fault::Kind::limit:
      return "limit";
    case Fault::Kind::unsupported:
      return "unsupported";
  }
  return "fault";
}

}  // namespace corridor::ptx
