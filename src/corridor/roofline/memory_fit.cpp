// SPDX-License-Identifier: Apache-2.0
// Capacity arithmetic of DESIGN §4.3.
#include "corridor/roofline/memory_fit.h"

#include <algorithm>
#include <cmath>

#include "corridor/graph/kv_cache.h"
#include "corridor/graph/placement.h"

namespace corridor::roofline {
namespace {

using graph::Parallelism;
using units::Bytes;

constexpr std::int64_t most_devices = 4096;

/// KV bytes on one device of one sequence of `length` tokens.
double sequence_bytes(const model::ModelSpec& model, const graph::Scenario& scenario, const Parallelism& layout,
                      double length) {
  const Bytes one_rank = graph::kv_resident(model, scenario.kv, length, static_cast<double>(layout.tp));
  return one_rank.value() / static_cast<double>(layout.pp);
}

struct Need {
  Bytes weights, kv, activations, reserve;
  [[nodiscard]] Bytes total() const { return weights + kv + activations + reserve; }
};

/// What stays the same while layouts and loads are tried.
struct Case {
  const model::ModelSpec& model;
  const graph::Scenario& scenario;
  const EngineProfile& engine;
  const model::ModelSpec* draft;  ///< speculative decoding: resident beside the model
  graph::WeightPlacement& placement;
};

/// The draft is cut like the model where its heads allow it, else every device holds it whole.
Parallelism draft_layout(const model::ModelSpec& draft, const Parallelism& layout) {
  Parallelism own;
  own.tp = layout.tp;
  return graph::check_layout(draft, own) ? own : Parallelism{};
}

/// Activations of `resident` sequences: a pipeline stage works on one micro-batch at a time.
Bytes activations_of(const Case& c, const Parallelism& layout, double resident) {
  const double tokens =
      std::min(c.engine.max_batched_tokens, std::max(static_cast<double>(c.scenario.input), 1.0) * resident);
  return graph::activations_per_device(c.model, layout, tokens, std::ceil(resident / static_cast<double>(layout.pp)));
}

Need need_of(const Case& c, const Parallelism& layout) {
  const graph::Scenario& scenario = c.scenario;
  Need need;
  need.weights = c.placement.on_one_device(layout);
  const double length = static_cast<double>(scenario.input + scenario.output);
  const double replica_sequences = std::ceil(scenario.sequences / static_cast<double>(layout.dp));
  // A static batch must be resident whole; a closed loop queues what does not fit, so one request is enough.
  const double resident = scenario.load == graph::Load::batch ? replica_sequences : 1;
  need.kv = Bytes{resident * sequence_bytes(c.model, scenario, layout, length)};
  if (c.draft != nullptr) {
    const Parallelism own = draft_layout(*c.draft, layout);
    need.weights += graph::weights_per_device(*c.draft, own);
    need.kv += Bytes{resident * sequence_bytes(*c.draft, scenario, own, length)};
  }
  need.activations = activations_of(c, layout, resident);
  need.reserve = Bytes{c.engine.reserve_bytes};
  return need;
}

/// Largest length whose single sequence fits in `pool` bytes on one device.
double longest_context(const model::ModelSpec& model, const graph::Scenario& scenario, double pool) {
  const auto fits = [&](double length) {
    return sequence_bytes(model, scenario, scenario.parallelism, length) <= pool;
  };
  if (!fits(1)) return 0;
  double low = 1;
  double high = 1e12;  // far beyond any model; a window-only cache fits at any length
  if (fits(high)) return high;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

/// Smallest count of devices, over all replicas, and the layout of one replica on them.
void count_devices(const Case& c, const hardware::Device& device, MemoryFit& fit) {
  const double in_node = device.link.devices_in_node ? device.link.devices_in_node->value : 8;
  const std::int64_t replicas = c.scenario.parallelism.dp;
  const auto holds = [&](const Parallelism& layout) {
    if (c.model.layer_count() > 0 && layout.pp > c.model.layer_count()) return false;
    return need_of(c, layout).total() <= device.memory_capacity->value;
  };
  for (std::int64_t devices = 1; devices * replicas <= most_devices; devices += devices < 64 ? 1 : 8) {
    Parallelism layout = graph::default_layout(c.model, devices, static_cast<std::int64_t>(in_node));
    layout.dp = replicas;
    if (!holds(layout)) continue;
    fit.devices_needed = devices * replicas;
    fit.layout_needed = layout;
    return;
  }
}

/// Most requests whose cache and activations fit beside the weights.
double most_requests(const Case& c, double each, double beside_weights) {
  const auto fits = [&](double n) {
    return n * each + activations_of(c, c.scenario.parallelism, n).value() <= beside_weights;
  };
  if (!fits(1)) return 0;
  double low = 1;
  double high = std::floor(beside_weights / each) + 1;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

void count_capacity(const Case& c, double beside_weights, MemoryFit& fit) {
  const double pool = fit.kv_pool.value();
  const Parallelism& layout = c.scenario.parallelism;
  const double length = static_cast<double>(c.scenario.input + c.scenario.output);
  const double each = sequence_bytes(c.model, c.scenario, layout, length);
  if (each <= 0) return;
  fit.max_requests = most_requests(c, each, beside_weights);
  fit.max_tokens = std::floor(pool / each * length);
  fit.max_context = longest_context(c.model, c.scenario, pool);
  if (c.model.max_positions > 0) {
    fit.max_context = std::min(fit.max_context, static_cast<double>(c.model.max_positions));
    const double longest = sequence_bytes(c.model, c.scenario, layout, static_cast<double>(c.model.max_positions));
    fit.max_requests_at_max_length = longest > 0 ? std::floor(pool / longest * 100) / 100 : 0;
  }
}

/// Sequences that decode at once on a replica in a closed loop: what memory admits, and what the engine's budget of
/// tokens a step keeps supplied with prompts. Each answer of O tokens needs I prompt tokens first, so n decoding
/// sequences use up n·I/O prompt tokens a step beside their own n: n ≤ O·budget ÷ (I + O).
double decoding_at_once(const Case& c, double asked, double admitted) {
  const double input = static_cast<double>(c.scenario.input);
  const double output = static_cast<double>(std::max<std::int64_t>(1, c.scenario.output));
  const double supplied = output * c.engine.max_batched_tokens / (input + output);
  return std::max(1.0, std::floor(std::min({asked, admitted, supplied})));
}

/// Requests that memory admits: engines that reserve a request's longest length admit what holds that; the others admit
/// while the cache grows, so on average each takes its prompt and half of its answer.
double admitted_at_once(const Case& c, double beside_weights, const MemoryFit& fit) {
  if (c.engine.reserves_whole) return fit.max_requests;
  const double middle = static_cast<double>(c.scenario.input) + static_cast<double>(c.scenario.output) / 2;
  const double each = sequence_bytes(c.model, c.scenario, c.scenario.parallelism, middle);
  return each > 0 ? std::max(fit.max_requests, most_requests(c, each, beside_weights)) : fit.max_requests;
}

}  // namespace

MemoryFit fit_memory(const model::ModelSpec& model, const hardware::Device& device, const graph::Scenario& scenario,
                     const EngineProfile& engine, const graph::MatrixTable* matrices, const model::ModelSpec* draft) {
  std::optional<graph::MatrixTable> own;
  graph::WeightPlacement placement(model, matrices != nullptr ? *matrices : own.emplace(model));
  const Case c{model, scenario, engine, draft, placement};
  MemoryFit fit;
  const Need need = need_of(c, scenario.parallelism);
  fit.weights = need.weights;
  fit.kv = need.kv;
  fit.activations = need.activations;
  fit.reserve = need.reserve;
  fit.has_kv = !model.plain_parameters;
  fit.kv_bytes_per_token = graph::kv_bytes_per_token(model, scenario.kv);
  fit.state_bytes_per_sequence = graph::state_bytes_per_sequence(model);

  const double per_replica = scenario.sequences / static_cast<double>(scenario.parallelism.dp);
  const bool closed_loop = scenario.load == graph::Load::concurrency;
  fit.sequences = closed_loop ? decoding_at_once(c, per_replica, per_replica) : per_replica;
  fit.capacity_known = device.memory_capacity.has_value();
  if (!fit.capacity_known) {  // a CPU's memory is what its owner put in: nothing can be said about fit
    fit.fits = true;
    return fit;
  }
  fit.capacity = device.memory_capacity->value;
  fit.fits = need.total() <= fit.capacity;
  fit.shortfall = fit.fits ? Bytes{0} : need.total() - fit.capacity;
  const double usable =
      std::min(fit.capacity.value() * engine.kv_pool_fraction, fit.capacity.value() - engine.reserve_bytes);
  const double beside_weights = std::max(0.0, usable - need.weights.value());
  fit.kv_pool = Bytes{std::max(0.0, beside_weights - need.activations.value())};
  count_capacity(c, beside_weights, fit);
  if (closed_loop && fit.has_kv) {
    fit.sequences = decoding_at_once(c, per_replica, admitted_at_once(c, beside_weights, fit));
    const double length = static_cast<double>(scenario.input + scenario.output);
    if (fit.fits) fit.kv = Bytes{fit.sequences * sequence_bytes(model, scenario, scenario.parallelism, length)};
  }
  count_devices(c, device, fit);
  return fit;
}

}  // namespace corridor::roofline
