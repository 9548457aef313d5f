// SPDX-License-Identifier: Apache-2.0
// Tests of the golden format: what is read as a command, what counts as equal, what an update writes.
#include "support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

const Lines golden_file{"# comment", "$ corridor a \\", "    --b", "one",      "",          "two",
                        "",          "$ corridor c",    "bad",     "[exit 2]", "# comment", ""};

TEST(ParseGolden, ReadsCommandsOutputAndExitCode) {
  const std::vector<GoldenCase> cases = parse_golden(golden_file, false);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].command, "corridor a --b");
  EXPECT_THAT(cases[0].output, ElementsAre("one", "", "two"));
  EXPECT_EQ(cases[0].exit_code, 0);
  EXPECT_TRUE(cases[0].is_corridor);
  EXPECT_THAT(cases[1].output, ElementsAre("bad"));
  EXPECT_EQ(cases[1].exit_code, 2);
}

TEST(ParseGolden, TakesOnlyConsoleBlocksOfADocument) {
  const Lines document{"$ corridor prose",
                       "```console",
                       "$ build/release/corridor x",
                       "y",
                       "$ cmake --preset test",
                       "```",
                       "```sh",
                       "$ corridor shell",
                       "```",
                       "```console",
                       "$ corridor z",
                       "```"};
  const std::vector<GoldenCase> cases = parse_golden(document, true);
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].command, "build/release/corridor x");
  EXPECT_THAT(cases[0].output, ElementsAre("y"));
  EXPECT_FALSE(cases[1].is_corridor);
  EXPECT_THAT(cases[2].output, IsEmpty());
}

TEST(FirstDifference, ComparesEveryCharacterButBlankLinesAtTheEnd) {
  EXPECT_EQ(first_difference({"a", "1.0"}, {"a", "1.0", "", " "}), "");
  EXPECT_THAT(first_difference({"a", "1.0"}, {"a", "1.1"}), HasSubstr("line 2"));
  EXPECT_THAT(first_difference({"a"}, {"a", "b"}), HasSubstr("expected the end"));
  EXPECT_THAT(first_difference({"a", "b"}, {"a"}), HasSubstr("got the end"));
}

TEST(FirstDifference, AGapStandsForAnyNumberOfLines) {
  EXPECT_EQ(first_difference({"a", "…", "z"}, {"a", "b", "c", "z"}), "");
  EXPECT_EQ(first_difference({"a", "…", "z"}, {"a", "z"}), "");
  EXPECT_EQ(first_difference({"…"}, {}), "");
  EXPECT_EQ(first_difference({"...", "y", "…"}, {"x", "y", "z"}), "");
  EXPECT_EQ(first_difference({"…", "y", "z"}, {"y", "x", "y", "z"}), "");
  EXPECT_NE(first_difference({"a", "…", "z"}, {"a", "b"}), "");
  EXPECT_NE(first_difference({"…", "z"}, {"z", "b"}), "");
}

TEST(ReplaceOutput, KeepsEverythingElse) {
  const std::vector<GoldenCase> cases = parse_golden(golden_file, false);
  Lines updated = replace_output(golden_file, cases[1], {"good"}, 0);
  updated = replace_output(updated, cases[0], {"new"}, 1);
  EXPECT_THAT(updated, ElementsAre("# comment", "$ corridor a \\", "    --b", "new", "[exit 1]", "", "$ corridor c",
                                   "good", "# comment", ""));
  EXPECT_EQ(parse_golden(updated, false)[0].exit_code, 1);
}

}  // namespace
}  // namespace corridor::test
