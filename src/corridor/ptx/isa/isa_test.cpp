// SPDX-License-Identifier: Apache-2.0
// Control flow and liveness against naive versions of the same on random programs; the table of opcodes; static facts.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/ptx/isa/dominators.h"
#include "corridor/ptx/isa/flow.h"
#include "corridor/ptx/isa/lane_dependence.h"
#include "corridor/ptx/isa/op_table.h"
#include "corridor/ptx/isa/register_estimate.h"
#include "corridor/ptx/isa/static_facts.h"
#include "corridor/ptx/syntax/parse.h"

namespace corridor::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// Repeatable numbers below n.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }

 private:
  std::mt19937 engine_;
};

Module parsed(const std::string& text) {
  auto module = parse_module(".version 9.0\n.target sm_90\n.address_size 64\n" + text, "t.ptx");
  EXPECT_TRUE(module) << module.error().line();
  return module ? std::move(*module) : Module{};
}

Function kernel(const std::string& body) {
  Module module =
      parsed(".entry k(.param .u64 p) { .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n" + body + "}");
  // The views of the instructions point into the text, which must outlive the module.
  static std::vector<std::shared_ptr<const std::string>> texts;
  texts.push_back(module.text);
  return module.functions.empty() ? Function{} : std::move(module.functions[0]);
}

/// Nodes that no path from the root reaches without passing `without`.
std::vector<bool> reached_without(const Graph& graph, std::uint32_t root, std::uint32_t without) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::uint32_t> stack;
  if (root != without) stack.push_back(root);
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    for (const std::uint32_t next : graph[node]) {
      if (next != without && !seen[next]) stack.push_back(next);
    }
  }
  return seen;
}

/// The dominator of each node that every other dominator of it dominates: by taking nodes away, one at a time.
std::vector<std::uint32_t> naive_dominators(const Graph& graph, std::uint32_t root) {
  const std::size_t count = graph.size();
  std::vector<std::vector<bool>> dominates(count, std::vector<bool>(count, false));
  for (std::uint32_t d = 0; d < count; ++d) {
    const std::vector<bool> reached = reached_without(graph, root, d);
    for (std::uint32_t n = 0; n < count; ++n) dominates[d][n] = n != d && !reached[n];
  }
  std::vector<std::uint32_t> out(count, root);
  for (std::uint32_t n = 0; n < count; ++n) {
    for (std::uint32_t d = 0; d < count; ++d) {
      if (dominates[d][n] && (out[n] == root || dominates[out[n]][d])) out[n] = d;
    }
  }
  out[root] = root;
  return out;
}

TEST(Dominators, EqualTheNaiveOnesOnRandomGraphs) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t count = 2 + random.below(14);
    Graph graph(count);
    for (std::uint32_t n = 1; n < count; ++n) graph[random.below(n)].push_back(n);  // all can be reached
    for (std::uint32_t extra = random.below(2 * count); extra > 0; --extra) {
      graph[random.below(count)].push_back(random.below(count));  // loops into the middle too
    }
    EXPECT_EQ(immediate_dominators(graph, 0), naive_dominators(graph, 0)) << "round " << round;
  }
}

TEST(Flow, IfElseLoopAndExit) {
  const Function k = kernel(R"(
@%p1 bra Else;
add.s32 %r1, %r1, 1;
bra.uni Join;
Else: add.s32 %r1, %r1, 2;
Join: @%p2 exit;
Loop: add.s32 %r2, %r2, 1;
@%p3 bra Loop;
ret;
)");
  const Flow flow = flow_of(k);
  EXPECT_THAT(flow.reconvergence, ElementsAre(4, no_index, no_index, no_index, no_index, no_index, 7, no_index));
  ASSERT_THAT(flow.blocks, SizeIs(6));
  EXPECT_THAT(flow.blocks[3].successors, ElementsAre(4, exit_block));
  EXPECT_EQ(flow.immediate_post_dominator[3], exit_block);
  EXPECT_EQ(flow.immediate_post_dominator[0], 3U);
}

TEST(Flow, TablesIrreducibleAndEndlessLoops) {
  const Function table = kernel("t: .branchtargets A, B, A; brx.idx %r1, t; A: bra C; B: trap; C: ret;");
  const Flow of_table = flow_of(table);
  EXPECT_EQ(of_table.reconvergence[0], 3U);
  EXPECT_THAT(of_table.blocks[0].successors, ElementsAre(1, 2));
  const Function two_entries = kernel("@%p1 bra B; A: @%p2 bra End; B: @%p3 bra A; End: ret;");
  EXPECT_EQ(flow_of(two_entries).reconvergence[0], 3U);
  EXPECT_EQ(flow_of(two_entries).reconvergence[2], 3U);
  const Function endless = kernel("@%p1 bra B; A: bra A; B: bra B;");
  EXPECT_EQ(flow_of(endless).reconvergence[0], 3U);  // never: at the end
  EXPECT_THAT(flow_of(kernel("")).blocks, SizeIs(0));
}

/// Live words before each instruction, by iterating over all of them until nothing changes.
std::uint32_t naive_peak(const Function& k) {
  const std::size_t count = k.body.size();
  const Flow flow = flow_of(k);
  std::vector<std::vector<bool>> live(count + 1, std::vector<bool>(k.registers.size(), false));
  std::vector<std::vector<bool>> written_dead = live;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = count; i-- > 0;) {
      std::vector<bool> after(k.registers.size(), false);
      const BasicBlock& block = flow.blocks[flow.block_of[i]];
      const auto merge = [&](std::size_t from) {
        for (std::size_t r = 0; r < after.size(); ++r) after[r] = after[r] || live[from][r];
      };
      if (i + 1 < block.last) {
        merge(i + 1);
      } else {
        for (const std::uint32_t next : block.successors) {
          if (next != exit_block) merge(flow.blocks[next].first);
        }
      }
      const bool is_certain = k.body[i].guard == no_index;
      each_register(k.body[i], [&](std::uint32_t r, bool is_write) {
        if (is_write) written_dead[i + 1][r] = !after[r];
      });
      each_register(k.body[i], [&](std::uint32_t r, bool is_write) {
        if (is_write && is_certain) after[r] = false;
      });
      each_register(k.body[i], [&](std::uint32_t r, bool is_write) {
        if (!is_write) after[r] = true;
      });
      changed = changed || after != live[i];
      live[i] = after;
    }
  }
  std::uint32_t most = 0;
  for (std::size_t i = 0; i <= count; ++i) {
    std::uint32_t words = 0;
    for (std::size_t r = 0; r < k.registers.size(); ++r) {
      const auto width = static_cast<std::uint32_t>(bytes_of(k.registers[r].type) / 4);
      // A value live here at the end of one block may be another's dead write; count it once.
      if (live[i][r] || written_dead[i][r]) words += width;
    }
    most = std::max(most, words);
  }
  return most;
}

std::string random_body(Random& random, std::uint32_t count) {
  const auto pick = [&](std::uint32_t n) { return std::to_string(random.below(n)); };
  std::string body;
  for (std::uint32_t i = 0; i < count; ++i) {
    body += "L" + std::to_string(i) + ": ";
    if (random.below(5) == 0) body += "@%p" + pick(3) + " ";
    const std::uint32_t kind = random.below(8);
    if (kind == 0) {
      body += "bra L" + pick(count) + ";\n";
    } else if (kind == 1) {
      body += "ld.global.b32 %r" + pick(6) + ", [%d" + pick(4) + "];\n";
    } else if (kind == 2) {
      body += "st.global.b32 [%d" + pick(4) + "], %r" + pick(6) + ";\n";
    } else if (kind == 3) {
      body += "mad.wide.s32 %d" + pick(4) + ", %r" + pick(6) + ", 4, %d" + pick(4) + ";\n";
    } else if (kind == 4) {
      body += "setp.lt.s32 %p" + pick(3) + ", %r" + pick(6) + ", 1;\n";
    } else {
      body += "add.s32 %r" + pick(6) + ", %r" + pick(6) + ", %r" + pick(6) + ";\n";
    }
  }
  return body;
}

TEST(Liveness, EqualsTheNaiveOneOnRandomPrograms) {
  EXPECT_EQ(live_registers(kernel("mov.b64 %d1, 1; add.s32 %r1, %r2, %r3; st.b32 [%d1], %r1;"),
                           flow_of(kernel("mov.b64 %d1, 1; add.s32 %r1, %r2, %r3; st.b32 [%d1], %r1;"))),
            4U);
  Random random(11);
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    const Function k = kernel(random_body(random, 3 + random.below(14)));
    if (k.body.empty()) continue;
    EXPECT_EQ(live_registers(k, flow_of(k)), naive_peak(k)) << "round " << round;
    ++compared;
  }
  EXPECT_GT(compared, 190);
}

TEST(OpTable, IsSortedAndRefusalsHaveReasons) {
  const auto rows = op_table();
  EXPECT_TRUE(
      std::is_sorted(rows.begin(), rows.end(), [](const OpRow& a, const OpRow& b) { return a.opcode < b.opcode; }));
  for (const OpRow& row : rows) {
    EXPECT_EQ(row.tier == 0, !row.why_not.empty()) << row.opcode;
    EXPECT_GE(row.slots, 0) << row.opcode;
  }
  EXPECT_EQ(op_row("no_such_opcode"), nullptr);
}

OpInfo info(const std::string& text) {
  const Function k = kernel(text);
  return k.body.empty() ? OpInfo{} : info_of(k.body[0]);
}

TEST(OpInfo, WorkOfOneInstruction) {
  EXPECT_EQ(info("fma.rn.ftz.f32 %r1, %r1, %r1, %r1;").work.flops, 2U);
  EXPECT_EQ(info("fma.rn.f16x2 %r1, %r1, %r1, %r1;").work.flops, 4U);
  EXPECT_EQ(info("fma.rn.f16x2 %r1, %r1, %r1, %r1;").pipe, Pipe::fp16);
  EXPECT_EQ(info("add.f64 %d1, %d1, %d1;").pipe, Pipe::fp64);
  EXPECT_EQ(info("add.f64 %d1, %d1, %d1;").work.flops, 1U);
  EXPECT_EQ(info("add.s32 %r1, %r1, 1;").work.flops, 0U);
  EXPECT_EQ(info("add.s64 %d1, %d1, 1;").issue_slots, 2);
  EXPECT_EQ(info("ex2.approx.ftz.f32 %r1, %r1;").work.kind, Work::Kind::special);
  EXPECT_EQ(info("ex2.approx.ftz.f32 %r1, %r1;").pipe, Pipe::xu);
  EXPECT_EQ(info("mad.lo.s32 %r1, %r1, %r1, %r1;").work.flops, 0U);
  const OpInfo mma = info("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1}, {%r1}, {%r1}, {%r1};");
  EXPECT_EQ(mma.work.flops, 2U * 16 * 8 * 16);
  EXPECT_EQ(mma.work.type, Type::bf16);
  EXPECT_EQ(mma.pipe, Pipe::tensor);
  EXPECT_EQ(info("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r1}, {%r1}, {%r1}, {%r1};").work.type, Type::f16);
  EXPECT_EQ(info("cvt.rn.f16.f32 %r1, %r1;").pipe, Pipe::alu);
  EXPECT_EQ(info("cvt.rn.f32.s32 %r1, %r1;").pipe, Pipe::xu);
  EXPECT_EQ(info("cvt.u64.u32 %d1, %r1;").pipe, Pipe::alu);
  EXPECT_EQ(info("cp.async.cg.shared.global [%r1], [%d1], 16;").tier, 3);
  EXPECT_EQ(info("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2];").tier, 3);
  EXPECT_EQ(info("frobnicate.f32 %r1;").tier, 0);
  EXPECT_FALSE(info("frobnicate.f32 %r1;").why_not.empty());
}

TEST(OpInfo, WhatIsWritten) {
  const auto written = [](const std::string& text) {
    const Function k = kernel(text);
    std::vector<std::string> names;
    each_register(k.body.at(0), [&](std::uint32_t reg, bool is_write) {
      if (is_write) names.push_back(k.registers.at(reg).name);
    });
    return names;
  };
  EXPECT_THAT(written("setp.lt.s32 %p1|%p2, %r1, %r2;"), ElementsAre("%p1", "%p2"));
  EXPECT_THAT(written("ld.v2.b32 {%r1, %r2}, [%d1];"), ElementsAre("%r1", "%r2"));
  EXPECT_THAT(written("st.v2.b32 [%d1], {%r1, %r2};"), SizeIs(0));
  EXPECT_THAT(written("red.global.add.u32 [%d1], %r1;"), SizeIs(0));
  EXPECT_THAT(written("atom.global.add.u32 %r2, [%d1], %r1;"), ElementsAre("%r2"));
  EXPECT_THAT(written("bar.red.popc.u32 %r1, 0, %p1;"), ElementsAre("%r1"));
  EXPECT_THAT(written("bar.sync %r1, %r2;"), SizeIs(0));
  EXPECT_THAT(written("mbarrier.arrive.shared.b64 %d1, [%r1];"), ElementsAre("%d1"));
  EXPECT_THAT(written("mbarrier.init.shared.b64 [%r1], 1;"), SizeIs(0));
  EXPECT_THAT(written("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d1], {%r1};"), SizeIs(0));
  EXPECT_THAT(written("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;"), ElementsAre("%r1", "%p1"));
}

TEST(StaticFacts, OfAKernel) {
  const Module module = parsed(R"(
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b8 table[100];
.shared .align 4 .b8 unused[4096];
.func helper() { .shared .align 16 .b8 scratch[32]; .reg .b64 %d; mov.u64 %d, table; ret; }
.visible .entry k(.param .u64 a, .param .b32 n, .param .u64 b)
.maxntid 128
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<4>;
.local .align 8 .b8 stack[40];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
ld.param.b32 %r3, [n];
setp.lt.s32 %p1, %r2, %r3;
@%p1 bra Uniform;
mad.lo.s32 %r4, %r2, 128, %r1;
setp.ge.s32 %p2, %r4, %r3;
@%p2 bra End;
Uniform: ld.global.v4.f32 {%f1, %f2, %f3, %f1}, [%d1];
fma.rn.f32 %f1, %f1, %f2, %f3;
bar.sync 0;
bar.warp.sync -1;
st.shared.f32 [dynamic+4], %f1;
call.uni helper;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
End: ret;
})");
  const StaticFacts facts = static_facts(module, *module.find("k"));
  EXPECT_EQ(facts.parameter_bytes, 24U);
  EXPECT_EQ(facts.local_bytes, 40U);
  EXPECT_EQ(facts.static_shared_bytes, 32U + 100U);
  EXPECT_TRUE(facts.uses_dynamic_shared);
  EXPECT_EQ(facts.instructions, 16U);
  EXPECT_EQ(facts.by_opcode.at("setp"), 2U);
  EXPECT_EQ(facts.barriers, 1U);
  EXPECT_EQ(facts.branches, 2U);
  EXPECT_EQ(facts.may_diverge, 1U);
  EXPECT_EQ(facts.flops, 2U);
  EXPECT_EQ(facts.global_bytes, 16U);
  EXPECT_EQ(facts.max_threads, 128U);
  ASSERT_THAT(facts.refused, SizeIs(1));
  EXPECT_EQ(facts.refused[0].line, 28U);
  EXPECT_EQ(facts.refused[0].instruction, "tcgen05.dealloc.cta_group::1.sync.aligned.b32");
  EXPECT_EQ(facts.by_tier[0], 1U);
}

TEST(StaticFacts, RegisterEstimateKeepsToTheLimits) {
  Function function;
  EXPECT_GE(estimated_registers(0, function), 16U);
  EXPECT_EQ(estimated_registers(5000, function), 255U);
  function.max_registers = 40;
  EXPECT_EQ(estimated_registers(5000, function), 40U);
  function.max_registers.reset();
  function.max_threads = 1024;
  EXPECT_EQ(estimated_registers(5000, function), 64U);
  function.min_blocks_per_sm = 2;
  EXPECT_EQ(estimated_registers(5000, function), 32U);
}

}  // namespace
}  // namespace corridor::ptx
