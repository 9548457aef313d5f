// SPDX-License-Identifier: Apache-2.0
// Builds the graph of a model that holds the measured operation, takes the operation out, and times it.
#include "corridor/app/validate_operation.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "corridor/model/model_spec.h"
#include "corridor/roofline/op_time.h"

namespace corridor::app {
namespace {

using graph::Op;
using graph::OpKind;
using model::TensorRole;
using profile::PointOperation;
using units::Seconds;

constexpr double largest_size = 1e12;  // as written in a table; products of four of them stay finite
constexpr double largest_shape = 1e9;  // of a model's own dimensions

// TensorRT-LLM's PyTorch flow finds the scale of the activations at run time: a maximum, a scale and a cast more than
// the one kernel of a scale that is known.
constexpr double dynamic_scale_kernels = 3;

/// Products quantised by blocks were launched from the host, not from a graph, in vLLM's tables (0.24.0, H100): small
/// ones take ten times what their kernels need, with little scatter.
double host_floor_s(const std::string& implementation) {
  if (implementation.find("deepgemm") != std::string::npos) return 9.0e-5;
  return implementation.find("flashinfer eager") != std::string::npos ||
                 implementation.find("flashinferfp8block") != std::string::npos
             ? 5.9e-5
             : 0;
}

/// Names that tables use for storage where our formats go by another one.
std::optional<model::WeightFormat> format_of(const std::string& type) {
  if (type.empty()) return model::find_weight_format("bf16");
  if (type == "int8-weight-only" || type == "int8_wo") return model::find_weight_format("int8");
  if (type == "int4-weight-only" || type == "int4_wo" || type == "w4a16") return model::find_weight_format("int4-g128");
  if (type == "int8" || type == "sq") return model::find_weight_format("w8a8-int8");
  if (type == "w4a16_mxfp4" || type == "mxfp4-a16") return model::find_weight_format("mxfp4-a16");
  return model::find_weight_format(type);
}

Result<model::WeightFormat> need_format(const std::string& type) {
  const auto format = format_of(type);
  if (!format) return fail("the type of the operation is not known");
  return *format;
}

bool whole(double value, double largest) {
  return value >= 1 && value <= largest && value == std::floor(value);
}

Result<int> check_sizes(std::initializer_list<double> shapes, std::initializer_list<double> counts, const char* what) {
  const auto bad_shape = [](double value) { return !whole(value, largest_shape); };
  const auto bad_count = [](double value) { return !whole(value, largest_size); };
  if (std::any_of(shapes.begin(), shapes.end(), bad_shape) || std::any_of(counts.begin(), counts.end(), bad_count)) {
    return fail(what);
  }
  return 0;
}

std::int64_t integer(double value) {
  return static_cast<std::int64_t>(value);
}

/// Takes the operations of these kinds out of the graph of `model`.
OperationCase take(const model::ModelSpec& model, const graph::StepShape& shape, const graph::GraphOptions& options,
                   std::initializer_list<OpKind> kinds) {
  OperationCase out;
  graph::OpGraph graph = graph::build_graph(model, shape, options);
  for (Op& op : graph.ops) {
    if (std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end()) out.ops.push_back(std::move(op));
  }
  return out;
}

/// The head of a model without layers is one product of k = hidden and n = vocabulary.
Result<OperationCase> product(const PointOperation& o) {
  if (auto ok = check_sizes({o.n, o.k}, {o.m}, "the sizes m, n, k are missing or no whole numbers"); !ok) {
    return tl::unexpected(ok.error());
  }
  const Result<model::WeightFormat> format = need_format(o.type);
  if (!format) return tl::unexpected(format.error());
  model::ModelSpec model;
  model.hidden = integer(o.k);
  model.vocab = integer(o.n);
  model.stored(TensorRole::head).format = *format;
  graph::StepShape shape;
  shape.decode_sequences = o.m;
  return take(model, shape, {}, {OpKind::product, OpKind::quantise});
}

/// A model of one layer that is attention alone; its products are left out of the answer.
Result<OperationCase> attention(const PointOperation& o, bool decode) {
  const double kv_heads = o.kv_heads > 0 ? o.kv_heads : o.heads;
  const double width = o.head_dim > 0 ? o.head_dim : 128;
  if (auto ok = check_sizes({o.heads, kv_heads, width}, {o.batch, o.length},
                            "the sizes of the attention are missing or no whole numbers");
      !ok) {
    return tl::unexpected(ok.error());
  }
  const Result<model::WeightFormat> kv = need_format(!o.kv.empty() ? o.kv : o.type);
  if (!kv) return tl::unexpected(kv.error());
  model::SoftmaxAttention mixer;
  mixer.heads = integer(o.heads);
  mixer.kv_heads = integer(kv_heads);
  mixer.qk_dim = mixer.v_dim = integer(width);
  if (o.window > 0) mixer.window = integer(std::min(o.window, largest_shape));
  model::ModelSpec model;
  model.hidden = 1;
  model.vocab = 1;
  model.layers.push_back({1, mixer, {}, 0, false});
  graph::GraphOptions options;
  options.kv = *kv;
  graph::StepShape shape;
  if (decode) {
    shape.decode_sequences = o.batch;
    shape.context = o.length;
  } else {
    shape.prefill_sequences = o.batch;
    shape.prefill_tokens = o.batch * o.length;
  }
  return take(model, shape, options, {decode ? OpKind::attention_decode : OpKind::attention_prefill});
}

graph::Routing routing_of(const std::string& written) {
  if (written == "balanced") return graph::Routing::balanced;
  if (written == "uniform" || written == "random") return graph::Routing::uniform;
  return written.empty() ? graph::Routing::uniform : graph::Routing::skewed;
}

/// Tables do not say whether an expert has two matrices (squared ReLU) or three (gated). Two are known by their shapes,
/// those of Nemotron 3: with three the measured times would beat the bandwidth.
bool is_gated(const PointOperation& o) {
  const bool super = o.experts == 512 && o.per_token == 22;
  const bool nano = o.experts == 128 && o.per_token == 6 && o.inter == 1856;
  return !super && !nano;
}

/// A model of one layer that is its experts alone. Ranks of `ep` share the experts, ranks of `tp` cut each of them.
Result<OperationCase> experts(const PointOperation& o) {
  const double tp = std::max(1.0, o.tp);
  const double ep = std::max(1.0, o.ep);
  if (auto ok = check_sizes({o.hidden, o.inter, o.experts, o.per_token, tp, ep}, {o.tokens},
                            "the sizes of the experts are missing or no whole numbers");
      !ok) {
    return tl::unexpected(ok.error());
  }
  if (o.per_token > o.experts) return fail("more experts a token than there are experts");
  const Result<model::WeightFormat> format = need_format(o.type);
  if (!format) return tl::unexpected(format.error());
  model::FeedForward block;
  block.experts = integer(o.experts);
  block.experts_per_token = integer(o.per_token);
  block.gated = is_gated(o);
  // Spread experts stay whole in the graph, so a cut beside it is made here.
  block.expert_intermediate = integer(std::max(1.0, ep > 1 ? std::floor(o.inter / tp) : o.inter));
  model::ModelSpec model;
  model.hidden = integer(o.hidden);
  model.vocab = 1;
  model.stored(TensorRole::expert).format = *format;
  model.layers.push_back({1, model::NoMixer{}, block, 0, false});
  graph::GraphOptions options;
  options.routing = routing_of(o.routing);
  // Tokens of all ranks are counted in the row, so none are gathered from replicas.
  options.parallelism.tp = integer(std::max(tp, ep));
  options.parallelism.ep = integer(ep);
  graph::StepShape shape;
  shape.decode_sequences = o.tokens;
  return take(model, shape, options, {OpKind::moe});
}

Result<OperationCase> collective(const PointOperation& o) {
  if (!(o.ranks >= 2 && o.ranks <= 1e6 && o.ranks == std::floor(o.ranks))) {
    return fail("a collective needs at least two ranks");
  }
  if (!(o.payload_bytes >= 1 && o.payload_bytes <= 1e15)) return fail("the bytes of the collective are missing");
  Op op;
  op.name = o.collective;
  op.kind = OpKind::collective;
  op.ranks = o.ranks;
  op.payload = units::Bytes{o.payload_bytes};
  if (o.collective == "all_reduce") {
    op.collective = graph::Collective::all_reduce;
  } else if (o.collective == "all_gather" || o.collective == "reduce_scatter") {
    // Both move each rank's part to (or from) all others. Tables count the whole buffer, the graph one rank's part.
    op.collective = graph::Collective::all_gather;
    op.payload = units::Bytes{o.payload_bytes / o.ranks};
  } else if (o.collective == "all_to_all") {
    op.collective = graph::Collective::all_to_all;
  } else if (o.collective == "send_recv") {
    op.collective = graph::Collective::send_recv;
  } else {
    return fail("the kind of collective is not known");
  }
  OperationCase out;
  out.ops.push_back(std::move(op));
  return out;
}

/// Bytes of the largest cache before main memory.
double last_cache_bytes(const hardware::Device& device) {
  double largest = 0;
  for (std::size_t i = 0; i + 1 < device.ladder.size(); ++i) {
    const auto& capacity = device.ladder[i].capacity;
    if (capacity) largest = std::max(largest, capacity->value.value());
  }
  return largest;
}

/// The tables of products (ai-dynamo/aiconfigurator, collector/vllm/collect_gemm.py @00e9bde) run six layers in turn,
/// and one where the weights are quantised by blocks.
double copies_of(const std::string& type) {
  return type == "fp8-block" || type == "fp8_block" || type == "nvfp4" ? 1 : 6;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

Result<OperationCase> operation_case(const PointOperation& operation) {
  Result<OperationCase> out = [&]() -> Result<OperationCase> {
    switch (operation.kind) {
      case PointOperation::Kind::product:
        return product(operation);
      case PointOperation::Kind::attention_decode:
        return attention(operation, true);
      case PointOperation::Kind::attention_prefill:
        return attention(operation, false);
      case PointOperation::Kind::moe:
        return experts(operation);
      case PointOperation::Kind::collective:
        return collective(operation);
    }
    return fail("the kind of operation is not known");
  }();
  if (!out) return out;
  if (out->ops.empty()) return fail("the operation does no work");
  out->graphs = !contains(operation.implementation, "eager");
  out->fused_all_reduce = contains(operation.implementation, "fused") || contains(operation.implementation, "trtllm");
  out->library_all_reduce = contains(operation.implementation, "nccl") || contains(operation.implementation, "rccl");
  if (operation.kind == PointOperation::Kind::product) {
    out->repeated_copies = copies_of(operation.type);
    if (operation.type == "fp8-block") out->host_floor_s = host_floor_s(operation.implementation);
    const bool torch_flow =
        contains(operation.implementation, "torch_flow") || contains(operation.implementation, "cublas");
    if (operation.type == "fp8" && torch_flow) {
      for (Op& op : out->ops) op.kernels += op.kind == OpKind::quantise ? dynamic_scale_kernels : 0;
    }
  }
  return out;
}

Result<OperationTime> time_operation(const OperationCase& operation, const hardware::Device& device,
                                     const roofline::KernelConstants& constants) {
  if (!device.memory_bandwidth) return fail("no memory bandwidth of the device is known");
  roofline::TimingContext context{device, constants, std::nullopt, operation.graphs};
  context.fused_all_reduce = operation.fused_all_reduce;
  context.library_all_reduce = operation.library_all_reduce;
  context.repeated_copies = operation.repeated_copies;
  OperationTime sum;
  units::Bytes least;
  for (graph::Op op : operation.ops) {
    op.crosses_node = op.kind == OpKind::collective &&
                      op.ranks > (device.link.devices_in_node ? device.link.devices_in_node->value : 8.0);
    const Result<roofline::OpTime> time = roofline::time_op(op, context);
    if (!time) return tl::unexpected(time.error());
    if (time->skipped) continue;
    least += op.weights_least + op.kv;
    sum.mid += time->expected;
    sum.cold_memory += time->limit_memory;
    sum.limit_compute += time->limit_compute;
    sum.limit_link += time->limit_link;
    sum.low += time->expected * time->interval.low;
    sum.high += time->expected * time->interval.high;
  }
  if (sum.mid.value() < operation.host_floor_s) {
    constexpr double scatter = 0.1;
    sum.mid = Seconds{operation.host_floor_s};
    sum.low = sum.mid * (1 - scatter);
    sum.high = sum.mid * (1 + scatter);
  }
  const units::Bytes from_memory{std::max(0.0, least.value() - last_cache_bytes(device))};
  sum.limit_memory = from_memory / device.memory_bandwidth->value;
  sum.limit = std::max({sum.limit_memory, sum.limit_compute, sum.limit_link});
  sum.low = std::max(sum.low, sum.limit);
  sum.mid = std::max(sum.mid, sum.low);
  sum.high = std::max(sum.high, sum.mid);
  return sum;
}

}  // namespace corridor::app
