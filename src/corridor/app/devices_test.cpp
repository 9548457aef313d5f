// SPDX-License-Identifier: Apache-2.0
// The list, the detail and the trend of devices, on the shipped catalogue.
#include "corridor/app/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corridor/hardware/catalogue.h"

namespace corridor::app {
namespace {

using ::testing::HasSubstr;

Assets shipped() {
  Result<Assets> assets = Assets::open();
  EXPECT_TRUE(assets);
  return assets ? std::move(*assets) : Assets{};
}

TEST(ListDevices, HoldsEveryDeviceOnce) {
  const Assets assets = shipped();
  const auto list = list_devices(assets);
  ASSERT_TRUE(list) << list.error().line();
  std::vector<std::string> ids;
  for (const DeviceSummary& device : list->devices) ids.push_back(device.id);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, hardware::device_ids(assets));
}

TEST(ListDevices, FiltersByVendorInAnyCase) {
  const Assets assets = shipped();
  const auto list = list_devices(assets, "nvidia");
  ASSERT_TRUE(list) << list.error().line();
  for (const DeviceSummary& device : list->devices) EXPECT_EQ(device.vendor, "NVIDIA");
  const auto none = list_devices(assets, "Cyrix");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().line(), HasSubstr("NVIDIA"));
}

TEST(ListDevices, CountsTheWholeDevice) {
  const auto list = list_devices(shipped());
  ASSERT_TRUE(list);
  const auto found = std::find_if(list->devices.begin(), list->devices.end(),
                                  [](const DeviceSummary& device) { return device.id == "h100-sxm"; });
  ASSERT_NE(found, list->devices.end());
  EXPECT_EQ(found->threads_resident, 132.0 * 2048);
  EXPECT_EQ(found->lanes_per_clock, 132.0 * 128);
}

TEST(DescribeDevice, EveryFactIsBelievable) {
  const Assets assets = shipped();
  for (const std::string& id : hardware::device_ids(assets)) {
    const auto detail = describe_device(assets, id);
    ASSERT_TRUE(detail) << detail.error().line();
    EXPECT_GE(detail->facts.size(), 3U) << id;
    for (const FactRow& fact : detail->facts) {
      EXPECT_GT(fact.value, 0) << id << " " << fact.key;
      EXPECT_GE(fact.source.size(), 12U) << id << " " << fact.key;
      EXPECT_EQ(fact.date.size(), 10U) << id << " " << fact.key;
    }
  }
}

TEST(DescribeDevice, SaysHowTheNameWasUnderstood) {
  const auto detail = describe_device(shipped(), "h100");
  ASSERT_TRUE(detail);
  EXPECT_THAT(detail->resolution_note, HasSubstr("h100-pcie"));
  EXPECT_FALSE(describe_device(shipped(), "h900"));
}

TEST(DeviceTrend, TheRidgeFellFromH100ToH200) {
  const auto trend = device_trend(shipped());
  ASSERT_TRUE(trend) << trend.error().line();
  EXPECT_EQ(trend->lines.size(), 3U);
  int seen = 0;
  for (const TrendStep& step : trend->steps) {
    // A ridge is arithmetic over bandwidth, so the ratios must agree.
    EXPECT_NEAR(step.ridge_to / step.ridge_from, step.peak_ratio / step.bandwidth_ratio, 1e-9);
    if (step.from != "h100-sxm" || step.type != hardware::ComputeType::bf16) continue;
    ++seen;
    EXPECT_EQ(step.to, "h200");
    EXPECT_TRUE(step.ridge_fell());
    EXPECT_NEAR(step.ridge_from, 295, 0.5);
    EXPECT_NEAR(step.ridge_to, 206, 0.5);
  }
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace corridor::app
