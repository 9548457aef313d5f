// SPDX-License-Identifier: Apache-2.0
// Entry point: parses the command line, runs one subcommand, turns an Error into one line and an exit code.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "corridor/cli/command_line.h"
#include "corridor/cli/session.h"

namespace corridor::cli {
namespace {

int report_error(const std::string& line) {
  std::fprintf(stderr, "corridor: %s\n", line.c_str());
  return exit_bad_input;
}

/// CLI11's messages can span lines; users get one.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

int run(int argc, char** argv) {
  const std::vector<std::string> words = words_of(argc, argv);
  if (const std::string fault = word_fault(words); !fault.empty()) return report_error(one_line(fault));
  CLI::App app(
      "What speed is possible for a language model on a machine, how far a run is from it, and which wall it hits.",
      "corridor");
  app.formatter(narrow_formatter());
  app.set_version_flag("--version", std::string("corridor ") + CORRIDOR_VERSION);
  app.require_subcommand(0, 1);
  Session session;
  session.add_output_flags(app);
  add_predict(app, session);
  add_sweep(app, session);
  add_levers(app, session);
  add_diagnose(app, session);
  add_op(app, session);
  add_block(app, session);
  add_devices(app, session);
  add_models(app, session);
  add_measure(app, session);
  add_validate(app, session);
  add_lab(app, session);
  add_tour(app, session);
  add_ptx(app, session);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the parser takes them last first
  } catch (const CLI::Success& success) {                               // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report_error(one_line(parse_fault(app, words, error)));
  }
  const Result<int> code = session.run ? session.run() : run_welcome(app, session);
  return code ? *code : report_error(one_line(code.error().line()));
}

}  // namespace
}  // namespace corridor::cli

int main(int argc, char** argv) {
  // `corridor --version` is asked by scripts in loops: it must not pay for building the whole command line.
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("corridor %s\n", CORRIDOR_VERSION);
    return 0;
  }
  try {
    return corridor::cli::run(argc, argv);
  } catch (const std::exception& error) {  // out of memory and the like: still one line, never a crash
    std::fprintf(stderr, "corridor: %s\n", error.what());
    return corridor::cli::exit_bad_input;
  }
}
