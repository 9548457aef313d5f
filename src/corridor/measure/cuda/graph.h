// SPDX-License-Identifier: Apache-2.0
// A row of launches captured once and started again with one call.
#pragma once

#include <functional>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"

namespace corridor::measure::cuda {

/// Must not outlive its Gpu.
class Graph {
 public:
  explicit Graph(const Gpu& gpu) : gpu_(gpu) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
  /// False when the driver lacks the calls (before CUDA 11.4).
  [[nodiscard]] static bool available(const DriverApi& api);
  /// Records what `work` launches on the GPU's stream, once; nothing runs. Its kernels must have been compiled before.
  [[nodiscard]] Result<void> capture(const std::function<Result<void>()>& work);
  [[nodiscard]] Result<void> launch() const;

 private:
  const Gpu& gpu_;
  GraphHandle graph_ = nullptr;
  GraphExecHandle exec_ = nullptr;
};

}  // namespace corridor::measure::cuda
