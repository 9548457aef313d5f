// SPDX-License-Identifier: Apache-2.0
// The documents of `corridor devices`: widths, keys, and numbers that match the catalogue.
#include "corridor/views/devices_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace corridor::views {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Assets shipped() {
  Result<Assets> assets = Assets::open();
  EXPECT_TRUE(assets);
  return assets ? std::move(*assets) : Assets{};
}

/// Cells of a line: every byte but the continuation bytes of UTF-8.
std::size_t cells(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

void expect_narrow(const report::Document& document) {
  std::istringstream lines(report::render_terminal(document));
  std::string line;
  while (std::getline(lines, line)) EXPECT_LE(cells(line), 80U) << line;
}

TEST(DevicesView, ListFitsATerminalAndNamesEveryDevice) {
  const auto list = app::list_devices(shipped());
  ASSERT_TRUE(list) << list.error().line();
  const report::Document document = device_list_document(*list);
  EXPECT_EQ(document.schema, "corridor/devices/1");
  expect_narrow(document);
  const std::string shown = report::render_terminal(document);
  const std::string json = report::render_json(document);
  for (const app::DeviceSummary& device : list->devices) {
    EXPECT_THAT(shown, HasSubstr(device.id));
    EXPECT_THAT(json, HasSubstr("\"" + device.id + "\""));
  }
  EXPECT_THAT(json, HasSubstr("\"threads_resident\""));
  EXPECT_THAT(shown, Not(HasSubstr("columns (--json")));
}

TEST(DevicesView, DetailShowsTheLadderAndEverySource) {
  const auto detail = app::describe_device(shipped(), "h100");
  ASSERT_TRUE(detail) << detail.error().line();
  const report::Document document = device_document(*detail, true);
  EXPECT_EQ(document.schema, "corridor/device/1");
  expect_narrow(document);
  const std::string shown = report::render_terminal(document);
  for (const auto& level : detail->device.ladder) EXPECT_THAT(shown, HasSubstr(level.name));
  EXPECT_THAT(shown, HasSubstr("85.5 GB"));
  EXPECT_THAT(shown, HasSubstr("295 FLOP/B"));
  EXPECT_THAT(shown, HasSubstr("2048")) << "counts print whole";
  EXPECT_THAT(shown, HasSubstr("(2022)"));
  EXPECT_THAT(shown, Not(HasSubstr("2,022")));
  const std::string json = report::render_json(document);
  for (const app::FactRow& fact : detail->facts) EXPECT_THAT(json, HasSubstr("\"" + fact.key + "\""));
}

TEST(DevicesView, DetailOfEveryDeviceRenders) {
  const Assets assets = shipped();
  const auto list = app::list_devices(assets);
  ASSERT_TRUE(list);
  for (const app::DeviceSummary& summary : list->devices) {
    const auto detail = app::describe_device(assets, summary.id);
    ASSERT_TRUE(detail) << detail.error().line();
    expect_narrow(device_document(*detail, false));
    EXPECT_FALSE(report::render_html(device_document(*detail, true)).empty());
  }
}

TEST(DevicesView, TrendTellsWhereTheRidgeFell) {
  const auto trend = app::device_trend(shipped());
  ASSERT_TRUE(trend) << trend.error().line();
  const report::Document document = device_trend_document(*trend);
  EXPECT_EQ(document.schema, "corridor/device-trend/1");
  expect_narrow(document);
  EXPECT_THAT(report::render_terminal(document), HasSubstr("h100-sxm → h200: the bf16 ridge fell from 295 to 206"));
}

}  // namespace
}  // namespace corridor::views
