// SPDX-License-Identifier: Apache-2.0
// The rules of the house as functions over source text, so that the tests can show each rule both kept and broken.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corridor::layering {

/// One source file: path relative to the repository root, and its lines.
struct SourceFile {
  std::string path;
  std::vector<std::string> lines;
};

/// (floor, module), lowest first.
using Floors = std::vector<std::pair<int, std::string>>;

[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& path);
/// Every .h and .cpp below `folder` of `root`, sorted by path.
[[nodiscard]] std::vector<SourceFile> read_sources(const std::filesystem::path& root, std::string_view folder);
/// "1 base" lines; `#` comments and blank lines are left out.
[[nodiscard]] Floors parse_floors(const std::vector<std::string>& lines);
/// The rows `| 3 | hardware, model | … |` of a Markdown table, in order.
[[nodiscard]] Floors parse_floor_table(const std::vector<std::string>& lines);
/// path → reason.
[[nodiscard]] std::map<std::string, std::string> parse_long_files(const std::vector<std::string>& lines);

/// Each function returns its findings, one sentence each with file and line; an empty list is a pass.
[[nodiscard]] std::vector<std::string> upward_includes(const std::vector<SourceFile>& files, const Floors& floors);
[[nodiscard]] std::vector<std::string> system_includes(const std::vector<SourceFile>& files, const Floors& floors);
/// nlohmann json and toml++ may stand in a header only when just .cpp files of its own module include that header.
[[nodiscard]] std::vector<std::string> heavy_includes(const std::vector<SourceFile>& files);
[[nodiscard]] std::vector<std::string> missing_openings(const std::vector<SourceFile>& files);
[[nodiscard]] std::vector<std::string> long_files(const std::vector<SourceFile>& files,
                                                  const std::map<std::string, std::string>& allowed);

}  // namespace corridor::layering
