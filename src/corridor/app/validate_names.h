// SPDX-License-Identifier: Apache-2.0
// Names as tables of measurements write them → devices, models and engines, each read once for all the rows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/device.h"
#include "corridor/model/model_spec.h"
#include "corridor/profile/points/measured_point.h"
#include "corridor/roofline/engine_profile.h"
#include "corridor/roofline/kernel_constants.h"
#include "corridor/roofline/model_facts.h"

namespace corridor::app {

struct PointDevice {
  hardware::Device device;
  roofline::KernelConstants constants;
};

struct PointModel {
  model::ModelSpec spec;  ///< in the formats of the row
  roofline::ModelFacts facts;
  bool shapes_known = true;  ///< false: only a number of parameters
  bool routed = false;       ///< has experts
};

struct PointEngine {
  roofline::EngineProfile profile;
  bool known = false;  ///< a profile claims the engine; false: the device's usual one stands in
};

/// Resolves names; answers live as long as this object. A failure's `what` is one of few texts: rows are counted by it;
/// one with a `where` is a data file that is broken.
/// Not for several threads at once.
class PointNames {
 public:
  /// `default_device` stands in for rows that name none. `assets` must outlive this.
  PointNames(const Assets& assets, std::string default_device);

  [[nodiscard]] Result<const PointDevice*> device(const std::string& written);
  /// Model and weight format together. Falls back to the row's number of parameters.
  [[nodiscard]] Result<const PointModel*> model(const profile::MeasuredPoint& point);
  /// Never fails on an unknown engine, only when a profile's file is broken.
  [[nodiscard]] Result<const PointEngine*> engine(const profile::MeasuredPoint& point, const hardware::Device& device);

 private:
  template <class T>
  using Known = Result<std::unique_ptr<T>>;
  [[nodiscard]] Known<PointDevice> load_device(const std::string& written);
  [[nodiscard]] Result<model::ModelSpec> load_spec(const profile::MeasuredPoint& point, bool& shapes_known) const;
  [[nodiscard]] Known<PointModel> load_model(const profile::MeasuredPoint& point) const;
  [[nodiscard]] Known<PointEngine> load_engine(const profile::MeasuredPoint& point, const std::string& usual) const;

  const Assets& assets_;
  roofline::ConstantFiles constants_;
  std::string default_device_;
  std::map<std::string, std::string> spellings_;  ///< squashed name as tables write it → built-in id
  std::map<std::string, Known<PointDevice>> devices_;
  std::map<std::string, Known<PointModel>> models_;
  std::map<std::string, Known<PointEngine>> engines_;
};

}  // namespace corridor::app
