// SPDX-License-Identifier: Apache-2.0
// Shows a Document as asked: terminal, JSON, HTML.
#include "corridor/cli/session.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "corridor/base/file.h"

namespace corridor::cli {

void Session::add_output_flags(CLI::App& command) {
  command.add_flag("--json", json_, "print the answer as JSON (docs/json.md describes it)");
  command
      .add_option("--html", html_file_,
                  "also write the answer as one self-contained page; - prints it in place of the answer")
      ->type_name("FILE");
  command.add_flag("--explain", explain_, "show the formulas with this case's numbers");
  command
      .add_option("--data", data_folder_, "folder whose devices/, models/, engines/, kernels/ replace built-in files")
      ->type_name("DIR");
}

Result<const Assets*> Session::assets() {
  if (!assets_) {
    Result<Assets> opened = Assets::open(data_folder_.empty() ? std::nullopt : std::optional(data_folder_));
    if (!opened) return tl::unexpected(opened.error());
    assets_ = std::move(*opened);
  }
  return &*assets_;
}

Result<int> Session::show(const report::Document& document, int exit_code) const {
  if (page_to_output() && json_) {
    return fail("two answers want the standard output", "--html -", "give --html a file, or leave --json out");
  }
  if (!html_file_.empty() && !page_to_output()) {
    const Result<std::size_t> written = write_text_file(html_file_, report::render_html(document));
    if (!written) return fail(written.error().what, "--html " + html_file_, written.error().fix);
  }
  report::TerminalStyle style;
  const char* no_colour = std::getenv("NO_COLOR");
  style.colour = isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
  const std::string text = page_to_output() ? report::render_html(document)
                           : json_          ? report::render_json(document)
                                            : report::render_terminal(document, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
  if (std::fflush(stdout) != 0) return fail("cannot write the answer", "standard output");
  return exit_code;
}

}  // namespace corridor::cli
