// SPDX-License-Identifier: Apache-2.0
// FLOPs and bytes of a framework operation from the shapes and types of its inputs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "corridor/diagnose/trace/step_annotation.h"
#include "corridor/diagnose/trace/trace_analysis.h"

namespace corridor::diagnose {

/// Work of one execution. Bytes count each input read once and each output written once, as if nothing were cached.
struct OpCost {
  std::optional<double> flops, bytes;
  std::string shape;             ///< "8944×2816×1024 bf16"
  std::string type;              ///< arithmetic: "bf16"; empty when not known
  bool from_annotation = false;  ///< attention over a paged cache: the step's annotation gave the lengths
};

/// Bytes of one element of a type as PyTorch names it ("c10::BFloat16"); empty for others.
[[nodiscard]] std::optional<double> element_bytes(std::string_view type);

/// `step`: the annotation around it, when there is one. Empty when the shapes do not tell.
[[nodiscard]] std::optional<OpCost> cost_of_operation(std::string_view name, KernelClass kernel_class,
                                                      const profile::OpInputs& inputs, const StepTokens* step);

}  // namespace corridor::diagnose
