// SPDX-License-Identifier: Apache-2.0
// No prediction of a wide grid moves by more than 1 % unless its table was made anew on purpose. To accept new numbers:
//
//   1. raise the number in the first line of tests/validation/predictions.csv and say there why they moved;
//   2. add a line with the words "predictions table N" to CHANGELOG.md;
//   3. build/release/prediction_gate_test --update
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/gate_grid.h"

namespace corridor::test {
namespace {

constexpr const char* table_file = CORRIDOR_SOURCE_DIR "/tests/validation/predictions.csv";
constexpr double allowed = 0.01;
constexpr std::size_t least_combinations = 12 * 12 * 6 / 2;  // not every model can be cut over every layout
constexpr std::size_t shown = 10;

std::string read_file(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PredictionGate, EveryPredictionIsTheAcceptedOne) {
  const GateFile accepted = parse_gate(read_file(table_file));
  ASSERT_GE(accepted.rows.size(), least_combinations) << table_file << " is short or missing";
  EXPECT_EQ(accepted.table, accepted.rows_of) << "the first line was raised, the rows were not made anew";
  const auto changes = moved(accepted.rows, predict_grid(Assets::open().value()), allowed);
  std::string list;
  for (std::size_t i = 0; i < std::min(shown, changes.size()); ++i) list += changes[i] + "\n";
  EXPECT_TRUE(changes.empty()) << changes.size() << " of " << accepted.rows.size()
                               << " predictions moved by more than 1 %; the head of this file says how to accept them\n"
                               << list;
}

TEST(PredictionGate, TheChangeLogNamesTheTable) {
  const GateFile accepted = parse_gate(read_file(table_file));
  const std::string words = fmt::format("predictions table {}", accepted.table);
  EXPECT_NE(read_file(CORRIDOR_SOURCE_DIR "/CHANGELOG.md").find(words), std::string::npos)
      << "CHANGELOG.md has no line with \"" << words << "\"";
}

TEST(PredictionGate, RowsAreMadeAnewOnlyForARaisedNumber) {
  GateFile file = parse_gate("# table 3, 2026-12-01: a new floor\n# rows of table 3\na,b,c d,1,2,3,4\n");
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.rows.begin()->first, "a,b,c d");
  EXPECT_NE(update_refused(file), "");
  file.table = 4;
  EXPECT_EQ(update_refused(file), "");
  EXPECT_EQ(parse_gate(print_gate(file)).rows.size(), 1U);
  EXPECT_NE(update_refused(GateFile{}), "");
}

TEST(PredictionGate, AMoveBeyondTheAllowedOneIsSeen) {
  const GateTable was = {{"a", {1, 1, 1, 1}}, {"gone", {1, 1, 1, 1}}};
  const GateTable is = {{"a", {1, 1, 1.009, 1}}, {"new", {1, 1, 1, 1}}};
  EXPECT_EQ(moved(was, is, allowed).size(), 2U);
  EXPECT_EQ(moved({{"a", {1, 1, 1, 1}}}, {{"a", {1, 1, 1.011, 1}}}, allowed).size(), 1U);
  EXPECT_EQ(moved({{"a", {1, 1, 1, 1}}}, {{"a", {1, 1, std::nan(""), 1}}}, allowed).size(), 1U);
}

int update() {
  GateFile file = parse_gate(read_file(table_file));
  if (const std::string why = update_refused(file); !why.empty()) {
    std::fprintf(stderr, "prediction_gate_test: %s: %s\n", table_file, why.c_str());
    return 2;
  }
  const GateTable now = predict_grid(Assets::open().value());
  const std::size_t changes = moved(file.rows, now, allowed).size();
  file.rows = now;
  file.rows_of = file.table;
  std::ofstream(table_file) << print_gate(file);
  std::printf("table %d: %zu predictions, %zu of them moved by more than 1 %%\n", file.table, now.size(), changes);
  return 0;
}

}  // namespace
}  // namespace corridor::test

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--update") return corridor::test::update();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
