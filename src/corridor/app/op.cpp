// SPDX-License-Identifier: Apache-2.0
// The counting rules of single operations, and the two roofs over them.
#include "corridor/app/op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using hardware::ComputeType;

constexpr double largest_size = 1e15;
/// Beyond this no machine works within the age of the universe; a larger product is a typing error.
constexpr double largest_total = 1e36;

Result<double> bytes_per_element(ComputeType type) {
  switch (type) {
    case ComputeType::fp64:
      return 8;
    case ComputeType::fp32:
    case ComputeType::tf32:
      return 4;
    case ComputeType::fp16:
    case ComputeType::bf16:
      return 2;
    case ComputeType::fp8:
    case ComputeType::int8:
      return 1;
    case ComputeType::fp6:
      return 0.75;
    case ComputeType::fp4:
    case ComputeType::int4:
      return 0.5;
  }
  return fail("this type has no known size");
}

/// What the counting rules know before the device is asked.
struct Counted {
  OpResult result;
  bool matrix_units = true;  ///< false: element-wise work runs on the vector units
};

Result<bool> check_size(double value, const std::string& what) {
  if (!std::isfinite(value) || value < 1 || value > largest_size || value != std::floor(value)) {
    return fail(fmt::format("{} is {}", what, value), {}, "give a whole number from 1 to 1e15");
  }
  return true;
}

Result<bool> check_sizes(std::initializer_list<std::pair<double, const char*>> sizes) {
  for (const auto& [value, what] : sizes) {
    if (auto ok = check_size(value, what); !ok) return ok;
  }
  return true;
}

std::string n(double value) {
  return units::print_count(value);
}

Result<Counted> count(const MatmulOp& op, double width) {
  if (auto ok = check_sizes({{op.m, "M"}, {op.n, "N"}, {op.k, "K"}}); !ok) return tl::unexpected(ok.error());
  Counted out;
  OpResult& r = out.result;
  r.kind = "matmul";
  r.title = fmt::format("matrix product {} × {} × {} (M N K)", n(op.m), n(op.n), n(op.k));
  const double elements = op.m * op.k + op.k * op.n + op.m * op.n;
  r.flops = units::Flops{2 * op.m * op.n * op.k};
  r.bytes = units::Bytes{elements * width};
  r.trips = 3;
  r.uses = {{"a", "uses of each value of A", op.n}, {"b", "uses of each value of B", op.m}};
  r.uses_per_value = 2 * op.m * op.n * op.k / (op.m * op.k + op.k * op.n);
  r.formulas = {fmt::format("FLOP = 2·M·N·K = 2 × {} × {} × {}", n(op.m), n(op.n), n(op.k)),
                fmt::format("bytes = (M·K + K·N + M·N) × {} B: A and B read once, C written once", width)};
  if (op.fused) {
    r.notes.emplace_back(
        "--fused changes nothing: a plain matrix product already reads each matrix once and writes its result once");
  }
  return out;
}

/// Pairs of query and visible key in one sequence and head.
double visible_pairs(const AttentionOp& op) {
  return op.causal ? op.q * (op.kv - op.q) + op.q * (op.q + 1) / 2 : op.q * op.kv;
}

Result<bool> check_attention(const AttentionOp& op) {
  auto ok = check_sizes({{op.batch, "--batch"},
                         {op.heads, "--heads"},
                         {op.kv_heads, "--kv-heads"},
                         {op.head_dim, "--head-dim"},
                         {op.q, "--q"},
                         {op.kv, "--kv"}});
  if (!ok) return ok;
  if (std::fmod(op.heads, op.kv_heads) != 0) {
    return fail(fmt::format("{} heads cannot share {} KV heads evenly", n(op.heads), n(op.kv_heads)), "--kv-heads",
                "give a divisor of --heads");
  }
  if (op.causal && op.q > op.kv) {
    return fail(fmt::format("{} queries over {} keys", n(op.q), n(op.kv)), "--causal",
                "with --causal each query has its own key, so --kv must be at least --q");
  }
  return true;
}

Result<Counted> count(const AttentionOp& op, double width) {
  if (auto ok = check_attention(op); !ok) return tl::unexpected(ok.error());
  Counted out;
  OpResult& r = out.result;
  r.kind = "attention";
  r.title = fmt::format("attention, batch {}, {} heads over {} KV heads of {}, {} {}, {} keys{}", n(op.batch),
                        n(op.heads), n(op.kv_heads), n(op.head_dim), n(op.q), op.q == 1 ? "query" : "queries", n(op.kv),
                        op.causal ? ", causal" : "");
  const double pairs = op.batch * op.heads * visible_pairs(op);
  const double queries = op.batch * op.heads * op.q * op.head_dim;
  const double keys_and_values = 2 * op.batch * op.kv_heads * op.kv * op.head_dim;
  const double scores = op.flash_attention ? 0 : 4 * pairs;
  r.flops = units::Flops{2 * pairs * 2 * op.head_dim};
  r.bytes = units::Bytes{(2 * queries + keys_and_values + scores) * width};
  r.trips = op.flash_attention ? 4 : 8;
  // Per pair and head: d products of query and key, d of probability and value.
  r.uses = {{"query", "uses of each value of Q", pairs * op.head_dim / queries},
            {"key_and_value", "uses of each value of K and V", 2 * pairs * op.head_dim / keys_and_values}};
  r.uses_per_value = 3 * pairs * op.head_dim / (queries + keys_and_values);
  r.formulas = {fmt::format("pairs = batch · heads · visible (query, key) pairs = {}", n(pairs)),
                fmt::format("FLOP = 2·(d_qk + d_v)·pairs = 2 × {} × {}; the softmax is not counted", n(2 * op.head_dim),
                            n(pairs)),
                fmt::format("bytes = (Q {} + K and V {} + output {} + scores {}) × {} B", n(queries),
                            n(keys_and_values), n(queries), n(scores), width)};
  if (!op.flash_attention) {
    const double share = scores / (2 * queries + keys_and_values + scores);
    r.notes.push_back(
        fmt::format("without FlashAttention the scores and the probabilities are each written and read: four more "
                    "trips, {:.0f} % of "
                    "the bytes",
                    share * 100));
  }
  return out;
}

Result<Counted> count(const ElementwiseOp& op, double width) {
  if (auto ok = check_sizes({{op.n, "N"}, {op.chain, "--chain"}}); !ok) return tl::unexpected(ok.error());
  Counted out;
  out.matrix_units = false;
  OpResult& r = out.result;
  r.kind = "elementwise";
  const double apart = 2 * op.chain;
  const double trips = op.fused ? 2 : apart;
  r.title = fmt::format("{} element-wise operation{} on {} elements, {}", n(op.chain), op.chain > 1 ? "s" : "", n(op.n),
                        op.fused ? "fused" : "apart");
  r.flops = units::Flops{op.n * op.chain};
  r.bytes = units::Bytes{trips * op.n * width};
  r.trips = trips;
  r.uses = {{"input", "uses of each value read", op.fused ? op.chain : 1}};
  r.uses_per_value = r.uses.front().uses;
  r.formulas = {fmt::format("FLOP = N × chain = {} × {}: one an element and operation", n(op.n), n(op.chain)),
                fmt::format("bytes = trips × N × {} B = {} × {} × {} B", width, n(trips), n(op.n), width)};
  const double saved = 1 - 1 / op.chain;
  if (op.chain == 1) {
    if (op.fused)
      r.notes.emplace_back("--fused changes nothing: a chain of one operation has no neighbour to fuse with");
  } else if (op.fused) {
    r.traffic_saved = saved;
    r.notes.push_back(fmt::format("apart they make {} trips to main memory, fused 2: {:.0f} % of the traffic is gone",
                                  n(apart), saved * 100));
  } else {
    r.notes.push_back(fmt::format("fused they would make 2 trips instead of {}: {:.0f} % of the traffic would be gone",
                                  n(apart), saved * 100));
  }
  return out;
}

Result<Counted> count(const RawOp& op, double /*width*/) {
  const double flops = op.flops.value();
  const double bytes = op.bytes.value();
  if (!std::isfinite(flops) || flops <= 0)
    return fail("the work must be above zero", "--flops", "for example --flops '140 GFLOP'");
  if (!std::isfinite(bytes) || bytes <= 0)
    return fail("the traffic must be above zero", "--bytes", "for example --bytes '140 GB'");
  Counted out;
  out.result.kind = "given";
  out.result.title = fmt::format("{} and {}", units::print(op.flops), units::print(op.bytes));
  out.result.flops = op.flops;
  out.result.bytes = op.bytes;
  return out;
}

/// The type the arithmetic runs in, and why when that is not the one asked for.
Result<ComputeType> choose_type(ComputeType wanted, bool matrix_units, const hardware::Device& device,
                                std::vector<std::string>& notes) {
  if (!matrix_units) {
    const ComputeType vector_type = wanted == ComputeType::fp64 ? ComputeType::fp64 : ComputeType::fp32;
    if (device.peak(vector_type)) {
      notes.push_back(
          fmt::format("element-wise work runs on the vector units: the {} peak is taken", name(vector_type)));
      return vector_type;
    }
  }
  const auto executed = hardware::executed_type(device, wanted);
  if (!executed || !device.peak(*executed)) {
    return fail(fmt::format("{} has no known arithmetic peak", device.name), device.id, "choose another device");
  }
  if (*executed != wanted) {
    notes.push_back(
        fmt::format("{} does not compute in {}: the work runs in {}", device.name, name(wanted), name(*executed)));
  }
  return *executed;
}

/// The last cache, when a repeated call could find everything in it.
void note_cache(const hardware::Device& device, OpResult& result) {
  for (auto level = device.ladder.rbegin(); level != device.ladder.rend(); ++level) {
    // The last rung is main memory; the cache nearest to it is the one that matters, and it must serve the whole
    // device.
    if (level == device.ladder.rbegin() || !level->capacity || level->reach != "device") continue;
    if (result.bytes <= level->capacity->value) {
      result.notes.push_back(
          fmt::format("the {} moved fit in {} ({}): a call that finds them there is faster than this limit",
                      units::print(result.bytes), level->name, units::print(level->capacity->value)));
    }
    return;
  }
}

Result<OpResult> under_roofs(Counted counted, ComputeType wanted, const hardware::Device& device) {
  OpResult& r = counted.result;
  if (!(r.flops.value() <= largest_total) || !(r.bytes.value() <= largest_total)) {
    return fail("these sizes give more work than any machine could do", {}, "check the sizes");
  }
  if (!device.memory_bandwidth || !(device.memory_bandwidth->value.value() > 0)) {
    return fail(fmt::format("{} has no known memory bandwidth", device.name), device.id, "choose another device");
  }
  const auto type = choose_type(wanted, counted.matrix_units, device, r.notes);
  if (!type) return tl::unexpected(type.error());
  r.executed = *type;
  r.dtype = std::string(name(wanted));
  r.bandwidth = device.memory_bandwidth->value;
  r.peak = device.peak(*type)->value;
  if (!(r.peak.value() > 0)) return fail(fmt::format("{} has no known arithmetic peak", device.name), device.id);
  r.intensity = r.flops / r.bytes;
  r.ridge = r.peak / r.bandwidth;
  r.memory_time = r.bytes / r.bandwidth;
  r.compute_time = r.flops / r.peak;
  r.limit = std::max(r.memory_time, r.compute_time);
  r.wall = r.memory_time >= r.compute_time ? OpWall::memory : OpWall::compute;
  r.device_id = device.id;
  r.device_name = device.name;
  r.formulas.push_back(fmt::format("memory time = {} ÷ {} = {}", units::print(r.bytes), units::print(r.bandwidth),
                                   units::print(r.memory_time)));
  r.formulas.push_back(fmt::format("compute time = {} ÷ {} ({}) = {}", units::print(r.flops), units::print(r.peak),
                                   name(r.executed), units::print(r.compute_time)));
  r.formulas.push_back(
      fmt::format("limit = the larger of both = {}; launch time is not counted", units::print(r.limit)));
  note_cache(device, r);
  return std::move(r);
}

bool is_plain_number(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t");
  return last != std::string_view::npos && ((text[last] >= '0' && text[last] <= '9') || text[last] == '.');
}

template <class Quantity>
Result<Quantity> located(Result<Quantity> result, const std::string& flag) {
  if (!result) result.error().where = flag;
  return result;
}

}  // namespace

std::string_view name(OpWall wall) {
  return wall == OpWall::memory ? "memory" : "compute";
}

Result<OpResult> cost_op(const Op& op, std::string_view dtype, const hardware::Device& device) {
  const auto wanted = hardware::compute_type_from(dtype);
  if (!wanted) {
    return fail(fmt::format("'{}' is not an arithmetic type", dtype.substr(0, 40)), "--dtype",
                "use fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8 or int4");
  }
  const auto width = bytes_per_element(*wanted);
  if (!width) return tl::unexpected(width.error());
  auto counted = std::visit([&](const auto& content) { return count(content, *width); }, op);
  if (!counted) return tl::unexpected(counted.error());
  return under_roofs(std::move(*counted), *wanted, device);
}

Result<double> parse_size(std::string_view text, const std::string& flag) {
  const auto value = units::parse_count(text);
  if (!value) return fail(value.error().what, flag, "give a whole number from 1 to 1e15, for example 4096");
  if (auto ok = check_size(*value, "the size"); !ok) return fail(ok.error().what, flag, ok.error().fix);
  return value;
}

Result<units::Flops> parse_work(std::string_view text, const std::string& flag) {
  if (is_plain_number(text)) {
    const auto value = located(units::parse_count(text), flag);
    if (!value) return tl::unexpected(value.error());
    return units::Flops{*value};
  }
  return located(units::parse_flops(text), flag);
}

Result<units::Bytes> parse_traffic(std::string_view text, const std::string& flag) {
  if (is_plain_number(text)) {
    const auto value = located(units::parse_count(text), flag);
    if (!value) return tl::unexpected(value.error());
    return units::Bytes{*value};
  }
  return located(units::parse_bytes(text), flag);
}

}  // namespace corridor::app
