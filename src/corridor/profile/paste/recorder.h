// SPDX-License-Identifier: Apache-2.0
// Collects what the readers of a paste found, within the bounds that PastedRun promises.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {

class Recorder {
 public:
  explicit Recorder(PastedRun& run) : run_(run) {}

  /// A later command replaces an earlier one, and a note says so.
  void command(ServeCommand command);
  void client(ClientCommand client);
  void result(ResultBlock block);
  void log(LogFact fact);
  /// Replaces a GPU of the same index.
  void gpu(GpuSeen gpu);
  void ignore(std::string_view text);
  void note(std::string text);
  /// The last result of that kind, when it is the last result of all; for lines that follow their block.
  [[nodiscard]] ResultBlock* last_result(ResultKind kind);
  [[nodiscard]] PastedRun& run() { return run_; }

  /// Writes the clauses of `understood`, in order of the text, and brings the log facts in order.
  void finish();

 private:
  void clause(std::size_t line, std::string text);
  void count_window(const LogFact& fact);

  struct Clause {
    std::size_t line;
    std::string text;
  };

  PastedRun& run_;
  std::vector<Clause> clauses_;
  std::vector<LogFact> late_facts_;  // ring of the last ones
  std::size_t facts_ = 0;
  std::size_t dropped_results_ = 0;
  std::size_t first_window_line_ = 0;
};

/// "model Qwen/Qwen3-32B, tp 4, enforce eager": what a command states, in a fixed order.
[[nodiscard]] std::string describe(const ServeCommand& command);
[[nodiscard]] std::string describe(const ClientCommand& client);
[[nodiscard]] std::string describe(const ResultBlock& block);
/// Empty for the kinds that are told together at the end.
[[nodiscard]] std::string describe(const LogFact& fact);
[[nodiscard]] std::string describe(const LogWindows& windows);
[[nodiscard]] std::string describe(const GpuSeen& gpu);

}  // namespace corridor::profile
