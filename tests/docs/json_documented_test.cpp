// SPDX-License-Identifier: Apache-2.0
// docs/json.md and the program agree: every key of the recorded commands' --json output is documented under its
// schema, and every documented key is printed by one of them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "support/golden.h"
#include "support/process.h"

namespace corridor::test {
namespace {

using Keys = std::set<std::string>;
using KeysBySchema = std::map<std::string, Keys>;

constexpr const char* common_section = "every document";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return split_lines(std::string{std::istreambuf_iterator<char>(in), {}});
}

/// Section heading → keys of its tables' first column. "## `corridor/prediction/1`" opens a section.
KeysBySchema documented_keys(const std::vector<std::string>& lines) {
  static const std::regex row(R"(^\| `([^`]+)` \|.*)");
  static const std::regex heading(R"(^## `?([^`]+)`?$)");
  KeysBySchema keys;
  std::string section;
  for (const std::string& line : lines) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) section = match[1];
    if (std::regex_match(line, match, row)) keys[section].insert(match[1]);
  }
  return keys;
}

void collect(const nlohmann::json& value, const std::string& path, Keys& keys) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) collect(member, path.empty() ? name : path + "." + name, keys);
  } else if (value.is_array() && !value.empty()) {
    for (const auto& member : value) collect(member, path + "[]", keys);
  } else {
    keys.insert(value.is_array() ? path + "[]" : path);
  }
}

/// A documented key as a pattern: `peaks.<type>_flop_per_s` stands for any type. `<…>` matches anything but a dot.
bool matches(const std::string& key, const std::string& documented) {
  if (documented.find('<') == std::string::npos) return key == documented;
  std::string pattern;
  bool in_name = false;
  for (const char c : documented) {
    if (c == '<') pattern += "[^.]+";
    in_name = c == '<' || (in_name && c != '>');
    if (in_name || c == '>') continue;
    if (std::string_view(".[]()*+?\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return std::regex_match(key, std::regex(pattern));
}

bool matches_any(const std::string& key, const Keys& documented) {
  for (const std::string& entry : documented) {
    if (matches(key, entry)) return true;
  }
  // An empty list has no element to show its keys; any documented key below it speaks for it.
  const bool empty_list = key.ends_with("[]");
  for (const std::string& entry : documented) {
    if (empty_list && entry.starts_with(key + ".")) return true;
  }
  return false;
}

bool is_documented(std::string key, const Keys& documented) {
  if (matches_any(key, documented)) return true;
  constexpr std::string_view note = "_note";
  if (!key.ends_with(note)) return false;
  key.resize(key.size() - note.size());
  return matches_any(key, documented);
}

/// Runs one recorded command and adds the keys of its output under its schema.
void run_command(const std::string& line, KeysBySchema& printed) {
  std::optional<CommandLine> command = split_command_line(line);
  ASSERT_TRUE(command && !command->arguments.empty());
  ASSERT_EQ(command->arguments.front(), "corridor");
  command->arguments.front() = CORRIDOR_PROGRAM;
  const ProcessResult result = run_process(*command);
  ASSERT_LE(result.exit_code, 1) << result.errors;
  const nlohmann::json document = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_TRUE(document.is_object() && document.contains("schema")) << result.output.substr(0, 300);
  collect(document, "", printed[document["schema"].get<std::string>()]);
}

TEST(JsonDocument, EveryKeyIsDocumentedAndEveryDocumentedKeyIsPrinted) {
  const KeysBySchema documented = documented_keys(lines_of(CORRIDOR_SOURCE_DIR "/docs/json.md"));
  ASSERT_TRUE(documented.count(common_section) != 0);
  KeysBySchema printed;
  for (const std::string& line : lines_of(CORRIDOR_SOURCE_DIR "/tests/docs/json_commands.txt")) {
    if (line.empty() || line.front() == '#') continue;
    SCOPED_TRACE("$ " + line);
    run_command(line, printed);
  }
  const Keys& common = documented.at(common_section);
  for (const auto& [schema, keys] : printed) {
    ASSERT_TRUE(documented.count(schema) != 0) << "docs/json.md has no section '## `" << schema << "`'";
    for (const std::string& key : keys) {
      EXPECT_TRUE(is_documented(key, common) || is_documented(key, documented.at(schema)))
          << schema << " prints `" << key << "`, which docs/json.md does not list";
    }
  }
  for (const auto& [section, keys] : documented) {
    if (section == common_section) continue;
    ASSERT_TRUE(printed.count(section) != 0) << "no command of tests/docs/json_commands.txt prints " << section;
    for (const std::string& entry : keys) {
      bool seen = false;
      for (const std::string& key : printed[section]) seen = seen || matches(key, entry);
      EXPECT_TRUE(seen) << "docs/json.md lists `" << entry << "` under " << section << ", which no command prints";
    }
  }
}

TEST(JsonDocument, TheComparisonFindsWhatIsMissing) {
  const KeysBySchema documented = documented_keys({"## `corridor/x/1`", "| key | unit | meaning |", "|---|---|---|",
                                                   "| `a.b` | s | one |", "| `rows[].<type>_s` | s | two |"});
  const Keys& keys = documented.at("corridor/x/1");
  EXPECT_EQ(keys.size(), 2U);
  Keys printed;
  collect(nlohmann::json::parse(R"({"a": {"b": 1, "b_note": "n", "c": 2}, "rows": [{"bf16_s": 1}, {"x": 1}]})"), "",
          printed);
  Keys missing;
  for (const std::string& key : printed) {
    if (!is_documented(key, keys)) missing.insert(key);
  }
  EXPECT_EQ(missing, (Keys{"a.c", "rows[].x"}));
  EXPECT_TRUE(is_documented("rows[]", keys));
}

}  // namespace
}  // namespace corridor::test
