// SPDX-License-Identifier: Apache-2.0
// The steady clock of the machine, and its date.
#include "corridor/measure/clock.h"

#include <array>
#include <chrono>
#include <ctime>

namespace corridor::measure {

units::Seconds SystemClock::now() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return units::Seconds{std::chrono::duration<double>(since).count()};
}

std::string SystemClock::today() const {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&now, &parts) == nullptr) return {};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return std::string(text.data(), length);
}

}  // namespace corridor::measure
