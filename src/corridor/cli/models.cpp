// SPDX-License-Identifier: Apache-2.0
// `corridor models`: the built-in models, or one model in full.
#include <memory>
#include <string>

#include "corridor/app/models.h"
#include "corridor/cli/session.h"
#include "corridor/views/models_view.h"

namespace corridor::cli {
namespace {

/// A list has no formulas; one entry has.
Result<int> show_list(report::Document document, const Session& session) {
  if (session.explain()) {
    document.blocks.push_back(report::Paragraph{
        "notes", "--explain has no effect on a list; name one: corridor models llama-3.1-70b --explain",
        report::Paragraph::Style::detail});
  }
  return session.show(document);
}

Result<int> run_models(const std::string& name, Session& session) {
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  if (!name.empty()) {
    const auto detail = app::describe_model(**assets, name);
    if (!detail) return tl::unexpected(detail.error());
    return session.show(views::model_document(*detail, session.explain()));
  }
  const auto list = app::list_models(**assets);
  if (!list) return tl::unexpected(list.error());
  return show_list(views::model_list_document(*list), session);
}

}  // namespace

void add_models(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("models", "the models it knows: sizes, layers, KV cache, formats");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "one model in full: an id ('llama-3.1-70b'), a folder or a file");
  session.add_output_flags(*command);
  command->callback([&session, name] { session.run = [&session, name] { return run_models(*name, session); }; });
}

}  // namespace corridor::cli
