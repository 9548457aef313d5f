// SPDX-License-Identifier: Apache-2.0
// The parser reads every construct of PTX that compilers write, and says what it read.
#include "corridor/ptx/syntax/parse.h"

#include <cstring>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string head = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n";

Module parsed(const std::string& text) {
  auto module = parse_module(head + text, "t.ptx");
  EXPECT_TRUE(module) << module.error().line();
  return module ? std::move(*module) : Module{};
}

/// A kernel with the registers most tests use.
Module kernel(const std::string& body) {
  return parsed(
      ".visible .entry k(.param .u64 p, .param .b32 n)\n{\n.reg .pred %p<5>;\n.reg .b32 %r<10>;\n"
      ".reg .f32 %f<10>;\n.reg .b64 %rd<10>;\n" +
      body + "\nret;\n}\n");
}

Operand first_source(const std::string& literal) {
  const Module module = kernel("mov.b32 %r1, " + literal + ";");
  if (module.functions.empty() || module.functions[0].body.empty()) return {};
  return module.functions[0].body[0].operands[1];
}

TEST(Parse, HeadAndFunction) {
  const Module module = parsed(R"(
.file 1 "k.cu", 1700000000, 2000
.visible .entry scale(
  .param .u64 .ptr .global .align 16 scale_param_0, // where
  .param .f32 scale_param_1, /* by
  what */ .param .align 8 .b8 scale_param_2[24])
.maxntid 16, 16, 1
.minnctapersm 2
.maxnreg 64
.reqnctapercluster 2, 1, 1
.explicitcluster
{
  .reg .b32 %r<3>;
  .loc 1 7 3
  mov.u32 %r1, %tid.x;
  .loc 1 9 5, function_name $L__info_string0, inlined_at 1 8 2
  .pragma "nounroll";
  ret;
}
.section .debug_str { $L__info_string0: .b8 95,0x5A , 0 .b64 scale }
)");
  EXPECT_EQ(module.version, "9.0");
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.files.at(1), "k.cu");
  const Function* scale = module.find("scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_TRUE(scale->is_entry);
  EXPECT_EQ(scale->max_threads, 256U);
  EXPECT_EQ(scale->min_blocks_per_sm, 2U);
  EXPECT_EQ(scale->max_registers, 64U);
  EXPECT_EQ(scale->cluster_blocks, 2U);
  ASSERT_THAT(scale->parameters, SizeIs(3));
  EXPECT_TRUE(scale->parameters[0].is_pointer);
  EXPECT_EQ(scale->parameters[1].bytes, 4U);
  EXPECT_EQ(scale->parameters[2].bytes, 24U);
  EXPECT_EQ(scale->parameters[2].align, 8U);
  ASSERT_THAT(scale->body, SizeIs(2));
  EXPECT_EQ(scale->body[0].operands[1].kind, Operand::Kind::special);
  EXPECT_EQ(scale->body[0].operands[1].name, "%tid.x");
  EXPECT_EQ(scale->body[0].source.line, 7U);
  EXPECT_EQ(scale->body[1].source.line, 9U);
  EXPECT_EQ(scale->body[0].line, 18U);
}

TEST(Parse, NumbersInEverySpelling) {
  const std::pair<const char*, std::uint64_t> integers[] = {{"42", 42},
                                                            {"0x2A", 42},
                                                            {"052", 42},
                                                            {"0b101010", 42},
                                                            {"42U", 42},
                                                            {"0x2aU", 42},
                                                            {"-1", ~std::uint64_t{0}},
                                                            {"0xFFFFFFFFFFFFFFFF", ~std::uint64_t{0}},
                                                            {"WARP_SZ", 32},
                                                            {"(1 << 4) + 3 * 2", 22},
                                                            {"2 + 3 * 4 - 1", 13},
                                                            {"10 - 3 - 2", 5},
                                                            {"~0 & 0xFF", 255},
                                                            {"!5", 0},
                                                            {"7 % 4 == 3 && 1", 1},
                                                            {"1 > 2 ? 10 : 20", 20},
                                                            {"-8 >> 1", ~std::uint64_t{3}},
                                                            {"(.u64) -1 / 0x8000000000000000", 1},
                                                            {"WARP_SZ*2", 64}};
  for (const auto& [text, value] : integers) {
    const Operand operand = first_source(text);
    EXPECT_EQ(operand.kind, Operand::Kind::integer) << text;
    EXPECT_EQ(operand.bits, value) << text;
  }
  EXPECT_EQ(first_source("0f3F800000").kind, Operand::Kind::f32_bits);
  EXPECT_EQ(first_source("0F3f800000").bits, 0x3F800000U);
  EXPECT_EQ(first_source("0d3FF0000000000000").bits, 0x3FF0000000000000U);
  const Operand decimal = first_source("-1.5e1");
  double value = 0;
  std::memcpy(&value, &decimal.bits, sizeof value);
  EXPECT_EQ(decimal.kind, Operand::Kind::f64_bits);
  EXPECT_EQ(value, -15.0);
}

TEST(Parse, OperandsOfEveryKind) {
  const Module module = kernel(R"(
.shared .align 16 .b8 tile[4][32];
@!%p1 setp.lt.and.s32 %p2|%p3, %r1, -5, !%p4;
ld.global.L1::no_allocate.v4.b32 {%r1, _, %r2, %r3}, [%rd1+-16];
ld.param.b64 %rd1, [p+8];
st.shared.b32 [tile+4], %r1;
st.shared.b32 [64], %r1;
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, %rd3, {%f5, %f6}];
cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3, %r4}], [%r5];
mov.u64 %rd4, tile+32;
vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;
)");
  const Function& k = module.functions.at(0);
  ASSERT_THAT(k.body, SizeIs(10));
  const Instruction& setp = k.body[0];
  EXPECT_THAT(setp.modifiers, ElementsAre("lt", "and", "s32"));
  EXPECT_TRUE(setp.guard_negated);
  EXPECT_EQ(k.registers.at(setp.guard).name, "%p1");
  ASSERT_EQ(setp.operands[0].kind, Operand::Kind::pair);
  EXPECT_EQ(k.registers.at(setp.operands[0].parts[1].index).name, "%p3");
  EXPECT_EQ(setp.operands[2].bits, static_cast<std::uint64_t>(-5));
  EXPECT_TRUE(setp.operands[3].negated);
  const Instruction& load = k.body[1];
  EXPECT_THAT(load.modifiers, ElementsAre("global", "L1::no_allocate", "v4", "b32"));
  ASSERT_THAT(load.operands[0].parts, SizeIs(4));
  EXPECT_EQ(load.operands[0].parts[1].kind, Operand::Kind::discard);
  EXPECT_EQ(load.operands[1].offset, -16);
  EXPECT_EQ(load.operands[1].base, Operand::Base::reg);
  EXPECT_EQ(k.body[2].operands[1].base, Operand::Base::symbol);
  EXPECT_EQ(k.body[2].operands[1].index, no_index);
  EXPECT_EQ(k.variables.at(k.body[3].operands[0].index).name, "tile");
  EXPECT_EQ(k.variables[0].bytes, 128U);
  EXPECT_EQ(k.body[4].operands[0].base, Operand::Base::none);
  EXPECT_EQ(k.body[4].operands[0].offset, 64);
  ASSERT_THAT(k.body[5].operands[1].parts, SizeIs(2));
  EXPECT_THAT(k.body[5].operands[1].parts[1].parts, SizeIs(2));
  EXPECT_EQ(k.body[6].modifiers.back(), "mbarrier::complete_tx::bytes");
  EXPECT_EQ(k.body[7].operands[1].kind, Operand::Kind::symbol);
  EXPECT_EQ(k.body[7].operands[1].offset, 32);
  EXPECT_EQ(k.body[8].operands[1].name, "b0");
}

TEST(Parse, ScopesHaveNamesOfTheirOwn) {
  const Module module = kernel(R"(
{ .reg .b32 %r1; mov.b32 %r1, 1; again: @%p1 bra again; bra done; done: }
{ .reg .b64 %r1; mov.b64 %r1, 2; again: @%p1 bra again; bra done; done: }
mov.b32 %r1, 3;
bra done;
done:
)");
  const Function& k = module.functions.at(0);
  ASSERT_THAT(k.body, SizeIs(9));
  const auto reg = [&](std::size_t i) { return k.body[i].operands[0].index; };
  EXPECT_EQ(k.registers.at(reg(0)).type, Type::b32);
  EXPECT_EQ(k.registers.at(reg(3)).type, Type::b64);
  EXPECT_NE(reg(0), reg(6));
  const auto target = [&](std::size_t i) { return k.labels.at(k.body[i].operands[0].index).target; };
  EXPECT_EQ(target(1), 1U);
  EXPECT_EQ(target(2), 3U);
  EXPECT_EQ(target(4), 4U);
  EXPECT_EQ(target(5), 6U);
  EXPECT_EQ(target(7), 8U);
}

TEST(Parse, ARangeIsAClaimOnly) {
  const Module module = parsed(".entry k() { .reg .b32 %r<4000000000>, %x<2>; mov.b32 %r3999999999, %x1; }");
  ASSERT_THAT(module.functions.at(0).registers, SizeIs(2));
  EXPECT_EQ(module.functions[0].registers[0].name, "%r3999999999");
  EXPECT_FALSE(parse_module(head + ".entry k() { .reg .b32 %r<4>; mov.b32 %r4, 0; }", "t"));
  EXPECT_FALSE(parse_module(head + ".entry k() { .reg .b32 %r<40>; mov.b32 %r04, 0; }", "t"));
}

TEST(Parse, VectorRegisters) {
  const Module module = parsed(".entry k() { .reg .v4 .f32 %v; .reg .f32 %f; mov.f32 %f, %v.z; st.v4.f32 [0], %v; }");
  const Function& k = module.functions.at(0);
  ASSERT_THAT(k.body.at(1).operands.at(1).parts, SizeIs(4));
  EXPECT_EQ(k.body[0].operands[1].index, k.body[1].operands[1].parts[2].index);
  EXPECT_EQ(k.registers.at(k.body[0].operands[1].index).name, "%v.z");
}

TEST(Parse, CallsTablesAndPrototypes) {
  const Module module = parsed(R"(
.extern .func (.param .b32 status) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 result) twice (.param .b32 x) .noreturn;
.weak .func (.reg .b32 %out) old (.reg .b32 %in) { add.s32 %out, %in, 1; ret; }
.func (.param .b32 result) twice (.param .b32 x) { .reg .b32 %r<2>; st.param.b32 [result+0], %r1; ret; }
.alias double_it, twice;
.entry k() {
  .reg .b32 %r<4>; .reg .b64 %fn;
  mov.u64 %fn, twice;
  { .param .b32 arg; .param .b32 back; st.param.b32 [arg], 4;
    call.uni (back), twice, (arg); ld.param.b32 %r1, [back]; }
  { .param .b32 arg; .param .b32 back;
    shape: .callprototype (.param .b32 _) _ (.param .b32 _) .abi_preserve 4;
    call (back), %fn, (arg), shape; }
  ts: .branchtargets L0, L1;
  @%r1 bra L0;
  brx.idx %r1, ts;
  L0: trap;
  L1: exit;
})");
  ASSERT_THAT(module.functions, SizeIs(4));
  EXPECT_TRUE(module.find("vprintf")->is_declaration);
  EXPECT_FALSE(module.find("double_it")->is_declaration);
  const Function& k = *module.find("k");
  const Instruction& direct = k.body.at(2);
  ASSERT_EQ(direct.operands[0].kind, Operand::Kind::list);
  EXPECT_EQ(direct.operands[1].kind, Operand::Kind::symbol);
  EXPECT_EQ(direct.operands[1].name, "twice");
  EXPECT_EQ(k.variables.at(direct.operands[2].parts.at(0).index).name, "arg");
  const Instruction& indirect = k.body.at(4);
  EXPECT_EQ(indirect.operands[1].kind, Operand::Kind::reg);
  EXPECT_NE(indirect.operands[2].parts.at(0).index, direct.operands[2].parts[0].index);
  EXPECT_EQ(indirect.operands[3].kind, Operand::Kind::label);
  const Instruction& table = k.body.at(6);
  const Label& targets = k.labels.at(table.operands[1].index);
  ASSERT_THAT(targets.branch_targets, SizeIs(2));
  EXPECT_EQ(k.labels.at(targets.branch_targets[1]).target, 8U);
}

TEST(Parse, VariablesAndInitialValues) {
  const Module module = parsed(R"(
.global .align 4 .b8 text[6] = "hi\n";
.const .align 8 .f64 pi[2] = {0d400921FB54442D18, 1.5};
.global .v2 .u16 pairs[2] = {{1, 2}, {3, 0x10}};
.visible .global .attribute(.managed) .s32 open[] = {1, -1, 5};
.global .u64 table[2] = {generic(pi)+8, text};
.global .b8 bytes[8] = {0xFF(pi), 0xFF00(pi), 0xFF0000(pi), 0xFF000000(pi), 0xFF00000000(pi),
  0xFF0000000000(pi), 0xFF000000000000(pi), 0xFF00000000000000(pi)};
.global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = linear };
.extern .shared .align 16 .b8 smem[];
.global .f32 half = 0.5, zero;
.global .b32 grid[2][3] = {{1}, {2, 3}};
)");
  const auto at = [&](std::size_t i) -> const Variable& { return module.variables.at(i); };
  EXPECT_THAT(at(0).initial, ElementsAre('h', 'i', '\n', 0));
  EXPECT_EQ(at(0).bytes, 6U);
  EXPECT_EQ(at(1).initial[7], 0x40);
  EXPECT_THAT(at(2).initial, ElementsAre(1, 0, 2, 0, 3, 0, 16, 0));
  EXPECT_EQ(at(3).bytes, 12U);
  EXPECT_EQ(at(3).initial[4], 0xFF);
  ASSERT_THAT(at(4).relocations, SizeIs(2));
  EXPECT_TRUE(at(4).relocations[0].generic);
  EXPECT_EQ(at(4).relocations[0].addend, 8);
  EXPECT_EQ(at(4).relocations[1].offset, 8U);
  ASSERT_THAT(at(5).relocations, SizeIs(1));
  EXPECT_EQ(at(5).relocations[0].bytes, 8U);
  EXPECT_EQ(at(6).type, Type::samplerref);
  EXPECT_TRUE(at(7).is_extern);
  EXPECT_EQ(at(7).bytes, 0U);
  EXPECT_THAT(at(8).initial, ElementsAre(0, 0, 0, 0x3F));
  EXPECT_EQ(at(10).initial[12], 2);
}

TEST(Parse, TextOfEveryForm) {
  const std::string lines =
      ".version 8.7\r\n.target sm_80\r\n.address_size 64\r\n// c\r\n.entry k()\r\n{\r\nret;\r\n}\r\n";
  EXPECT_TRUE(parse_module(lines, "crlf"));
  EXPECT_TRUE(parse_module("\xEF\xBB\xBF" + lines, "bom"));
  EXPECT_TRUE(parse_module(lines + std::string("\0\0\n", 3), "nvrtc ends its text with a NUL"));
  EXPECT_TRUE(parse_module("# 1 \"k.cu\"\n" + lines + "@@DWARF .byte 1\n", "old"));
}

TEST(Parse, ErrorsNameFileAndLine) {
  const std::pair<const char*, const char*> cases[] = {
      {".entry k() {\nadd.s32 %r1, %r2, 3;\n}", "t.ptx:5: '%r1' is not declared"},
      {".entry k() {\nbra nowhere;\n}", "t.ptx:5: 'nowhere' is not declared"},
      {".entry k() {\nret\n}", "t.ptx:6: "},
      {".entry k() {\nL: L: ret;\n}", "label 'L' stands twice"},
      {".entry k() {\n.reg .b32 %a, %a;\n}", "declared twice"},
      {".entry k() {}\n.entry k() {}", "defined twice"},
      {".global .b8 x[0x7FFFFFFFFFFFFFFF][4];", "larger than any device's memory"},
      {".global .b8 x[1] = {1, 2};", "more initial values"},
      {".global .b8 x[2][1000000] = {{1}, {2}};", "large gap"},
      {".global .align 3 .b8 x;", "power of two"},
      {".version 9.0", "second .version"},
      {".nonsense 4;", "unknown directive '.nonsense'"},
      {".entry k() {\n.reg .b32 %r; mov.b32 %r, 1/0;\n}", "has no value"},
      {".entry k() {\n.reg .b32 %r; mov.b32 %r, 0f12;\n}", "not a number"},
      {".entry k() {\n.reg .b32 %r; mov.b32 %r, 99999999999999999999;\n}", "not a number"},
      {".entry k() {\ncall ((1, 2, L));\nL: ret;\n}", "t.ptx:5: "},
      {".entry k() {\nret; /* open\n}", "comment"},
      {".entry k() {\nret; \x01\n}", "character"},
      {".entry k() {\n.pragma \"open;\n}", "string"}};
  for (const auto& [text, message] : cases) {
    const auto module = parse_module(head + text, "t.ptx");
    ASSERT_FALSE(module) << text;
    EXPECT_THAT(module.error().line(), HasSubstr(message));
    EXPECT_THAT(module.error().where, HasSubstr("t.ptx:"));
  }
  EXPECT_THAT(parse_module("\x7F"
                           "ELF",
                           "k.cubin")
                  .error()
                  .line(),
              HasSubstr("not PTX text"));
  EXPECT_THAT(parse_module("", "empty").error().line(), HasSubstr("not PTX text"));
}

}  // namespace
}  // namespace corridor::ptx
