// SPDX-License-Identifier: Apache-2.0
// The rules of the house: includes, openings and lengths of source files.
#include "layering/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace corridor::layering {
namespace {

constexpr std::size_t longest_file = 400;
constexpr int first_free_floor = 7;  // floors below it, except base and measure, do not touch the operating system
constexpr std::string_view module_root = "src/corridor/";

struct Include {
  std::string path;
  std::size_t line = 0;
};

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> found;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string_view line = file.lines[i];
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("#")) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t", 1), line.size()));
    if (!line.starts_with("include")) continue;
    const std::size_t open = line.find_first_of("\"<");
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find_first_of("\">", open + 1);
    if (close == std::string_view::npos) continue;
    found.push_back({std::string(line.substr(open + 1, close - open - 1)), i + 1});
  }
  return found;
}

/// "src/corridor/base/file.h" → "base"; empty for a path outside the modules.
std::string module_of(std::string_view path, std::string_view root) {
  if (!path.starts_with(root)) return {};
  path.remove_prefix(root.size());
  return std::string(path.substr(0, path.find('/')));
}

std::optional<int> floor_of(const Floors& floors, std::string_view module) {
  for (const auto& [floor, name] : floors) {
    if (name == module) return floor;
  }
  return std::nullopt;
}

std::string at(const SourceFile& file, std::size_t line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

bool is_test(std::string_view path) {
  return path.ends_with("_test.cpp");
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

/// The first paragraph of the comment that begins on line 2, in one string.
std::string opening_paragraph(const SourceFile& file) {
  std::string text;
  for (std::size_t i = 1; i < file.lines.size() && file.lines[i].starts_with("// "); ++i) {
    if (!text.empty()) text += ' ';
    text += file.lines[i].substr(3);
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<SourceFile> read_sources(const std::filesystem::path& root, std::string_view folder) {
  std::vector<SourceFile> files;
  if (!std::filesystem::is_directory(root / folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (!entry.is_regular_file() || (extension != ".h" && extension != ".cpp")) continue;
    files.push_back({entry.path().lexically_relative(root).generic_string(), read_lines(entry.path())});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

Floors parse_floors(const std::vector<std::string>& lines) {
  Floors floors;
  for (const std::string& line : lines) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream in(line);
    int floor = 0;
    std::string module;
    if (in >> floor >> module) floors.emplace_back(floor, module);
  }
  return floors;
}

Floors parse_floor_table(const std::vector<std::string>& lines) {
  Floors floors;
  for (const std::string& line : lines) {
    std::istringstream cells(line);
    std::string before, number, modules;
    if (!std::getline(cells, before, '|') || !before.empty()) continue;
    if (!std::getline(cells, number, '|') || !std::getline(cells, modules, '|')) continue;
    number.erase(std::remove(number.begin(), number.end(), ' '), number.end());
    if (number.size() != 1 || std::isdigit(static_cast<unsigned char>(number[0])) == 0) continue;
    std::string name;
    for (const char c : modules + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        name += c;
      } else if (!name.empty()) {
        floors.emplace_back(number[0] - '0', std::exchange(name, {}));
      }
    }
  }
  return floors;
}

std::map<std::string, std::string> parse_long_files(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> allowed;
  for (const std::string& line : lines) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t gap = line.find(' ');
    allowed[line.substr(0, gap)] = gap == std::string::npos ? "" : line.substr(gap + 1);
  }
  return allowed;
}

std::vector<std::string> upward_includes(const std::vector<SourceFile>& files, const Floors& floors) {
  std::vector<std::string> findings;
  std::set<std::string> unknown;
  for (const SourceFile& file : files) {
    const std::string module = module_of(file.path, module_root);
    const std::optional<int> own = floor_of(floors, module);
    if (!own && unknown.insert(module).second) {
      findings.push_back(file.path + ": module '" + module + "' is not in floors.txt");
    }
    if (!own) continue;
    for (const Include& include : includes_of(file)) {
      if (!include.path.starts_with("corridor/")) continue;
      const std::string target = module_of(include.path, "corridor/");
      if (target == module) continue;
      const std::optional<int> other = floor_of(floors, target);
      if (!other || *other >= *own) {
        findings.push_back(at(file, include.line) + module + " may not include " + include.path);
      }
    }
  }
  return findings;
}

std::vector<std::string> system_includes(const std::vector<SourceFile>& files, const Floors& floors) {
  static const std::set<std::string> forbidden{
      "thread",          "filesystem", "fstream",    "future",  "mutex",  "condition_variable", "unistd.h", "fcntl.h",
      "dlfcn.h",         "pthread.h",  "signal.h",   "spawn.h", "poll.h", "execution",          "format",   "expected",
      "source_location", "ranges",     "stop_token", "iostream"};
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    const std::string module = module_of(file.path, module_root);
    const std::optional<int> floor = floor_of(floors, module);
    if (!floor || *floor >= first_free_floor || module == "base" || module == "measure" || is_test(file.path)) continue;
    for (const Include& include : includes_of(file)) {
      if (forbidden.count(include.path) != 0 || include.path.starts_with("sys/")) {
        findings.push_back(at(file, include.line) + "floor " + std::to_string(*floor) + " may not include <" +
                           include.path + ">");
      }
    }
  }
  return findings;
}

std::vector<std::string> heavy_includes(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  std::map<std::string, std::string> carriers;  // header that includes a slow library, as it is included → the library
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      const bool forward = include.path.ends_with("_fwd.hpp");
      const bool slow = !forward && starts_with_any(include.path, {"nlohmann/", "toml++/", "toml.hpp"});
      if (slow && file.path.ends_with(".h")) carriers[file.path.substr(4)] = include.path;  // without "src/"
      if (include.path.starts_with("CLI/") && module_of(file.path, module_root) != "cli") {
        findings.push_back(at(file, include.line) + "only the module cli uses CLI11");
      }
    }
  }
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      const auto carrier = carriers.find(include.path);
      if (carrier == carriers.end()) continue;
      const bool own = module_of(include.path, "corridor/") == module_of(file.path, module_root);
      if (own && file.path.ends_with(".cpp")) continue;
      findings.push_back(at(file, include.line) + include.path + " brings in <" + carrier->second +
                         ">; only .cpp files of its own module may include it");
    }
  }
  return findings;
}

std::vector<std::string> missing_openings(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (file.lines.empty() || file.lines.front() != "// SPDX-License-Identifier: Apache-2.0") {
      findings.push_back(at(file, 1) + "does not open with the SPDX line");
      continue;
    }
    const std::string purpose = opening_paragraph(file);
    constexpr std::size_t shortest_sentence = 15;
    const bool ends = !purpose.empty() && std::string_view(".:)").find(purpose.back()) != std::string_view::npos;
    if (purpose.size() < shortest_sentence || !ends) {
      findings.push_back(at(file, 2) + "does not state its purpose in a sentence");
    }
  }
  return findings;
}

std::vector<std::string> long_files(const std::vector<SourceFile>& files,
                                    const std::map<std::string, std::string>& allowed) {
  std::vector<std::string> findings;
  std::set<std::string> needed;
  for (const SourceFile& file : files) {
    if (file.lines.size() <= longest_file) continue;
    needed.insert(file.path);
    const auto entry = allowed.find(file.path);
    if (entry == allowed.end()) {
      findings.push_back(file.path + ": " + std::to_string(file.lines.size()) + " lines; the house allows " +
                         std::to_string(longest_file));
    } else if (entry->second.empty()) {
      findings.push_back(file.path + ": long_files.txt gives no reason");
    }
  }
  for (const auto& [path, reason] : allowed) {
    if (needed.count(path) == 0) findings.push_back(path + ": listed in long_files.txt without need");
  }
  return findings;
}

}  // namespace corridor::layering
