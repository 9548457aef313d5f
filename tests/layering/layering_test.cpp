// SPDX-License-Identifier: Apache-2.0
// Holds the real source tree to the rules of the house, and shows on made-up files that each rule can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layering/rules.h"

namespace corridor::layering {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::filesystem::path root = CORRIDOR_SOURCE_DIR;

Floors checked_in_floors() {
  return parse_floors(read_lines(root / "tests/layering/floors.txt"));
}

std::vector<SourceFile> all_sources() {
  std::vector<SourceFile> files;
  for (const std::string_view folder : {"src", "tests", "bench", "fuzz", "examples"}) {
    for (SourceFile& file : read_sources(root, folder)) files.push_back(std::move(file));
  }
  return files;
}

TEST(Layering, EveryIncludeGoesToALowerFloor) {
  const std::vector<SourceFile> files = read_sources(root, "src");
  ASSERT_GT(files.size(), 10U);
  EXPECT_THAT(upward_includes(files, checked_in_floors()), IsEmpty());
}

TEST(Layering, ArchitectureStatesTheSameFloors) {
  const Floors stated = parse_floor_table(read_lines(root / "ARCHITECTURE.md"));
  EXPECT_EQ(stated, checked_in_floors()) << "the rows '| floor | module | … |' of ARCHITECTURE.md";
}

TEST(Layering, EveryListedModuleHasCode) {
  for (const auto& [floor, module] : checked_in_floors()) {
    EXPECT_FALSE(read_sources(root, "src/corridor/" + module).empty()) << module << " of floor " << floor;
  }
}

TEST(Layering, LowerFloorsDoNotTouchTheOperatingSystem) {
  EXPECT_THAT(system_includes(read_sources(root, "src"), checked_in_floors()), IsEmpty());
}

TEST(Layering, SlowLibrariesDoNotSpread) {
  EXPECT_THAT(heavy_includes(read_sources(root, "src")), IsEmpty());
}

TEST(Form, EveryFileOpensWithLicenceAndPurpose) {
  EXPECT_THAT(missing_openings(all_sources()), IsEmpty());
}

TEST(Form, FilesAreShort) {
  EXPECT_THAT(long_files(all_sources(), parse_long_files(read_lines(root / "tests/layering/long_files.txt"))),
              IsEmpty());
}

// From here on: the rules themselves, on files made up for the purpose.

const Floors three_floors{{1, "base"}, {3, "model"}, {3, "report"}, {7, "app"}};

TEST(Rules, AnIncludeUpwardOrSidewaysIsFound) {
  const std::vector<SourceFile> files{
      {"src/corridor/model/a.h", {"#include \"corridor/base/b.h\"", "  # include \"corridor/app/c.h\""}},
      {"src/corridor/report/d.cpp", {"#include \"corridor/model/a.h\"", "#include \"corridor/report/e.h\""}},
      {"src/corridor/attic/f.h", {}}};
  EXPECT_THAT(upward_includes(files, three_floors),
              ElementsAre(HasSubstr("model/a.h:2"), HasSubstr("report/d.cpp:1"), HasSubstr("'attic'")));
}

TEST(Rules, ASystemHeaderIsFoundBelowTheFreeFloorsOnly) {
  const std::vector<std::string> lines{"#include <vector>", "#include <sys/stat.h>", "#include <thread>"};
  const std::vector<SourceFile> files{{"src/corridor/base/a.cpp", lines},
                                      {"src/corridor/model/b.cpp", lines},
                                      {"src/corridor/model/b_test.cpp", lines},
                                      {"src/corridor/app/c.cpp", lines}};
  EXPECT_THAT(system_includes(files, three_floors), ElementsAre(HasSubstr("b.cpp:2"), HasSubstr("b.cpp:3")));
}

TEST(Rules, ASlowLibraryMustNotSpread) {
  const std::string inner = "#include \"corridor/model/inner.h\"";
  const std::vector<SourceFile> files{{"src/corridor/model/inner.h", {"#include <nlohmann/json.hpp>"}},
                                      {"src/corridor/model/light.h", {"#include <nlohmann/json_fwd.hpp>"}},
                                      {"src/corridor/model/a.cpp", {inner, "#include <nlohmann/json.hpp>"}},
                                      {"src/corridor/model/face.h", {inner}},
                                      {"src/corridor/app/b.cpp", {inner, "#include <CLI/CLI.hpp>"}},
                                      {"src/corridor/cli/session.h", {"#include <CLI/CLI.hpp>"}}};
  EXPECT_THAT(heavy_includes(files),
              UnorderedElementsAre(HasSubstr("b.cpp:2: only"), HasSubstr("face.h:1"), HasSubstr("app/b.cpp:1")));
}

TEST(Rules, AMissingOpeningIsFound) {
  const std::string spdx = "// SPDX-License-Identifier: Apache-2.0";
  const std::vector<SourceFile> files{{"good.h", {spdx, "// Says what the file is for, on two", "// lines.", ""}},
                                      {"no_licence.h", {"// Says what the file is for."}},
                                      {"no_purpose.h", {spdx, "#pragma once"}},
                                      {"no_sentence.h", {spdx, "// helpers"}},
                                      {"empty.h", {}}};
  EXPECT_THAT(missing_openings(files), ElementsAre(HasSubstr("no_licence.h:1"), HasSubstr("no_purpose.h:2"),
                                                   HasSubstr("no_sentence.h:2"), HasSubstr("empty.h:1")));
}

TEST(Rules, ALongFileNeedsAReasonAndAReasonNeedsALongFile) {
  const std::vector<SourceFile> files{{"just.h", std::vector<std::string>(400)},
                                      {"over.h", std::vector<std::string>(401)},
                                      {"allowed.h", std::vector<std::string>(500)},
                                      {"bare.h", std::vector<std::string>(500)}};
  const auto allowed = parse_long_files({"# comment", "allowed.h one table of formats", "bare.h", "gone.h short now"});
  EXPECT_THAT(long_files(files, allowed),
              ElementsAre(HasSubstr("over.h: 401"), HasSubstr("bare.h: long_files"), HasSubstr("gone.h: listed")));
}

TEST(Rules, TheFloorTableIsReadFromMarkdown) {
  const std::vector<std::string> lines{"# Title",
                                       "| floor | modules | what |",
                                       "|---|---|---|",
                                       "| 1 | `base` | files |",
                                       "| 3 | `model`, `report` | both | ",
                                       "1 | no | row"};
  EXPECT_EQ(parse_floor_table(lines), (Floors{{1, "base"}, {3, "model"}, {3, "report"}}));
}

}  // namespace
}  // namespace corridor::layering
