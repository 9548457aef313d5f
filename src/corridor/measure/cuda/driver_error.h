// SPDX-License-Identifier: Apache-2.0
// A status of the driver as an Error: which call, which code, and what to do about it.
#pragma once

#include <string_view>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/api.h"

namespace corridor::measure::cuda {

/// "cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory; close other programs …"
[[nodiscard]] Error driver_error(const DriverApi& api, Status status, std::string_view call, std::string_view where);

/// Success, or the Error above.
[[nodiscard]] inline Result<void> check(const DriverApi& api, Status status, std::string_view call,
                                        std::string_view where = "NVIDIA driver") {
  if (status == success) return {};
  return tl::unexpected(driver_error(api, status, call, where));
}

}  // namespace corridor::measure::cuda
