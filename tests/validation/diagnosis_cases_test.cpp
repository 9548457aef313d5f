// SPDX-License-Identifier: Apache-2.0
// Cases that people reported with the cause they found in the end: the verdict must agree with at least 80 % of them.
// Prints the whole table; a disagreement stands in it with what was said instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/process.h"

namespace corridor::test {
namespace {

struct ReportedCase {
  std::string id, source, expected, arguments, note;
};

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<ReportedCase> read_cases() {
  std::ifstream file(CORRIDOR_SOURCE_DIR "/tests/validation/diagnosis_cases.csv");
  std::vector<ReportedCase> cases;
  std::string line;
  std::getline(file, line);  // head
  while (std::getline(file, line)) {
    std::vector<std::string> fields = split(line, ',');
    if (fields.size() == 5) cases.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  return cases;
}

/// What the program says of a case: the wall, or the status where that is the answer (capacity).
std::string verdict_of(const ReportedCase& reported, std::string& detail) {
  CommandLine command{{CORRIDOR_PROGRAM, "diagnose"}, {}};
  for (const std::string& word : split(reported.arguments, ' ')) command.arguments.push_back(word);
  command.arguments.push_back("--json");
  const ProcessResult result = run_process(command);
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  if (json.is_discarded()) {
    detail = result.errors;
    return "no answer";
  }
  const auto& verdict = json["verdict"];
  const auto fraction = [&](const char* key) { return verdict[key].is_number() ? verdict[key].get<double>() : 0; };
  detail = fmt::format("{}, {:.0f} % of the limit, {:.0f} % of expected", verdict["status"].get<std::string>(),
                       100 * fraction("fraction_of_limit"), 100 * fraction("fraction_of_expected"));
  return verdict["wall"].get<std::string>();
}

TEST(ReportedCases, VerdictAgreesWithTheStatedCause) {
  const std::vector<ReportedCase> cases = read_cases();
  ASSERT_GT(cases.size(), 40U);
  int scored = 0;
  int agreed = 0;
  for (const ReportedCase& reported : cases) {
    if (reported.expected == "unscored") {
      fmt::print("{:4} unscored: {}\n", reported.id, reported.note);
      continue;
    }
    std::string detail;
    const std::string verdict = verdict_of(reported, detail);
    EXPECT_NE(verdict, "no answer") << reported.id << ": " << detail;
    if (reported.expected == "other") {
      fmt::print("{:4} listed:   {} ({})\n", reported.id, verdict, detail);
      continue;
    }
    ++scored;
    const bool same = verdict == reported.expected;
    agreed += same ? 1 : 0;
    EXPECT_TRUE(same || !reported.note.empty()) << reported.id << ": a disagreement needs its reason in the table";
    fmt::print("{:4} {} {} said {} ({}) {} {}\n", reported.id, same ? "agrees:  " : "DISAGREES:", reported.expected,
               verdict, detail, reported.source, same ? "" : reported.note);
  }
  fmt::print("{} of {} scored cases agree\n", agreed, scored);
  EXPECT_GE(agreed * 100, scored * 80);
}

}  // namespace
}  // namespace corridor::test
