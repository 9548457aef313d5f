// SPDX-License-Identifier: Apache-2.0
// Time as the probes see it, so that tests can decide how long a pass takes.
#pragma once

#include <string>

#include "corridor/units/units.h"

namespace corridor::measure {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  /// Time since some fixed moment; never goes back.
  [[nodiscard]] virtual units::Seconds now() const = 0;
  /// ISO date (UTC), for the date of a measured fact.
  [[nodiscard]] virtual std::string today() const = 0;
};

class SystemClock : public Clock {
 public:
  [[nodiscard]] units::Seconds now() const override;
  [[nodiscard]] std::string today() const override;
};

}  // namespace corridor::measure
