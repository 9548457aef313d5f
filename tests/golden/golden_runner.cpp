// SPDX-License-Identifier: Apache-2.0
// Runs the commands recorded in golden files and documents and compares what the program prints with the record.
//
//   golden_runner --corridor build/release/corridor [--update] tests/golden/predict.test README.md
//
// Run from the repository root. Exit 0 when all agree, 1 when one differs, 77 when every command was left out because
// it reads a folder beside the repository that is absent. `--update` writes the present output into the files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "support/golden.h"
#include "support/process.h"

namespace corridor::test {
namespace {

constexpr int exit_skipped = 77;
constexpr std::string_view temporary_mark = "{tmp}";

struct Settings {
  std::string program;
  bool update = false;
  std::filesystem::path temporary;
  std::vector<std::string> files;
};

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
};

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool needs_absent_folder(const CommandLine& command) {
  const auto absent = [](const std::string& path) {
    return path.starts_with("../shared/") && !std::filesystem::exists(path);
  };
  for (const std::string& argument : command.arguments) {
    if (absent(argument)) return true;
  }
  return absent(command.input_file);
}

/// The difference in words; empty when the record holds. With --update the record is corrected instead.
std::string check(const GoldenCase& golden, CommandLine command, const Settings& settings,
                  std::vector<std::string>& lines) {
  command.arguments.front() = settings.program;
  const ProcessResult result = run_process(command, {.merge_streams = true});
  if (result.timed_out) return "still running after the time limit";
  const std::vector<std::string> output =
      split_lines(replace_all(result.output, settings.temporary.string(), temporary_mark));
  std::string difference = first_difference(golden.output, output);
  if (difference.empty() && result.exit_code != golden.exit_code) {
    difference = "exit code " + std::to_string(result.exit_code) + ", expected " + std::to_string(golden.exit_code);
  }
  if (difference.empty()) return {};
  if (settings.update && !has_gap(golden.output)) {
    lines = replace_output(lines, golden, output, result.exit_code);
    return {};
  }
  return difference + "\n--- what it printed\n" + replace_all(result.output, settings.temporary.string(), "{tmp}") +
         result.errors + "--- exit " + std::to_string(result.exit_code);
}

void run_case(const GoldenCase& golden, const Settings& settings, const std::string& file,
              std::vector<std::string>& lines, Tally& tally) {
  const std::string place = file + ":" + std::to_string(golden.command_line + 1) + ": $ " + golden.command;
  const auto command = split_command_line(replace_all(golden.command, temporary_mark, settings.temporary.string()));
  if (!command || command->arguments.empty()) {
    std::cout << place << "\n  cannot be run without a shell: use only arguments, quotes and `< file`\n";
    ++tally.failed;
  } else if (needs_absent_folder(*command)) {
    std::cout << place << "\n  left out: a file of ../shared is absent\n";
    ++tally.skipped;
  } else if (const std::string difference = check(golden, *command, settings, lines); !difference.empty()) {
    std::cout << place << "\n  " << difference << "\n";
    ++tally.failed;
  } else {
    ++tally.passed;
  }
}

void run_file(const std::string& file, const Settings& settings, Tally& tally) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::cout << file << ": cannot be read\n";
    ++tally.failed;
    return;
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::vector<std::string> before = split_lines(text);
  std::vector<std::string> lines = before;
  const std::vector<GoldenCase> cases = parse_golden(lines, file.ends_with(".md"));
  // From the last to the first, so that an update leaves the line numbers of the cases to come as they are.
  for (auto golden = cases.rbegin(); golden != cases.rend(); ++golden) {
    if (golden->is_corridor) run_case(*golden, settings, file, lines, tally);
  }
  if (lines == before) return;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  for (const std::string& line : lines) out << line << '\n';
  std::cout << file << ": updated\n";
}

int run(const Settings& settings) {
  Tally tally;
  for (const std::string& file : settings.files) run_file(file, settings, tally);
  std::cout << tally.passed << " commands as recorded, " << tally.failed << " not, " << tally.skipped << " left out\n";
  if (tally.failed > 0) return 1;
  return tally.passed == 0 && tally.skipped > 0 ? exit_skipped : 0;
}

}  // namespace
}  // namespace corridor::test

int main(int argc, char** argv) {
  corridor::test::Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--update") {
      settings.update = true;
    } else if (argument == "--corridor" && i + 1 < argc) {
      settings.program = argv[++i];
    } else {
      settings.files.push_back(argument);
    }
  }
  if (settings.program.empty() || settings.files.empty()) {
    std::cerr << "usage: golden_runner --corridor PROGRAM [--update] FILE…\n";
    return 2;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "corridor-golden-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::cerr << "cannot make a temporary folder\n";
    return 2;
  }
  settings.temporary = pattern;
  const int code = corridor::test::run(settings);
  std::error_code ignored;
  std::filesystem::remove_all(settings.temporary, ignored);
  return code;
}
