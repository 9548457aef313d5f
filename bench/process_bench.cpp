// SPDX-License-Identifier: Apache-2.0
// Times whole processes: the program's start and one prediction against /bin/true, the least a process can cost.
//
//   process_bench --corridor build/release/corridor [--runs 100]
//
//   command                             median ms   p90 ms   × /bin/true
//   /bin/true                                0.61     0.70          1.00
//   corridor --version                       1.90     2.11          3.11
//
// The commands take turns, so that a change in the machine's speed touches all of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/process.h"

namespace {

struct Series {
  std::string label;
  corridor::test::CommandLine command;
  std::vector<double> milliseconds;
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// Adds one run's time; false when the program could not be started or said that its input is bad.
bool run_once(Series& series) {
  const auto begin = std::chrono::steady_clock::now();
  const corridor::test::ProcessResult result = corridor::test::run_process(series.command);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  series.milliseconds.push_back(elapsed.count());
  constexpr int first_failing_code = 2;
  if (result.exit_code >= first_failing_code) std::fprintf(stderr, "%s", result.errors.c_str());
  return result.exit_code < first_failing_code;
}

int usage() {
  std::fprintf(stderr, "usage: process_bench --corridor PROGRAM [--runs N]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string program;
  int runs = 100;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--corridor") {
      program = argv[i + 1];
    } else if (flag == "--runs") {
      runs = std::atoi(argv[i + 1]);
    } else {
      return usage();
    }
  }
  if (program.empty() || runs < 1) return usage();

  std::vector<Series> all{
      {"/bin/true", {{"/bin/true"}, ""}, {}},
      {"corridor --version", {{program, "--version"}, ""}, {}},
      {"corridor predict MODEL --json",
       {{program, "predict", "meta-llama/Llama-3.1-70B", "--device", "h100-sxm", "--json"}, ""},
       {}},
  };
  for (int run = 0; run < runs; ++run) {
    for (Series& series : all) {
      if (!run_once(series)) return 1;
    }
  }
  const double floor_ms = quantile(all.front().milliseconds, 0.5);
  std::printf("%-32s %11s %8s %13s\n", "command", "median ms", "p90 ms", "x /bin/true");
  for (const Series& series : all) {
    const double median = quantile(series.milliseconds, 0.5);
    std::printf("%-32s %11.2f %8.2f %13.2f\n", series.label.c_str(), median, quantile(series.milliseconds, 0.9),
                median / floor_ms);
  }
  return 0;
}
