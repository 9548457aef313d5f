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

Need need_of(const model::ModelSpec& model, const graph::Scenario& scenario, const EngineProfile& engine,
             const Parallelism& layout, graph::WeightPlacement& placement) {
  Need need;
  need.weights = placement.on_one_device(layout);
  const double length = static_cast<double>(scenario.input + scenario.output);
  const double replica_sequences = std::ceil(scenario.sequences / static_cast<double>(layout.dp));
  // A static batch must be resident whole; a closed loop queues what does not fit, so one request is enough.
  const double resident = scenario.load == graph::Load::batch ? replica_sequences : 1;
  need.kv = Bytes{resident * sequence_bytes(model, scenario, layout, length)};
  const double tokens =
      std::min(engine.max_batched_tokens, std::max(static_cast<double>(scenario.input), 1.0) * resident);
  // A pipeline stage works on one micro-batch at a time.
  need.activations =
      graph::activations_per_device(model, layout, tokens, std::ceil(resident / static_cast<double>(layout.pp)));
  need.reserve = Bytes{engine.reserve_bytes};
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

std::int64_t devices_needed(const model::ModelSpec& model, const hardware::Device& device,
                            const graph::Scenario& scenario, const EngineProfile& engine,
                            graph::WeightPlacement& placement) {
  const double in_node = device.link.devices_in_node ? device.link.devices_in_node->value : 8;
  graph::Scenario whole = scenario;
  whole.sequences = std::ceil(scenario.sequences / static_cast<double>(scenario.parallelism.dp));
  const auto holds = [&](std::int64_t devices) {
    const Parallelism layout = graph::default_layout(model, devices, static_cast<std::int64_t>(in_node));
    if (model.layer_count() > 0 && layout.pp > model.layer_count()) return false;
    return need_of(model, whole, engine, layout, placement).total() <= device.memory_capacity->value;
  };
  for (std::int64_t devices = 1; devices <= most_devices; devices += devices < 64 ? 1 : 8) {
    if (holds(devices)) return devices;
  }
  return 0;
}

void count_capacity(const model::ModelSpec& model, const graph::Scenario& scenario, MemoryFit& fit) {
  const double pool = fit.kv_pool.value();
  const double length = static_cast<double>(scenario.input + scenario.output);
  const double each = sequence_bytes(model, scenario, scenario.parallelism, length);
  if (each <= 0) return;
  fit.max_requests = std::floor(pool / each);
  fit.max_tokens = std::floor(pool / each * length);
  fit.max_context = longest_context(model, scenario, pool);
  if (model.max_positions > 0) {
    fit.max_context = std::min(fit.max_context, static_cast<double>(model.max_positions));
    const double longest =
        sequence_bytes(model, scenario, scenario.parallelism, static_cast<double>(model.max_positions));
    fit.max_requests_at_max_length = longest > 0 ? std::floor(pool / longest * 100) / 100 : 0;
  }
}

}  // namespace

MemoryFit fit_memory(const model::ModelSpec& model, const hardware::Device& device, const graph::Scenario& scenario,
                     const EngineProfile& engine, const graph::MatrixTable* matrices) {
  std::optional<graph::MatrixTable> own;
  graph::WeightPlacement placement(model, matrices != nullptr ? *matrices : own.emplace(model));
  MemoryFit fit;
  const Need need = need_of(model, scenario, engine, scenario.parallelism, placement);
  fit.weights = need.weights;
  fit.kv = need.kv;
  fit.activations = need.activations;
  fit.reserve = need.reserve;
  fit.has_kv = !model.plain_parameters;
  fit.kv_bytes_per_token = graph::kv_bytes_per_token(model, scenario.kv);
  fit.state_bytes_per_sequence = graph::state_bytes_per_sequence(model);

  const double per_replica = scenario.sequences / static_cast<double>(scenario.parallelism.dp);
  fit.sequences = per_replica;
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
  fit.kv_pool = Bytes{std::max(0.0, usable - (need.weights + need.activations).value())};
  count_capacity(model, scenario, fit);
  if (scenario.load == graph::Load::concurrency && fit.has_kv) {
    fit.sequences = std::clamp(fit.max_requests, 1.0, std::max(1.0, per_replica));
  }
  fit.devices_needed = devices_needed(model, device, scenario, engine, placement);
  return fit;
}

}  // namespace corridor::roofline
