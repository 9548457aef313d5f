// SPDX-License-Identifier: Apache-2.0
// Solves memory time = compute time for the batch; weights of experts grow with the batch, so it is found by bisection.
#include "corridor/roofline/break_even.h"

#include <vector>

#include <fmt/format.h>

#include "corridor/units/text.h"

namespace corridor::roofline {
namespace {

constexpr double largest_batch = 1e7;
constexpr double longest_context = 1e8;  // tokens; beyond any model

/// Seconds on datasheet peaks that a decode step spends, as functions of batch and context.
class PeakTimes {
 public:
  static Result<PeakTimes> of(const model::ModelSpec& model, const graph::GraphOptions& options,
                              const TimingContext& timing) {
    PeakTimes times(model, options, timing.device.memory_bandwidth->value);
    graph::StepShape one;
    one.decode_sequences = 1;
    one.context = 1;
    for (const graph::Op& op : graph::build_graph(model, one, options).ops) {
      if (op.kind != graph::OpKind::product && op.kind != graph::OpKind::moe) continue;
      Result<Arithmetic> arithmetic = arithmetic_of(timing.device, op.format, timing.math);
      if (!arithmetic) return tl::unexpected(arithmetic.error());
      times.product_ += op.flops * op.repeats / arithmetic->peak;
      times.dense_ += (op.weights - op.experts) * op.repeats / times.bandwidth_;
      if (op.kind == graph::OpKind::moe) times.experts_.push_back(op);
    }
    Result<Arithmetic> attention = arithmetic_of(timing.device, options.kv, std::nullopt);
    if (!attention) return tl::unexpected(attention.error());
    times.attention_peak_ = attention->peak;
    return times;
  }

  [[nodiscard]] units::Seconds weights(double batch) const {
    units::Seconds total = dense_;
    for (const graph::Op& op : experts_) {
      const auto touched = [&](double tokens) {
        return graph::experts_touched(op.expert_count, op.experts_per_token, tokens, options_.routing);
      };
      total += op.experts * op.repeats * (touched(batch) / touched(1)) / bandwidth_;
    }
    return total;
  }
  [[nodiscard]] units::Seconds products(double batch) const { return product_ * batch; }
  /// Arithmetic and KV time of one sequence.
  struct Sequence {
    units::Seconds compute, kv;
  };
  [[nodiscard]] Sequence sequence(double context) const {
    const graph::AttentionCost cost = graph::decode_attention_cost(model_, options_.kv, context);
    return {product_ + cost.flops / attention_peak_, cost.kv / bandwidth_};
  }

 private:
  PeakTimes(const model::ModelSpec& model, const graph::GraphOptions& options, units::BytesPerSecond bandwidth)
      : model_(model), options_(options), bandwidth_(bandwidth) {}
  const model::ModelSpec& model_;
  const graph::GraphOptions& options_;
  units::BytesPerSecond bandwidth_;
  units::FlopsPerSecond attention_peak_;
  units::Seconds product_, dense_;  ///< of one token; of the weights every step reads
  std::vector<graph::Op> experts_;
};

/// Smallest batch from which `compute_ahead(batch)` holds; empty when it does not hold at the largest.
template <class Ahead>
std::optional<double> first_batch(Ahead compute_ahead) {
  if (!compute_ahead(largest_batch)) return std::nullopt;
  double low = 0;
  double high = largest_batch;
  for (int step = 0; step < 60 && high - low > 1e-6 * high; ++step) {
    const double middle = (low + high) / 2;
    (compute_ahead(middle) ? high : low) = middle;
  }
  return (low + high) / 2;
}

/// Context from which a sequence's KV bytes cost more time than its arithmetic; empty when there is none.
std::optional<double> context_without_break_even(const PeakTimes& times) {
  const auto pays = [&](double context) {
    const PeakTimes::Sequence one = times.sequence(context);
    return one.compute > one.kv;
  };
  if (!pays(1) || pays(longest_context)) return std::nullopt;
  double low = 1;
  double high = longest_context;
  while (high - low > 0.5) {
    const double middle = (low + high) / 2;
    (pays(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace

Result<BreakEven> break_even(const model::ModelSpec& model, double context, const graph::GraphOptions& asked,
                             const TimingContext& timing) {
  graph::GraphOptions options = asked;
  options.parallelism = {};  // one device: splitting divides both sides alike
  Result<PeakTimes> times = PeakTimes::of(model, options, timing);
  if (!times) return tl::unexpected(times.error());
  BreakEven result;
  result.batch_weights_only =
      first_batch([&](double batch) { return times->products(batch) >= times->weights(batch); });
  const PeakTimes::Sequence one = times->sequence(context);
  result.batch =
      first_batch([&](double batch) { return one.compute * batch >= times->weights(batch) + one.kv * batch; });
  result.none_from_context = context_without_break_even(*times);
  if (!result.batch) {
    result.reason = fmt::format(
        "at {:.0f} tokens of context the KV bytes of one sequence take {} and its arithmetic {}: no batch reaches the "
        "ridge",
        context, units::print(one.kv), units::print(one.compute));
  }
  return result;
}

}  // namespace corridor::roofline
