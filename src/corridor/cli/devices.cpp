// SPDX-License-Identifier: Apache-2.0
// `corridor devices`: what is known of the hardware, with sources.
#include <memory>
#include <string>

#include "corridor/app/devices.h"
#include "corridor/cli/session.h"
#include "corridor/views/devices_view.h"

namespace corridor::cli {
namespace {

struct DeviceFlags {
  std::string name, vendor;
  bool trend = false;
};

/// A list has no formulas; one entry has.
Result<int> show_list(report::Document document, const Session& session) {
  if (session.explain()) {
    document.blocks.push_back(
        report::Paragraph{"notes", "--explain has no effect on a list; name one: corridor devices h100-sxm --explain",
                          report::Paragraph::Style::detail});
  }
  return session.show(document);
}

Result<int> run_devices(const DeviceFlags& flags, Session& session) {
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  if (flags.trend) {
    const auto trend = app::device_trend(**assets);
    if (!trend) return tl::unexpected(trend.error());
    return show_list(views::device_trend_document(*trend), session);
  }
  if (!flags.name.empty()) {
    const auto detail = app::describe_device(**assets, flags.name);
    if (!detail) return tl::unexpected(detail.error());
    return session.show(views::device_document(*detail, session.explain()));
  }
  const auto list = app::list_devices(**assets, flags.vendor);
  if (!list) return tl::unexpected(list.error());
  return show_list(views::device_list_document(*list), session);
}

}  // namespace

void add_devices(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("devices", "the devices it knows: memory ladder, peaks, ridge points, sources");
  auto flags = std::make_shared<DeviceFlags>();
  auto* name =
      command->add_option("NAME", flags->name, "one device in full, by any name ('h100-sxm', 'NVIDIA L4', a file)");
  auto* trend = command->add_flag("--trend", flags->trend, "how product lines moved from generation to generation");
  auto* vendor =
      command->add_option("--vendor", flags->vendor, "only this vendor's devices (NVIDIA, AMD, Intel, Apple …)");
  name->excludes(trend)->excludes(vendor);
  trend->excludes(vendor);
  session.add_output_flags(*command);
  command->callback([&session, flags] { session.run = [&session, flags] { return run_devices(*flags, session); }; });
}

}  // namespace corridor::cli
