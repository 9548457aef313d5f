// SPDX-License-Identifier: Apache-2.0
// `corridor validate`: predictions held against measured numbers.
#include "corridor/app/validate.h"

#include <cstdio>
#include <memory>
#include <string>

#include "corridor/base/file.h"
#include "corridor/cli/session.h"
#include "corridor/views/validate_view.h"

namespace corridor::cli {
namespace {

struct ValidateFlags {
  app::ValidateRequest request;
  std::string rows;
};

/// Writes the rows; `-` prints them in place of the answer.
Result<bool> write_rows(const std::string& file, const app::ValidateAnswer& answer) {
  const std::string csv = views::validate_rows_csv(answer);
  if (file == "-") {
    std::fwrite(csv.data(), 1, csv.size(), stdout);
    if (std::fflush(stdout) != 0) return fail("cannot write the rows", "standard output");
    return true;
  }
  const Result<std::size_t> written = write_text_file(file, csv);
  if (!written) return fail(written.error().what, "--rows " + file, written.error().fix);
  return false;
}

Result<int> run_validate(const ValidateFlags& flags, Session& session) {
  if (flags.rows == "-" && (session.json() || session.page_to_output())) {
    return fail("two answers want the standard output", "--rows -", "give --rows a file, or leave the other out");
  }
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const Result<app::ValidateAnswer> answer = app::validate(**assets, flags.request);
  if (!answer) return tl::unexpected(answer.error());
  if (!flags.rows.empty()) {
    const Result<bool> printed = write_rows(flags.rows, *answer);
    if (!printed) return tl::unexpected(printed.error());
    if (*printed) return exit_answered;
  }
  return session.show(views::validate_document(*answer, session.explain()));
}

}  // namespace

void add_validate(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("validate", "its predictions held against measured numbers, regime by regime");
  auto flags = std::make_shared<ValidateFlags>();
  command
      ->add_option("--points", flags->request.points,
                   "tables to judge (CSV; docs/validation.md tells the columns) in place of the built-in ones")
      ->type_name("FILE");
  command->add_option("--device", flags->request.device, "device of tables that name none");
  command->add_option("--rows", flags->rows, "also write one CSV line a row; - prints them in place of the answer")
      ->type_name("FILE");
  session.add_output_flags(*command);
  command->callback([&session, flags] { session.run = [&session, flags] { return run_validate(*flags, session); }; });
}

}  // namespace corridor::cli
