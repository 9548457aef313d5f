// SPDX-License-Identifier: Apache-2.0
// CUDA source to machine code or PTX by NVRTC, with the compiler's own log in the message when it refuses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/api.h"

namespace corridor::measure::cuda {

/// What to compile for: "sm_90a" gives machine code of one GPU, "compute_80" PTX that the driver turns into it.
struct Target {
  std::string architecture;
  bool machine_code = false;
};

/// The text of a kernel file of data/ ("cuda/memory.cu").
[[nodiscard]] Result<std::string> kernel_source(std::string_view file);

/// Machine code when this NVRTC knows the GPU (9.0 as sm_90a, for wgmma), else PTX of the newest older one. Fails when
/// the GPU is older than everything this NVRTC compiles for.
[[nodiscard]] Result<Target> target_for(const NvrtcApi& nvrtc, int major, int minor);

/// Compiles one text; `name` stands in messages. PTX ends with a zero byte. `more` are further options of NVRTC.
[[nodiscard]] Result<std::vector<char>> compile(const NvrtcApi& nvrtc, const std::string& source,
                                                const std::string& name, const Target& target,
                                                const std::vector<std::string>& more = {});

/// "13.0"; empty when the library does not tell.
[[nodiscard]] std::string nvrtc_version(const NvrtcApi& nvrtc);

}  // namespace corridor::measure::cuda
