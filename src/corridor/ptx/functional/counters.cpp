// SPDX-License-Identifier: Apache-2.0
// Sums of counters, and the names that Nsight Compute gives them. What it has no name for starts with "corridor__".
#include "corridor/ptx/functional/counters.h"

#include <algorithm>
#include <cstddef>

namespace corridor::ptx {
namespace {

constexpr std::size_t at(Type type) {
  return static_cast<std::size_t>(type);
}

template <class Array>
void add_each(Array& sum, const Array& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

void add_access(AccessCounters& sum, const AccessCounters& more) {
  sum.requests += more.requests;
  sum.sectors += more.sectors;
  sum.wavefronts += more.wavefronts;
  sum.ideal_wavefronts += more.ideal_wavefronts;
  sum.bytes += more.bytes;
}

void add_cache(CacheCounters& sum, const CacheCounters& more) {
  sum.l1_sectors += more.l1_sectors;
  sum.l1_hits += more.l1_hits;
  sum.l2_read_sectors += more.l2_read_sectors;
  sum.l2_read_hits += more.l2_read_hits;
  sum.l2_write_sectors += more.l2_write_sectors;
  sum.l2_atomic_sectors += more.l2_atomic_sectors;
  sum.dram_read_sectors += more.dram_read_sectors;
  sum.dram_write_sectors += more.dram_write_sectors;
}

using CounterList = std::vector<NamedCounter>;

void add(CounterList& out, std::string_view name, std::uint64_t value, std::string_view unit) {
  out.push_back({name, static_cast<double>(value), unit});
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void instructions(const Counters& c, CounterList& out) {
  add(out, "launch__grid_size", c.blocks, "block");
  add(out, "smsp__warps_launched.sum", c.warps, "warp");
  add(out, "smsp__inst_executed.sum", c.warp_instructions, "inst");
  add(out, "smsp__thread_inst_executed.sum", c.thread_instructions, "inst");
  add(out, "smsp__thread_inst_executed_pred_on.sum", c.thread_instructions_on, "inst");
  out.push_back({"smsp__thread_inst_executed_per_inst_executed.ratio",
                 share(c.thread_instructions, c.warp_instructions), "thread/inst"});
  out.push_back({"corridor__issue_slots_estimated", c.issue_slots, "inst"});
  add(out, "smsp__inst_executed_op_branch.sum", c.branches, "inst");
  add(out, "smsp__sass_branch_targets_threads_divergent.sum", c.divergent_branches, "branch");
  add(out, "corridor__barriers", c.barriers, "inst");
  add(out, "corridor__shuffles", c.shuffles, "inst");
  add(out, "corridor__votes", c.votes, "inst");
}

void pipes(const Counters& c, CounterList& out) {
  struct Named {
    Pipe pipe;
    std::string_view name;
  };
  constexpr Named all[] = {
      {Pipe::alu, "sm__inst_executed_pipe_alu.sum"},         {Pipe::fma, "sm__inst_executed_pipe_fma.sum"},
      {Pipe::fp16, "sm__inst_executed_pipe_fp16.sum"},       {Pipe::fp64, "sm__inst_executed_pipe_fp64.sum"},
      {Pipe::xu, "sm__inst_executed_pipe_xu.sum"},           {Pipe::lsu, "sm__inst_executed_pipe_lsu.sum"},
      {Pipe::tensor, "sm__inst_executed_pipe_tensor.sum"},   {Pipe::adu, "sm__inst_executed_pipe_adu.sum"},
      {Pipe::uniform, "sm__inst_executed_pipe_uniform.sum"}, {Pipe::tex, "sm__inst_executed_pipe_tex.sum"}};
  for (const Named& one : all) add(out, one.name, c.by_pipe[static_cast<std::size_t>(one.pipe)], "inst");
}

/// Thread operations; of the half-width pair, bf16 counts in its own line, which Nsight Compute does not show apart.
void operations(const Counters& c, CounterList& out) {
  const auto both = [](const std::array<std::uint64_t, 40>& of, Type one, Type pair) {
    return of[at(one)] + of[at(pair)];
  };
  add(out, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", both(c.fadd, Type::f32, Type::f32x2), "inst");
  add(out, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", both(c.fmul, Type::f32, Type::f32x2), "inst");
  add(out, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", both(c.ffma, Type::f32, Type::f32x2), "inst");
  add(out, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", c.fadd[at(Type::f64)], "inst");
  add(out, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", c.fmul[at(Type::f64)], "inst");
  add(out, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", c.ffma[at(Type::f64)], "inst");
  add(out, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", both(c.fadd, Type::f16, Type::f16x2), "inst");
  add(out, "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", both(c.fmul, Type::f16, Type::f16x2), "inst");
  add(out, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", both(c.ffma, Type::f16, Type::f16x2), "inst");
  add(out, "corridor__thread_bf16_add", both(c.fadd, Type::bf16, Type::bf16x2), "inst");
  add(out, "corridor__thread_bf16_mul", both(c.fmul, Type::bf16, Type::bf16x2), "inst");
  add(out, "corridor__thread_bf16_fma", both(c.ffma, Type::bf16, Type::bf16x2), "inst");
  add(out, "corridor__thread_special_function", c.special, "inst");
  std::uint64_t tensor = 0;
  for (const std::uint64_t of_type : c.tensor_flops) tensor += of_type;
  add(out, "corridor__tensor_flops", tensor, "FLOP");
  out.push_back({"corridor__flops", c.flops(), "FLOP"});
}

void global_and_local(const Counters& c, CounterList& out) {
  add(out, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", c.global_load.requests, "request");
  add(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", c.global_load.sectors, "sector");
  add(out, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", c.global_store.requests, "request");
  add(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", c.global_store.sectors, "sector");
  add(out, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", c.global_atomic.requests, "request");
  add(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", c.global_atomic.sectors, "sector");
  add(out, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", c.local_load.requests, "request");
  add(out, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", c.local_load.sectors, "sector");
  add(out, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", c.local_store.requests, "request");
  add(out, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", c.local_store.sectors, "sector");
  add(out, "corridor__global_load_bytes_asked", c.global_load.bytes, "byte");
  add(out, "corridor__global_store_bytes_asked", c.global_store.bytes, "byte");
  add(out, "l1tex__data_pipe_lsu_wavefronts_mem_lg.sum",
      c.global_load.wavefronts + c.global_store.wavefronts + c.global_atomic.wavefronts + c.local_load.wavefronts +
          c.local_store.wavefronts,
      "wavefront");
}

std::uint64_t conflicts(const AccessCounters& of) {
  return of.wavefronts - std::min(of.wavefronts, of.ideal_wavefronts);
}

void shared_memory(const Counters& c, CounterList& out) {
  add(out, "smsp__inst_executed_op_shared_ld.sum", c.shared_load.requests, "inst");
  add(out, "smsp__inst_executed_op_shared_st.sum", c.shared_store.requests, "inst");
  add(out, "smsp__inst_executed_op_shared_atom.sum", c.shared_atomic.requests, "inst");
  add(out, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", c.shared_load.wavefronts, "wavefront");
  add(out, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", c.shared_store.wavefronts, "wavefront");
  add(out, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", c.shared_atomic.wavefronts, "wavefront");
  add(out, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", conflicts(c.shared_load), "conflict");
  add(out, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", conflicts(c.shared_store), "conflict");
  add(out, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", conflicts(c.shared_atomic), "conflict");
}

void caches(const Counters& c, CounterList& out) {
  const CacheCounters& cache = c.cache;
  // Loads of global and local memory together; without local memory this is the global counter of Nsight Compute.
  add(out, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", cache.l1_hits, "sector");
  add(out, "lts__t_sectors_srcunit_tex_op_read.sum", cache.l2_read_sectors, "sector");
  add(out, "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", cache.l2_read_hits, "sector");
  add(out, "lts__t_sectors_srcunit_tex_op_write.sum", cache.l2_write_sectors, "sector");
  add(out, "lts__t_sectors_srcunit_tex_op_atom.sum", cache.l2_atomic_sectors, "sector");
  add(out, "dram__sectors_read.sum", cache.dram_read_sectors, "sector");
  add(out, "dram__sectors_write.sum", cache.dram_write_sectors, "sector");
  add(out, "dram__bytes_read.sum", cache.dram_read_sectors * sector_bytes, "byte");
  add(out, "dram__bytes_write.sum", cache.dram_write_sectors * sector_bytes, "byte");
}

}  // namespace

double Counters::flops(Type type) const {
  const std::size_t i = at(type);
  if (i >= fadd.size()) return 0;
  return static_cast<double>(fadd[i]) + static_cast<double>(fmul[i]) + 2 * static_cast<double>(ffma[i]);
}

double Counters::flops() const {
  double sum = 0;
  for (std::size_t i = 0; i < fadd.size(); ++i) {
    sum += flops(static_cast<Type>(i)) + static_cast<double>(tensor_flops[i]);
  }
  return sum;
}

void Counters::add(const Counters& other) {
  blocks += other.blocks;
  warps += other.warps;
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  thread_instructions_on += other.thread_instructions_on;
  issue_slots += other.issue_slots;
  add_each(active_lanes, other.active_lanes);
  add_each(by_pipe, other.by_pipe);
  add_each(fadd, other.fadd);
  add_each(fmul, other.fmul);
  add_each(ffma, other.ffma);
  add_each(tensor_flops, other.tensor_flops);
  special += other.special;
  branches += other.branches;
  divergent_branches += other.divergent_branches;
  barriers += other.barriers;
  shuffles += other.shuffles;
  votes += other.votes;
  for (const auto member :
       {&Counters::global_load, &Counters::global_store, &Counters::global_atomic, &Counters::local_load,
        &Counters::local_store, &Counters::shared_load, &Counters::shared_store, &Counters::shared_atomic}) {
    add_access(this->*member, other.*member);
  }
  add_cache(cache, other.cache);
}

std::vector<NamedCounter> named(const Counters& counters) {
  CounterList out;
  instructions(counters, out);
  pipes(counters, out);
  operations(counters, out);
  global_and_local(counters, out);
  shared_memory(counters, out);
  if (counters.cache.l1_sectors + counters.cache.l2_read_sectors + counters.cache.l2_write_sectors +
          counters.cache.l2_atomic_sectors >
      0) {
    caches(counters, out);
  }
  return out;
}

}  // namespace corridor::ptx
