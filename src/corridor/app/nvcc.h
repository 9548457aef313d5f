// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compiler as a program: found on the search path and run to make PTX of a .cu file.
#pragma once

#include <string>
#include <string_view>

#include "corridor/base/result.h"

namespace corridor::app {

/// What CORRIDOR_NVCC names (a file, or a folder that holds nvcc); empty when it is not set.
[[nodiscard]] std::string named_nvcc();
/// The first program of that name on PATH; empty when there is none.
[[nodiscard]] std::string program_on_path(std::string_view name);
/// The first nvcc on PATH; empty when there is none.
[[nodiscard]] std::string nvcc_on_path();

/// PTX of a source file, by `nvcc -ptx`. Fails with the compiler's first error; also when it cannot be run, or takes
/// longer than ten minutes.
[[nodiscard]] Result<std::string> compile_with_nvcc(const std::string& nvcc, const std::string& source,
                                                    const std::string& architecture);

}  // namespace corridor::app
