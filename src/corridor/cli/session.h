// SPDX-License-Identifier: Apache-2.0
// What every subcommand shares: the output flags, the data it reads, and how a result is shown.
//
// A subcommand is one file: `void add_NAME(CLI::App&, Session&)` declares its flags and sets `session.run` in the
// callback. main.cpp parses, then calls `session.run` once and turns an Error into one line on stderr and exit 2.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/report/document.h"

namespace corridor::cli {

/// Exit codes of DESIGN §5.
inline constexpr int exit_answered = 0;
inline constexpr int exit_no = 1;
inline constexpr int exit_bad_input = 2;

class Session {
 public:
  /// --json, --html FILE, --explain, --data DIR; called by every subcommand.
  void add_output_flags(CLI::App& command);

  /// The data the command reads, opened on first use.
  [[nodiscard]] Result<const Assets*> assets();

  /// Prints the document as asked (terminal or JSON on stdout, HTML to its file) and returns `exit_code`.
  [[nodiscard]] Result<int> show(const report::Document& document, int exit_code = exit_answered) const;

  [[nodiscard]] bool explain() const { return explain_; }
  [[nodiscard]] bool json() const { return json_; }
  /// `--html -`: the page is printed in place of the answer.
  [[nodiscard]] bool page_to_output() const { return html_file_ == "-"; }

  /// Set by the callback of the chosen subcommand.
  std::function<Result<int>()> run;

 private:
  bool json_ = false;
  bool explain_ = false;
  std::string html_file_;
  std::string data_folder_;
  std::optional<Assets> assets_;
};

void add_predict(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_levers(CLI::App& app, Session& session);
void add_diagnose(CLI::App& app, Session& session);
void add_op(CLI::App& app, Session& session);
void add_block(CLI::App& app, Session& session);
void add_devices(CLI::App& app, Session& session);
void add_models(CLI::App& app, Session& session);
void add_measure(CLI::App& app, Session& session);
void add_validate(CLI::App& app, Session& session);
void add_lab(CLI::App& app, Session& session);
void add_tour(CLI::App& app, Session& session);
void add_ptx(CLI::App& app, Session& session);
/// `corridor` alone: this machine, its ridge, what it could reach, then the help.
Result<int> run_welcome(const CLI::App& app, Session& session);

}  // namespace corridor::cli
