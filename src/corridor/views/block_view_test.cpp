// SPDX-License-Identifier: Apache-2.0
// The keys `corridor block` promises, and what the terminal says.
#include "corridor/views/block_view.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "corridor/app/tools_test_device.h"

namespace corridor::views {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

report::Document document_of(const app::BlockRequest& request) {
  const auto result = app::place_block(request, app::h100_by_hand());
  EXPECT_TRUE(result.has_value());
  return block_document(*result, true, {});
}

TEST(BlockView, JsonHasThePromisedKeys) {
  const report::Document document = document_of({250, std::nullopt, units::Bytes{0}, 2000.0});
  EXPECT_THAT(report::duplicate_keys(document), IsEmpty());
  const auto json = nlohmann::json::parse(report::render_json(document));
  EXPECT_EQ(json["schema"], "corridor/block/1");
  EXPECT_EQ(json["warps"], 8);
  EXPECT_TRUE(json["warps"].is_number_integer());
  EXPECT_EQ(json["last_warp_lanes"], 26);
  EXPECT_EQ(json["blocks_per_sm"], 8);
  EXPECT_EQ(json["warps_per_sm"], 64);
  EXPECT_EQ(json["occupancy"], 1.0);
  EXPECT_EQ(json["limited_by"], "threads");
  EXPECT_EQ(json["blocks_per_device"], 8 * 132);
  EXPECT_EQ(json["warps_per_device"], 64 * 132);
  EXPECT_EQ(json["threads_per_device"], 8 * 132 * 250);
  EXPECT_EQ(json["register_file_bytes"], 132.0 * 65536 * 4);
  EXPECT_EQ(json["l2_bytes"], 50.0 * 1024 * 1024);
  EXPECT_EQ(json["waves"], 2);
}

TEST(BlockView, TerminalNamesWarpsLanesAndLimit) {
  const std::string text = report::render_terminal(document_of({250, 64.0, units::Bytes{0}, std::nullopt}));
  EXPECT_THAT(text, HasSubstr("8 warps a block, the last with 26 of 32 lanes live"));
  EXPECT_THAT(text, HasSubstr("limited by registers"));
}

}  // namespace
}  // namespace corridor::views
