// SPDX-License-Identifier: Apache-2.0
// Measured operations, each with the operations the time model times and how its benchmark ran.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "corridor/app/validate_operation.h"
#include "corridor/base/assets.h"
#include "corridor/hardware/device.h"
#include "corridor/profile/points/measured_point.h"

namespace corridor::fit {

struct Point {
  profile::PointOperation operation;
  app::OperationCase made;
  const hardware::Device* device = nullptr;  ///< in Points::devices
  std::string engine;
  std::string family;  ///< rows of one family stay together when the data are parted: the shape without its rows
  double observed_s = 0;
};

struct Points {
  std::map<std::string, hardware::Device> devices;
  std::vector<Point> points;
  std::map<std::string, std::size_t> left_out;  ///< by reason
};

/// Reads tables, the shipped ones (data/validation/operations*.csv) when `files` is empty. Rows that are no operation
/// or cannot be made into one are counted by reason.
[[nodiscard]] Result<Points> load_points(const Assets& assets, const std::vector<std::string>& files);

/// What the time model says of a point under these constants, in seconds; 0 where it cannot say.
[[nodiscard]] double predicted_s(const Point& point, const roofline::KernelConstants& constants);

/// Whether the floor takes more than a third of it (KindInterval::small).
[[nodiscard]] bool is_small(const Point& point, const roofline::KernelConstants& constants);

}  // namespace corridor::fit
