// SPDX-License-Identifier: Apache-2.0
// Tests of the process runner with programs every system has.
#include "support/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CommandLine command(std::string_view line) {
  const std::optional<CommandLine> split = split_command_line(line);
  EXPECT_TRUE(split.has_value()) << line;
  return split.value_or(CommandLine{});
}

TEST(SplitCommandLine, ResolvesQuotesAndInput) {
  EXPECT_THAT(command(R"(a 'b c' "d \"e" f\ g '' h"i"j)").arguments,
              ElementsAre("a", "b c", "d \"e", "f g", "", "hij"));
  const CommandLine with_input = command("corridor diagnose - < tests/x.txt --json");
  EXPECT_THAT(with_input.arguments, ElementsAre("corridor", "diagnose", "-", "--json"));
  EXPECT_EQ(with_input.input_file, "tests/x.txt");
}

TEST(SplitCommandLine, RefusesWhatNeedsAShell) {
  for (const char* line : {"a 'b", "a \"b", "a <", "a | b", "a > b", "a; b", "a && b", "a $HOME", "a `b`"}) {
    EXPECT_FALSE(split_command_line(line).has_value()) << line;
  }
}

TEST(RunProcess, KeepsStreamsAndExitCodeApart) {
  const ProcessResult both = run_process(command("sh -c 'echo out; echo err 1>&2; exit 3'"));
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_EQ(both.output, "out\n");
  EXPECT_EQ(both.errors, "err\n");
}

TEST(RunProcess, MergesStreamsInOrder) {
  const ProcessResult merged = run_process(command("sh -c 'echo 1; echo 2 1>&2; echo 3'"), {.merge_streams = true});
  EXPECT_EQ(merged.output, "1\n2\n3\n");
  EXPECT_EQ(merged.errors, "");
}

TEST(RunProcess, ReportsASignalATimeOutAndAMissingProgram) {
  EXPECT_EQ(run_process(command("sh -c 'kill -9 $$'")).exit_code, 128 + 9);
  const ProcessResult slow = run_process(command("sleep 30"), {.time_limit = std::chrono::seconds(1)});
  EXPECT_TRUE(slow.timed_out);
  const ProcessResult missing = run_process(command("./no-such-program"));
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.errors, HasSubstr("no-such-program"));
}

TEST(RunProcess, GivesNoInputUnlessAFileIsNamedAndTurnsColourOff) {
  EXPECT_EQ(run_process(command("cat")).output, "");
  EXPECT_EQ(run_process(command("sh -c 'echo $NO_COLOR$COLUMNS'")).output, "1\n");
  EXPECT_EQ(run_process({{"cat"}, "no/such/file"}).exit_code, 127);
}

TEST(RunProcess, ReadsMoreThanAPipeHolds) {
  EXPECT_EQ(run_process(command("head -c 3000000 /dev/zero")).output.size(), 3000000U);
}

}  // namespace
}  // namespace corridor::test
