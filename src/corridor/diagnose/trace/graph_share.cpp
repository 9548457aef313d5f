// SPDX-License-Identifier: Apache-2.0
// The model's own graph of the step, summed by class.
#include "corridor/diagnose/trace/graph_share.h"

#include <string>

#include "corridor/graph/op_graph.h"
#include "corridor/roofline/op_time.h"

namespace corridor::diagnose {
namespace {

KernelClass class_of(const graph::Op& op) {
  switch (op.kind) {
    case graph::OpKind::product:
      return KernelClass::product;
    case graph::OpKind::moe:
      return KernelClass::moe;
    case graph::OpKind::attention_decode:
    case graph::OpKind::attention_prefill:
      return KernelClass::attention;
    case graph::OpKind::collective:
      return KernelClass::collective;
    case graph::OpKind::quantise:
      return KernelClass::elementwise;
    case graph::OpKind::elementwise:
      break;
  }
  if (op.name.find("norm") != std::string::npos) return KernelClass::normalisation;
  return op.name == "sampling" ? KernelClass::sampling : KernelClass::elementwise;
}

graph::StepShape shape_of(const StepTokens& step) {
  graph::StepShape shape;
  if (step.decode.sequences > 0) {
    shape.decode_sequences = step.decode.sequences;
    shape.tokens_per_sequence = std::max(1.0, step.decode.query / step.decode.sequences);
    shape.context = step.decode.kv.value_or(0) / step.decode.sequences;
  }
  if (step.prefill.sequences > 0 && step.prefill.query > 0) {
    shape.prefill_sequences = step.prefill.sequences;
    shape.prefill_tokens = step.prefill.query;
    const double seen = step.prefill.kv.value_or(step.prefill.query);
    shape.prefill_past = std::max(0.0, (seen - step.prefill.query) / step.prefill.sequences);
  }
  return shape;
}

}  // namespace

std::array<ClassWork, kernel_class_count> work_of_step(const model::ModelSpec& model, const StepTokens& step, double tp,
                                                       const std::string& kv, const hardware::Device* device) {
  graph::GraphOptions options;
  options.parallelism.tp = static_cast<std::int64_t>(std::max(1.0, tp));
  const std::optional<model::WeightFormat> format = kv.empty() ? model.kv_format : model::find_weight_format(kv);
  options.kv = format.value_or(*model::find_weight_format("bf16"));
  std::array<ClassWork, kernel_class_count> work;
  for (const graph::Op& op : graph::build_graph(model, shape_of(step), options).ops) {
    ClassWork& sum = work[static_cast<std::size_t>(class_of(op))];
    sum.flops += op.flops.value() * op.repeats;
    sum.bytes += (op.kind == graph::OpKind::collective ? op.payload : op.bytes()).value() * op.repeats;
    if (device == nullptr || op.flops.value() <= 0) continue;
    const Result<roofline::Arithmetic> arithmetic = roofline::arithmetic_of(*device, op.format, std::nullopt);
    if (arithmetic) sum.type = hardware::name(arithmetic->type);
  }
  return work;
}

}  // namespace corridor::diagnose
