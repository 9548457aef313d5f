// SPDX-License-Identifier: Apache-2.0
// The welcome's numbers against the physics of a device built by hand.
#include "corridor/app/welcome.h"

#include <gtest/gtest.h>

#include "corridor/units/text.h"

namespace corridor::app {
namespace {

hardware::Device small_cpu(double memory_bytes, double bytes_per_s) {
  const auto fact = [](auto value) {
    return hardware::Fact<decltype(value)>{value, hardware::Basis::measured, "this test", "2026-01-02", ""};
  };
  hardware::Device device;
  device.id = "this-machine";
  device.name = "a processor";
  device.kind = hardware::DeviceKind::cpu;
  device.default_engine = "llama.cpp";
  device.memory_capacity = fact(units::Bytes{memory_bytes});
  device.memory_bandwidth = fact(units::BytesPerSecond{bytes_per_s});
  device.peaks[static_cast<std::size_t>(hardware::ComputeType::fp32)] = fact(units::FlopsPerSecond{1e12});
  device.sm.count = fact(4.0);
  return device;
}

WelcomeAnswer answer_for(const hardware::Device& device) {
  const Result<Assets> assets = Assets::open();
  measure::LocalMachine machine;
  machine.device = device;
  Result<WelcomeAnswer> answer = welcome(*assets, machine);
  EXPECT_TRUE(answer) << answer.error().line();
  return answer ? std::move(*answer) : WelcomeAnswer{};
}

TEST(Welcome, LimitIsWeightBytesOverBandwidth) {
  constexpr double bandwidth = 40e9;
  const WelcomeAnswer answer = answer_for(small_cpu(512e9, bandwidth));
  ASSERT_EQ(answer.cases.size(), 6U);
  EXPECT_EQ(answer.engine, "llama.cpp");
  for (const WelcomeCase& one : answer.cases) {
    if (one.weights != "bf16") continue;
    const double bytes = *units::parse_count(one.size) * 2;
    EXPECT_NEAR(one.prediction.decode.limit.value(), bytes / bandwidth, 0.01 * bytes / bandwidth) << one.size;
    EXPECT_GE(one.prediction.decode.expected.mid, one.prediction.decode.limit) << one.size;
  }
}

TEST(Welcome, FewerBitsAreFasterAndSmaller) {
  const WelcomeAnswer answer = answer_for(small_cpu(512e9, 40e9));
  for (std::size_t i = 0; i + 1 < answer.cases.size(); i += 2) {
    EXPECT_EQ(answer.cases[i].size, answer.cases[i + 1].size);
    EXPECT_LT(answer.cases[i + 1].prediction.decode.limit, answer.cases[i].prediction.decode.limit);
    EXPECT_LT(answer.cases[i + 1].prediction.memory.needed(), answer.cases[i].prediction.memory.needed());
  }
}

TEST(Welcome, FitIsDecidedByMemory) {
  const WelcomeAnswer answer = answer_for(small_cpu(24e9, 40e9));
  for (const WelcomeCase& one : answer.cases) {
    const bool weights_alone_fit = one.prediction.weight_bytes.value() < 24e9;
    if (!weights_alone_fit) {
      EXPECT_FALSE(one.prediction.memory.fits) << one.size << one.weights;
    }
    if (one.size == "1B") {
      EXPECT_TRUE(one.prediction.memory.fits) << one.weights;
    }
  }
}

TEST(Welcome, ServersGetTheirOwnFourBitFormat) {
  hardware::Device device = small_cpu(80e9, 3e12);
  device.kind = hardware::DeviceKind::gpu;
  device.default_engine = "vllm";
  const WelcomeAnswer answer = answer_for(device);
  EXPECT_EQ(answer.engine, "vllm");
  EXPECT_TRUE(answer.cases[1].weights.starts_with("int4")) << answer.cases[1].weights;
}

TEST(Welcome, ADeviceWithoutPeaksIsAnError) {
  hardware::Device device = small_cpu(24e9, 40e9);
  device.peaks = {};
  const Result<Assets> assets = Assets::open();
  measure::LocalMachine machine;
  machine.device = device;
  EXPECT_FALSE(welcome(*assets, machine));
}

}  // namespace
}  // namespace corridor::app
