// SPDX-License-Identifier: Apache-2.0
// The rules by class: products, attention, norms and element-wise passes.
#include "corridor/diagnose/trace/op_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace corridor::diagnose {
namespace {

using profile::OpInputs;
using Dims = std::vector<std::int64_t>;

struct TypeName {
  std::string_view torch, name;
  double bytes;
};
constexpr std::array<TypeName, 17> types = {{
    {"c10::BFloat16", "bf16", 2},
    {"c10::Half", "fp16", 2},
    {"float", "fp32", 4},
    {"double", "fp64", 8},
    {"c10::Float8_e4m3fn", "fp8", 1},
    {"c10::Float8_e4m3fnuz", "fp8", 1},
    {"c10::Float8_e5m2", "fp8", 1},
    {"c10::Float8_e5m2fnuz", "fp8", 1},
    {"long int", "int64", 8},
    {"long", "int64", 8},
    {"int", "int32", 4},
    {"short int", "int16", 2},
    {"signed char", "int8", 1},
    {"unsigned char", "uint8", 1},
    {"char", "int8", 1},
    {"bool", "bool", 1},
    {"c10::complex<float>", "complex64", 8},
}};

const TypeName* type_of(std::string_view torch) {
  for (const TypeName& type : types) {
    if (type.torch == torch) return &type;
  }
  return nullptr;
}

double elements(const Dims& dims) {
  double n = 1;
  for (const std::int64_t extent : dims) n *= static_cast<double>(extent);
  return n;
}

const TypeName* input_type(const OpInputs& inputs, std::size_t i) {
  return i < inputs.types.size() ? type_of(inputs.types[i]) : nullptr;
}

/// Bytes of the tensor in place `i`; 0 for scalars and unknown types.
double tensor_bytes(const OpInputs& inputs, std::size_t i) {
  const TypeName* type = input_type(inputs, i);
  if (type == nullptr || i >= inputs.dims.size() || inputs.dims[i].empty()) return 0;
  return elements(inputs.dims[i]) * type->bytes;
}

double all_tensor_bytes(const OpInputs& inputs) {
  double bytes = 0;
  for (std::size_t i = 0; i < inputs.dims.size(); ++i) bytes += tensor_bytes(inputs, i);
  return bytes;
}

std::string words_of(const Dims& dims) {
  std::string out;
  for (const std::int64_t extent : dims) out += (out.empty() ? "" : "×") + std::to_string(extent);
  return out;
}

std::string with_type(std::string shape, const TypeName* type) {
  if (type != nullptr) shape += " " + std::string(type->name);
  return shape;
}

/// The first two tensors of at least two dimensions.
std::optional<std::pair<std::size_t, std::size_t>> two_matrices(const OpInputs& inputs) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < inputs.dims.size() && found.size() < 2; ++i) {
    if (inputs.dims[i].size() >= 2 && elements(inputs.dims[i]) > 0) found.push_back(i);
  }
  if (found.size() < 2) return std::nullopt;
  return std::pair{found[0], found[1]};
}

std::optional<OpCost> cost_product(std::string_view name, const OpInputs& inputs) {
  // baddbmm's first input is added, not multiplied.
  OpInputs seen = inputs;
  if (name.find("baddbmm") != std::string_view::npos && !seen.dims.empty()) seen.dims[0].clear();
  const auto pair = two_matrices(seen);
  if (!pair) return std::nullopt;
  const Dims &a = seen.dims[pair->first], &b = seen.dims[pair->second];
  const auto k = static_cast<double>(a.back());
  double n = 0;
  if (b[b.size() - 2] == a.back()) {
    n = static_cast<double>(b.back());  // [k, n]
  } else if (b.back() == a.back()) {
    n = static_cast<double>(b[b.size() - 2]);  // [n, k], as a linear layer stores it
  } else {
    return std::nullopt;
  }
  const double batch = b.size() > 2 ? elements({b.begin(), b.end() - 2}) : 1;
  const double rows = elements(a) / k / batch;
  const TypeName* type = input_type(seen, pair->first);
  const TypeName* weight = input_type(seen, pair->second);
  if (type == nullptr || weight == nullptr || k <= 0 || rows < 1) return std::nullopt;
  OpCost cost;
  cost.flops = 2 * batch * rows * n * k;
  const double out_bytes = std::max(2.0, type->bytes);  // narrow inputs give 16-bit results
  cost.bytes = elements(a) * type->bytes + elements(b) * weight->bytes + batch * rows * n * out_bytes;
  cost.type = type->name;
  const auto whole = [](double x) { return std::to_string(static_cast<long long>(x)); };
  cost.shape =
      with_type((batch > 1 ? whole(batch) + " of " : "") + whole(rows) + "×" + whole(n) + "×" + whole(k), type);
  return cost;
}

bool says_causal(const OpInputs& inputs) {
  return std::find(inputs.concrete.begin(), inputs.concrete.end(), "True") != inputs.concrete.end();
}

/// Query, key and value of shape [batch, heads, tokens, head].
std::optional<OpCost> cost_dense_attention(const OpInputs& inputs) {
  if (inputs.dims.size() < 3) return std::nullopt;
  const Dims &q = inputs.dims[0], &k = inputs.dims[1], &v = inputs.dims[2];
  if (q.size() != 4 || k.size() != 4 || v.size() != 4) return std::nullopt;
  const TypeName* type = input_type(inputs, 0);
  if (type == nullptr) return std::nullopt;
  const auto at = [](const Dims& d, std::size_t i) { return static_cast<double>(d[i]); };
  const double queries = at(q, 2), keys = at(k, 2);
  // A causal query sees the keys up to its own place.
  const double pairs = says_causal(inputs) && queries <= keys ? queries * (keys - (queries - 1) / 2) : queries * keys;
  OpCost cost;
  cost.flops = 2 * at(q, 0) * at(q, 1) * pairs * (at(q, 3) + at(v, 3));
  cost.bytes = (elements(q) + at(q, 0) * at(q, 1) * queries * at(v, 3)) * type->bytes + tensor_bytes(inputs, 1) +
               tensor_bytes(inputs, 2);
  cost.type = type->name;
  cost.shape = with_type(words_of(q) + " over " + words_of(k), type);
  return cost;
}

/// Query [tokens, heads, head] over a paged cache [blocks …, kv heads, head]: the annotation tells the lengths.
std::optional<OpCost> cost_paged_attention(const OpInputs& inputs, const StepTokens& step) {
  if (inputs.dims.size() < 2 || inputs.dims[0].size() != 3 || inputs.dims[1].size() < 3) return std::nullopt;
  const Dims &q = inputs.dims[0], &cache = inputs.dims[1];
  const TypeName* type = input_type(inputs, 0);
  const TypeName* kv = input_type(inputs, 1);
  if (type == nullptr || kv == nullptr) return std::nullopt;
  const double heads = static_cast<double>(q[1]), head = static_cast<double>(q[2]);
  const double kv_heads = static_cast<double>(cache[cache.size() - 2]);
  double seen = 0, pairs = 0;
  for (const TokenSums* sums : {&step.prefill, &step.decode}) {
    if (sums->query <= 0) continue;
    if (!sums->kv) return std::nullopt;
    seen += *sums->kv;
    const double all = sums->query_kv.value_or(sums->sequences > 0 ? sums->query * *sums->kv / sums->sequences : 0);
    // Each query token of a prompt sees the keys up to its own place: half of the square of its own part is not seen.
    const double own = sums->query_query.value_or(0);
    pairs += all - std::max(0.0, own - sums->query) / 2;
  }
  OpCost cost;
  cost.flops = 4 * heads * head * pairs;
  cost.bytes = 2 * elements(q) * type->bytes + 2 * kv_heads * head * seen * kv->bytes;
  cost.type = type->name;
  cost.shape = with_type(words_of(q) + " over " + std::to_string(static_cast<long long>(seen)) + " cached", type);
  cost.from_annotation = true;
  return cost;
}

std::optional<OpCost> cost_attention(const OpInputs& inputs, const StepTokens* step) {
  if (std::optional<OpCost> dense = cost_dense_attention(inputs)) return dense;
  return step != nullptr ? cost_paged_attention(inputs, *step) : std::nullopt;
}

/// Extents of the result when inputs are broadcast against each other.
double broadcast_elements(const OpInputs& inputs) {
  std::size_t rank = 0;
  for (const Dims& dims : inputs.dims) rank = std::max(rank, dims.size());
  double n = rank > 0 ? 1 : 0;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t extent = 1;
    for (const Dims& dims : inputs.dims) {
      if (i < dims.size()) extent = std::max(extent, dims[dims.size() - 1 - i]);
    }
    n *= static_cast<double>(extent);
  }
  return n;
}

double widest(const OpInputs& inputs) {
  double bytes = 0;
  for (std::size_t i = 0; i < inputs.dims.size(); ++i) {
    const TypeName* type = input_type(inputs, i);
    if (type != nullptr && !inputs.dims[i].empty()) bytes = std::max(bytes, type->bytes);
  }
  return bytes;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Bytes of a pass over tensors, by what the operation does with its inputs.
double pass_bytes(std::string_view name, const OpInputs& inputs) {
  const double read = all_tensor_bytes(inputs);
  const std::string_view last = name.substr(name.rfind(':') == std::string_view::npos ? 0 : name.rfind(':') + 1);
  const double first = tensor_bytes(inputs, 0);
  if (last == "copy_") return read;                       // destination and source
  if (is_one_of(last, {"fill_", "zero_"})) return first;  // written only
  if (is_one_of(last, {"mean", "sum", "max", "min", "all", "any", "argmax"})) return read;
  if (last == "embedding") {  // rows of the table, read and written
    const double row = inputs.dims.empty() || inputs.dims[0].empty() ? 0 : static_cast<double>(inputs.dims[0].back());
    const TypeName* type = input_type(inputs, 0);
    const double rows = inputs.dims.size() > 1 ? elements(inputs.dims[1]) : 0;
    return type == nullptr ? 0 : 2 * rows * row * type->bytes + tensor_bytes(inputs, 1);
  }
  const bool names_out = !name.starts_with("aten::");  // custom operations list their outputs among the inputs
  if (names_out && name.find("fused_add") != std::string_view::npos) return 2 * read;  // both updated in place
  if (names_out && name.find("rotary") != std::string_view::npos) {
    return read + tensor_bytes(inputs, 1) + tensor_bytes(inputs, 2);  // query and key updated in place
  }
  if (names_out && is_one_of(last, {"reshape_and_cache_flash", "reshape_and_cache", "store_cache"})) {
    return 2 * (first + tensor_bytes(inputs, 1));  // the cache tensors are only written in part
  }
  if (names_out) return read;
  if (last.ends_with("_")) return read + first;
  return read + broadcast_elements(inputs) * widest(inputs);
}

std::optional<OpCost> cost_pass(std::string_view name, const OpInputs& inputs) {
  // Lists of tensors (cat, stack) and gathers by index have results their inputs do not tell.
  const std::string_view last = name.substr(name.rfind(':') == std::string_view::npos ? 0 : name.rfind(':') + 1);
  if (is_one_of(last, {"cat", "stack", "index", "index_select", "gather", "arange", "sort", "topk"})) {
    return std::nullopt;
  }
  const double bytes = pass_bytes(name, inputs);
  if (bytes <= 0) return std::nullopt;
  OpCost cost;
  cost.bytes = bytes;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < inputs.dims.size(); ++i) {
    if (tensor_bytes(inputs, i) > tensor_bytes(inputs, largest)) largest = i;
  }
  cost.shape = with_type(words_of(inputs.dims[largest]), input_type(inputs, largest));
  return cost;
}

}  // namespace

std::optional<double> element_bytes(std::string_view type) {
  const TypeName* known = type_of(type);
  return known == nullptr ? std::nullopt : std::optional(known->bytes);
}

std::optional<OpCost> cost_of_operation(std::string_view name, KernelClass kernel_class, const OpInputs& inputs,
                                        const StepTokens* step) {
  switch (kernel_class) {
    case KernelClass::product:
      return cost_product(name, inputs);
    case KernelClass::attention:
      return cost_attention(inputs, step);
    case KernelClass::normalisation:
    case KernelClass::elementwise:
    case KernelClass::copy:
    case KernelClass::collective:
      return cost_pass(name, inputs);
    case KernelClass::moe:
    case KernelClass::sampling:
    case KernelClass::other:
      break;
  }
  return std::nullopt;
}

}  // namespace corridor::diagnose
