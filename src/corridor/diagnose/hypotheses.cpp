// SPDX-License-Identifier: Apache-2.0
// Each hypothesis is a changed case that is predicted again: its size is the difference, never a guess.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/diagnose/comparison.h"
#include "corridor/model/readers.h"

namespace corridor::diagnose {
namespace {

using roofline::PredictInput;
using roofline::Wall;
using units::Seconds;

/// Collects hypotheses of one case.
class Suspects {
 public:
  Suspects(const DiagnoseInput& input, const Comparison& comparison) : input_(input), comparison_(comparison) {}

  /// The case with another scenario, model, device or engine.
  void add_changed(const PredictInput& changed, std::string cause, std::string how_to_tell, Wall wall) {
    const std::optional<Comparison> other = compare_changed(input_, changed);
    if (other) add(other->expected.mid - comparison_.expected.mid, std::move(cause), std::move(how_to_tell), wall);
  }
  void add(Seconds extra, std::string cause, std::string how_to_tell, Wall wall) {
    // A cause that adds less than this share of the expected time explains nothing.
    constexpr double least_share = 0.03;
    if (extra < comparison_.expected.mid * least_share) return;
    const double explained = (comparison_.expected.mid + extra) / comparison_.observed;
    // More than this times the gap: were it the cause, the run would be far slower than it is.
    constexpr double largest_fit = 3;
    const bool oversized = extra > (comparison_.observed - comparison_.expected.mid) * largest_fit;
    found_.push_back(
        {std::move(cause), extra, std::move(how_to_tell), wall, std::fabs(std::log(explained)), oversized});
  }
  std::vector<Hypothesis> ranked() {
    std::stable_sort(found_.begin(), found_.end(), [](const Hypothesis& a, const Hypothesis& b) {
      return std::pair(a.oversized, a.mismatch) < std::pair(b.oversized, b.mismatch);
    });
    return std::move(found_);
  }

 private:
  const DiagnoseInput& input_;
  const Comparison& comparison_;
  std::vector<Hypothesis> found_;
};

void suspect_launches_and_host(const PredictInput& base, Suspects& suspects) {
  if (base.scenario.graphs && base.engine.graphs_default) {
    graph::Scenario eager = base.scenario;
    eager.graphs = false;
    suspects.add_changed({base.model, base.device, eager, base.engine, base.constants, base.draft},
                         "kernels are launched one by one (no graph capture)",
                         "look for --enforce-eager or a graph warning at start; run once with graphs on",
                         Wall::overhead);
  }
  // Host time of 2023–24 engines was 1.6 ms a step and 90 µs a request (data/engines/vllm.toml,
  // host_per_step_legacy_s).
  roofline::EngineProfile slow_host = base.engine;
  slow_host.host_per_step_s = std::max(1.6e-3, 3 * base.engine.host_per_step_s);
  slow_host.host_per_request_s = std::max(9e-5, 3 * base.engine.host_per_request_s);
  suspects.add_changed({base.model, base.device, base.scenario, slow_host, base.constants, base.draft},
                       "a slow host: an old engine, a weak or shared CPU, or Python work in every step",
                       "compare the step time of batch 1 and batch 2: host time does not change with the model",
                       Wall::overhead);
}

void suspect_formats(const PredictInput& base, Suspects& suspects) {
  using model::TensorRole;
  const bool routed = std::any_of(base.model.layers.begin(), base.model.layers.end(),
                                  [](const model::LayerGroup& group) { return group.feed_forward.experts > 0; });
  const TensorRole role = routed ? TensorRole::expert : TensorRole::dense_mlp;
  const model::WeightFormat& stored = base.model.stored(role).format;
  if (stored.bits_per_weight < 12) {
    const model::ModelSpec wide = model::with_weight_format(base.model, *model::find_weight_format("bf16"));
    suspects.add_changed({wide, base.device, base.scenario, base.engine, base.constants, base.draft},
                         "the 16-bit weights were loaded, not the " + stored.name + " ones",
                         "read the memory that the start line says the weights took", Wall::memory);
  }
  if (routed) {
    model::ModelSpec all = base.model;
    for (model::LayerGroup& group : all.layers) {
      if (group.feed_forward.experts > 0) group.feed_forward.experts_per_token = group.feed_forward.experts;
    }
    suspects.add_changed({all, base.device, base.scenario, base.engine, base.constants, base.draft},
                         "all experts are read or computed at every step, not the chosen ones",
                         "profile one step: bytes read against the active weights", Wall::memory);
  }
}

void suspect_links(const PredictInput& base, Suspects& suspects) {
  const graph::Parallelism& layout = base.scenario.parallelism;
  if (layout.tp <= 1) return;
  hardware::Device slow_link = base.device;
  slow_link.link.bandwidth_per_direction.reset();
  roofline::KernelConstants constants = base.constants;
  // Through the host an all-reduce of any size costs tens to hundreds of µs: 500 µs were seen on V100 without peer
  // access (meta-pytorch/gpt-fast#111, nsys), 45 µs is the eager kernel over PCIe switches (operation tables).
  constexpr double no_peer_latency_s = 5e-4;
  for (roofline::AllReduceConstants& c : constants.all_reduce) {
    c.latency_graph_s = c.latency_fused_s = c.latency_eager_s = no_peer_latency_s;
    c.ring.latency_s = no_peer_latency_s;
  }
  constants.pcie.latency_s = no_peer_latency_s;
  suspects.add_changed({base.model, slow_link, base.scenario, base.engine, constants, base.draft},
                       "transfers go through the host: no peer access, or the devices share no fast link",
                       "nvidia-smi topo -m; time one all-reduce of a few kB (NCCL tests); each layer needs two",
                       Wall::interconnect);
  hardware::Device pcie = base.device;
  pcie.link.bandwidth_per_direction.reset();
  roofline::KernelConstants eager = base.constants;
  for (roofline::AllReduceConstants& c : eager.all_reduce) {
    c.latency_graph_s = c.latency_fused_s = c.latency_eager_s;
    c.ring.latency_s += c.latency_eager_s;
  }
  eager.pcie.latency_s += eager.all_reduce.front().latency_eager_s;
  suspects.add_changed(
      {base.model, pcie, base.scenario, base.engine, eager, base.draft},
      "the collectives are launched eagerly or run over PCIe",
      "look for disable_custom_all_reduce at start; nvidia-smi topo -m should print NV# between devices",
      Wall::interconnect);
}

void suspect_layout(const PredictInput& base, Suspects& suspects) {
  const graph::Parallelism& layout = base.scenario.parallelism;
  if (layout.tp <= 1) return;
  graph::Scenario in_turn = base.scenario;
  in_turn.parallelism.pp = layout.tp;
  in_turn.parallelism.tp = 1;
  in_turn.parallelism.ep = 1;
  if (base.model.layer_count() > 0 && in_turn.parallelism.pp > base.model.layer_count()) return;
  suspects.add_changed({base.model, base.device, in_turn, base.engine, base.constants, base.draft},
                       "the layers are split, so the devices work in turn: the speed of one device",
                       "each device shows 1/n of the utilisation; look for device_map, -sm layer or pipeline stages",
                       Wall::memory);
}

void suspect_device(const DiagnoseInput& input, const Comparison& comparison, Suspects& suspects) {
  for (const BoardVariant& variant : input.variants) {
    suspects.add(variant.expected - comparison.expected.mid,
                 "the board is a " + variant.id + ", not a " + input.input.device.id,
                 "nvidia-smi --query-gpu=name,memory.total,power.limit --format=csv",
                 variant.slower_link && input.input.scenario.parallelism.tp > 1 ? Wall::interconnect : Wall::memory);
  }
  // Boards at half of their power limit were seen at about 0.6 of their clock; a fault below that is another one.
  constexpr double low_clock = 0.6;
  hardware::Device throttled = input.input.device;
  for (auto& peak : throttled.peaks) {
    if (peak) peak->value *= low_clock;
  }
  throttled.memory_bandwidth->value *= low_clock;
  suspects.add_changed({input.input.model, throttled, input.input.scenario, input.input.engine, input.input.constants,
                        input.input.draft},
                       "clocks at 60 %: power cap, heat, or a shared device",
                       "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER while it runs",
                       comparison.budget.compute > comparison.budget.weights ? Wall::compute : Wall::memory);
}

void suspect_spill(const DiagnoseInput& input, Suspects& suspects) {
  const auto& pcie = input.input.device.pcie.bandwidth_per_direction;
  const roofline::MemoryFit& memory = input.prediction.memory;
  if (!pcie || !memory.capacity_known || input.input.device.unified_memory) return;
  // Weights and cache that take more than this share leave no room for the desktop and other programs.
  constexpr double tight = 0.85;
  if (memory.needed() < memory.capacity * tight) return;
  constexpr double spilled_share = 0.1;
  suspects.add(
      memory.weights * spilled_share / pcie->value,
      "a tenth of the weights lies in host memory and crosses PCIe every step",
      "free device memory first; look for offload flags, for layers on the CPU, for shared GPU memory on Windows",
      Wall::interconnect);
}

}  // namespace

std::vector<Hypothesis> explain_gap(const DiagnoseInput& input, const Comparison& comparison) {
  Suspects suspects(input, comparison);
  suspect_launches_and_host(input.input, suspects);
  if (!input.input.model.plain_parameters) suspect_formats(input.input, suspects);
  suspect_links(input.input, suspects);
  suspect_layout(input.input, suspects);
  suspect_device(input, comparison, suspects);
  suspect_spill(input, suspects);
  return suspects.ranked();
}

}  // namespace corridor::diagnose
