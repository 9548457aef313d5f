// SPDX-License-Identifier: Apache-2.0
// The class of a kernel from the framework's operation, or from its own name.
#pragma once

#include <optional>
#include <string_view>

#include "corridor/diagnose/trace/trace_analysis.h"

namespace corridor::diagnose {

/// Empty for operations that only arrange others (aten::linear, a compiled region) and for unknown ones.
[[nodiscard]] std::optional<KernelClass> class_of_operation(std::string_view name);

/// By words in the kernel's name; `other` when none is known.
[[nodiscard]] KernelClass class_of_kernel(std::string_view name);

}  // namespace corridor::diagnose
