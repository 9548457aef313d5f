// SPDX-License-Identifier: Apache-2.0
// Sums the operations of a step into limit, budget and totals.
#include "corridor/roofline/step_time.h"

#include <algorithm>
#include <array>
#include <utility>

namespace corridor::roofline {
namespace {

using units::Seconds;

/// The time of an operation beyond its floor goes to its binding resource; memory time is shared by bytes.
void charge(const graph::Op& op, const OpTime& time, Budget& budget) {
  const double n = op.repeats;
  if (op.kind == graph::OpKind::collective) {
    budget.communication += time.expected * n;
    return;
  }
  budget.launch += time.floor * n;
  const Seconds work = (time.expected - time.floor) * n;
  if (time.compute > time.memory) {
    budget.compute += work;
    return;
  }
  const double bytes = op.bytes().value();
  if (bytes <= 0) {
    budget.launch += work;
    return;
  }
  budget.weights += work * (op.weights.value() / bytes);
  budget.experts += work * (op.experts.value() / bytes);
  budget.kv += work * (op.kv.value() / bytes);
  budget.activations += work * (op.activations.value() / bytes);
}

void add_totals(const graph::Op& op, StepTotals& totals) {
  totals.flops += op.flops * op.repeats;
  totals.weights += op.weights * op.repeats;
  totals.experts += op.experts * op.repeats;
  totals.kv += op.kv * op.repeats;
  totals.activations += op.activations * op.repeats;
}

/// Server devices stand in hosts of their own years; desktop ones in whatever their owner has, usually newer.
bool stands_in_old_host(const hardware::Device& device) {
  constexpr double new_hosts = 2022;  // PCIe 5 server processors
  if (!device.year || device.year->value >= new_hosts) return false;
  const auto is = [&](std::string_view word) { return device.form_factor.find(word) != std::string::npos; };
  return is("SXM") || is("OAM") || is("passive");
}

/// Host time to launch one kernel without a graph.
double launch_gap_s(const EngineProfile& engine, const hardware::Device& device) {
  return engine.launch_gap_eager_s * (stands_in_old_host(device) ? engine.old_host_factor : 1);
}

}  // namespace

Budget& Budget::operator+=(const Budget& other) {
  weights += other.weights;
  experts += other.experts;
  kv += other.kv;
  activations += other.activations;
  compute += other.compute;
  launch += other.launch;
  communication += other.communication;
  host += other.host;
  return *this;
}

Budget& Budget::operator*=(double factor) {
  for (Seconds* part : {&weights, &experts, &kv, &activations, &compute, &launch, &communication, &host})
    *part *= factor;
  return *this;
}

std::string_view name(Wall wall) {
  switch (wall) {
    case Wall::memory:
      return "memory";
    case Wall::compute:
      return "compute";
    case Wall::overhead:
      return "overhead";
    case Wall::interconnect:
      return "interconnect";
  }
  return "";
}

Wall WallShares::wall() const {
  const std::array<std::pair<double, Wall>, 4> ordered = {{{memory, Wall::memory},
                                                           {compute, Wall::compute},
                                                           {overhead, Wall::overhead},
                                                           {interconnect, Wall::interconnect}}};
  return std::max_element(ordered.begin(), ordered.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

WallShares shares_of(const Budget& budget) {
  const double total = budget.total().value();
  if (total <= 0) return {};
  return {(budget.weights + budget.kv + budget.activations).value() / total, budget.compute.value() / total,
          (budget.launch + budget.host).value() / total, budget.communication.value() / total};
}

Result<StepTime> time_step(graph::OpGraph graph, const TimingContext& context, const EngineProfile& engine) {
  StepTime step;
  step.shape = graph.shape;
  if (context.keep_rows) step.rows.reserve(graph.ops.size());
  std::array<Seconds, hardware::compute_type_count> by_type{};
  double kernels = 0;
  for (graph::Op& op : graph.ops) {
    Result<OpTime> time = time_op(op, context);
    if (!time) return tl::unexpected(time.error());
    if (time->skipped) continue;
    step.limit_memory += time->limit_memory * op.repeats;
    step.limit_link += time->limit_link * op.repeats;
    by_type[static_cast<std::size_t>(time->arithmetic.type)] += time->limit_compute * op.repeats;
    kernels += op.kernels * op.repeats;
    charge(op, *time, step.budget);
    add_totals(op, step.per_device);
    if (!context.keep_rows) continue;
    const Seconds limit = std::max({time->limit_memory, time->limit_compute, time->limit_link}) * op.repeats;
    const Seconds expected = time->expected * op.repeats;
    step.rows.push_back({std::move(op), *time, expected, limit});
  }
  for (const Seconds& type : by_type) step.limit_compute += type;  // types share the units
  step.limit = std::max({step.limit_memory, step.limit_compute, step.limit_link});

  if (context.graphs) {
    step.budget.launch += Seconds{kernels * engine.launch_gap_graph_s};
  } else {
    // Eager launches run ahead of the device; only what they take beyond the device's own time is seen.
    const Seconds launching{kernels * launch_gap_s(engine, context.device)};
    const Seconds device = step.budget.total();
    if (launching > device) step.budget.launch += launching - device;
  }
  const double sequences = graph.shape.decode_sequences + graph.shape.prefill_sequences;
  step.budget.host = Seconds{engine.host_per_step_s + engine.sampler_s + engine.host_per_request_s * sequences};
  // A profile that grants every peak in full could fall below the limit by rounding; physics wins.
  if (step.budget.total() < step.limit && step.budget.total().value() > 0) {
    step.budget *= step.limit / step.budget.total();
  }
  return step;
}

Result<StepTotals> totals_of(const graph::OpGraph& graph, const TimingContext& context) {
  StepTotals totals;
  for (const graph::Op& op : graph.ops) {
    const Result<bool> exists = op_exists(op, context);
    if (!exists) return tl::unexpected(exists.error());
    if (*exists) add_totals(op, totals);
  }
  return totals;
}

}  // namespace corridor::roofline
