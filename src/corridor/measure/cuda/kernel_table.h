// SPDX-License-Identifier: Apache-2.0
// The kernels under data/cuda: which file holds each, and the sizes of its arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::measure::cuda {

/// One kernel. `arguments` has a letter for each argument: q for 8 bytes, d for 4.
struct KernelFacts {
  std::string_view name;  ///< without the "_v16_u4" of its versions
  std::string_view file;  ///< "cuda/memory.cu"
  std::string_view arguments;
  bool versions = false;  ///< exists for every vector width and unroll
};

/// All kernels, without their versions.
[[nodiscard]] const std::vector<KernelFacts>& kernel_table();
/// Finds "read_v16_u4" or "chase"; empty for a name that is not in the table.
[[nodiscard]] std::optional<KernelFacts> find_kernel(std::string_view name);
/// "read", 16, 4 → "read_v16_u4"
[[nodiscard]] std::string version_name(std::string_view base, int vector_bytes, int unroll);

}  // namespace corridor::measure::cuda
