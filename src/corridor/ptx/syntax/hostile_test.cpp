// SPDX-License-Identifier: Apache-2.0
// Hostile PTX ends in a line or a module, in time and memory that grow with the text: cuts, nesting, claims,
// repetition.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/base/file.h"
#include "corridor/ptx/isa/static_facts.h"
#include "corridor/ptx/syntax/parse.h"

namespace corridor::ptx {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// Parses, and if that works takes all facts; an error has a line.
bool answered(const std::string& text) {
  const auto module = parse_module(text, "t.ptx");
  if (!module) {
    EXPECT_FALSE(module.error().line().empty());
    return false;
  }
  for (const StaticFacts& facts : static_facts(*module)) EXPECT_LE(facts.registers, 255U);
  return true;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Hostile, NestingIsBounded) {
  constexpr std::size_t deep = 100'000;
  EXPECT_FALSE(answered(head + ".entry k() " + repeated("{", deep)));
  EXPECT_FALSE(answered(head + ".entry k() { .reg .b32 %r; mov.b32 %r, " + repeated("(", deep)));
  EXPECT_FALSE(answered(head + ".entry k() { .reg .b32 %r; mov.b32 %r, " + repeated("-", deep)));
  EXPECT_FALSE(answered(head + ".entry k() { .reg .b32 %r; mov.b32 %r, " + repeated("1 ? ", deep)));
  EXPECT_FALSE(answered(head + ".entry k() { mov.b32 " + repeated("{", deep)));
  EXPECT_FALSE(answered(head + ".entry k() { ld.b32 " + repeated("[0, ", deep)));
  EXPECT_FALSE(answered(head + ".entry k() { call " + repeated("(", deep)));
  EXPECT_FALSE(answered(head + ".global .b8 x[4] = " + repeated("{", deep)));
  EXPECT_FALSE(answered(head + ".global .b8 x" + repeated("[1]", deep) + ";"));
  EXPECT_FALSE(answered(head + ".section .debug_info " + repeated("{", deep)));
  EXPECT_FALSE(answered(head + ".visible .global .attribute" + repeated("(", deep)));
}

TEST(Hostile, ClaimsAllocateNothing) {
  EXPECT_TRUE(answered(head + ".global .b8 x[0x8000000000];\n.shared .b64 y[0x1000000000];\n.entry k() { "
                              ".reg .b32 %r<0xFFFFFFFFFFFFFFFF>; .local .b8 z[0x8000000000]; mov.b32 %r17, 0; ret; }"));
  EXPECT_FALSE(answered(head + ".global .b8 x[0x1000000000000000];"));
  EXPECT_FALSE(answered(head + ".entry k() .maxntid 4000000000, 4000000000 {}"));
}

/// Work grows with the text: these would take minutes if any of it were quadratic.
TEST(Hostile, LongTextsStayLinear) {
  constexpr std::size_t many = 5000;
  EXPECT_TRUE(answered(head + ".entry k() {" + repeated("ret;", many) + "}"));
  std::string ladder = head + ".entry k() { .reg .pred %p<3>; .reg .b32 %r<9>;\n";
  std::string back = ladder;
  for (std::size_t i = 0; i < many; ++i) {
    const std::string label = "L" + std::to_string(i);
    ladder += "@%p1 bra " + label + "; add.s32 %r1, %r1, %r2;\n";
    back += label + ": add.s32 %r3, %r1, %r2; @%p1 bra L" + std::to_string(i / 2) + ";\n";
  }
  for (std::size_t i = 0; i < many; ++i) ladder += "L" + std::to_string(i) + ": mov.b32 %r2, %r1;\n";
  EXPECT_TRUE(answered(ladder + "}"));
  EXPECT_TRUE(answered(back + "}"));
  std::string scopes = head + ".entry k() { .reg .pred %p;\n";
  for (std::size_t i = 0; i < 60; ++i) scopes += "{ ";
  scopes += repeated("@%p bra end; ", many) + repeated("}", 60) + " end: ret; }";
  EXPECT_TRUE(answered(scopes));
  std::string names = head;
  for (std::size_t i = 0; i < many; ++i) {
    const std::string name = "f" + std::to_string(i);
    names += ".func " + name + "() { call f" + std::to_string(i / 2) + "; ret; }\n";
  }
  EXPECT_TRUE(answered(names));
}

TEST(Hostile, EveryCutOfAFileIsAnswered) {
  const auto text = read_text_file(CORRIDOR_SOURCE_DIR "/fuzz/corpus/ptx_parse/grammar");
  ASSERT_TRUE(text);
  ASSERT_TRUE(answered(*text));
  for (std::size_t cut = 0; cut < text->size(); ++cut) answered(text->substr(0, cut));
}

TEST(Hostile, EveryChangedByteIsAnswered) {
  const auto text = read_text_file(CORRIDOR_SOURCE_DIR "/fuzz/corpus/ptx_parse/grammar");
  ASSERT_TRUE(text);
  constexpr std::string_view marks("{};,.@%0(x\0\xFF\n", 13);
  for (std::size_t i = 0; i < text->size(); ++i) {
    std::string changed = *text;
    changed[i] = marks[i % marks.size()];
    answered(changed);
  }
}

TEST(Corpus, EveryFileOfPtxIsAnswered) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(CORRIDOR_SOURCE_DIR "/fuzz/corpus/ptx_parse")) {
    files.push_back(entry.path().string());
  }
  ASSERT_GE(files.size(), 10U);
  int understood = 0;
  for (const std::string& file : files) {
    const auto text = read_text_file(file);
    ASSERT_TRUE(text) << file;
    understood += answered(*text) ? 1 : 0;
  }
  EXPECT_GE(understood, 5);
}

}  // namespace
}  // namespace corridor::ptx
