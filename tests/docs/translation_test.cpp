// SPDX-License-Identifier: Apache-2.0
// README.zh-CN.md keeps step with README.md: the same commands in the same order, in examples and in the table.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace corridor::test {
namespace {

/// Lines of examples ("$ …" and what continues them) and the first column of the table of commands.
std::vector<std::string> commands_of(const std::string& file) {
  std::ifstream in(std::string(CORRIDOR_SOURCE_DIR "/") + file);
  std::vector<std::string> commands;
  std::string line;
  bool continued = false;
  while (std::getline(in, line)) {
    if (line.starts_with("$ ") || continued) commands.push_back(line);
    continued = (line.starts_with("$ ") || continued) && line.ends_with("&&");
    if (line.starts_with("| `corridor")) commands.push_back(line.substr(0, line.find('|', 2)));
  }
  return commands;
}

TEST(Translation, ChineseReadmeStatesTheSameCommands) {
  const std::vector<std::string> english = commands_of("README.md");
  EXPECT_GT(english.size(), 10U);
  EXPECT_EQ(commands_of("README.zh-CN.md"), english);
}

}  // namespace
}  // namespace corridor::test
