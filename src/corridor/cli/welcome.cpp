// SPDX-License-Identifier: Apache-2.0
// corridor alone: this machine, then the commands, one line each, and three examples.
#include "corridor/app/welcome.h"

#include <cstdio>
#include <string>

#include "corridor/cli/session.h"
#include "corridor/views/welcome_view.h"

namespace corridor::cli {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t name_width = 12;

constexpr const char* examples =
    "\nExamples\n"
    "  corridor predict meta-llama/Llama-3.1-8B --weights q4_k_m --device local\n"
    "  corridor predict meta-llama/Llama-3.1-70B --device h100-sxm --tp 4 --batch 32\n"
    "  corridor op matmul 4096 4096 4096 --device h200\n"
    "\ncorridor COMMAND --help tells its flags.\n";

/// The first `width` bytes of a description, cut at a space.
std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  const std::size_t space = text.rfind(' ', width - 4);
  text.resize(space == std::string::npos ? width - 4 : space);
  return text + " …";
}

std::string command_lines(const CLI::App& app) {
  std::string out = "\nCommands\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::string name = command->get_name();
    if (name.empty()) continue;
    if (name.size() < name_width) name.resize(name_width, ' ');
    out += "  " + name + cut(command->get_description(), columns - name.size() - 2) + "\n";
  }
  return out;
}

report::Document without_machine(const Error& error) {
  report::Document doc;
  doc.schema = "corridor/machine/1";
  doc.blocks.push_back(report::Paragraph{"warnings", error.line(), report::Paragraph::Style::warning});
  return doc;
}

}  // namespace

Result<int> run_welcome(const CLI::App& app, Session& session) {
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const Result<app::WelcomeAnswer> answer = app::welcome(**assets);
  report::Document doc = answer ? views::welcome_view(*answer) : without_machine(answer.error());
  if (session.explain()) {
    doc.blocks.push_back(report::Paragraph{
        "notes",
        "--explain has no effect here: corridor predict --params 8B --device local --explain has the formulas.",
        report::Paragraph::Style::detail});
  }
  if (const Result<int> shown = session.show(doc); !shown) return shown;
  if (session.json() || session.page_to_output()) return exit_answered;  // the help is for people
  const std::string help = command_lines(app) + examples;
  std::fwrite(help.data(), 1, help.size(), stdout);
  return exit_answered;
}

}  // namespace corridor::cli
