// SPDX-License-Identifier: Apache-2.0
// The roofline picture of a prediction: roofs of the device, operations as points.
#include <set>
#include <string>

#include "corridor/views/predict_view.h"

namespace corridor::views {
namespace {

void add_points(const std::vector<roofline::OpRow>& rows, const std::string& series, report::RooflinePlot& plot) {
  double total = 0;
  for (const roofline::OpRow& row : rows) total += row.expected.value();
  for (const roofline::OpRow& row : rows) {
    const double flops = row.op.flops.value();
    const double bytes = row.op.bytes().value();
    const double seconds = row.time.expected.value();
    if (flops <= 0 || bytes <= 0 || seconds <= 0 || total <= 0) continue;
    plot.points.push_back({row.op.name, series, flops / bytes, flops / seconds, row.expected.value() / total});
  }
}

}  // namespace

report::RooflinePlot prediction_roofline(const app::PredictAnswer& a) {
  report::RooflinePlot plot;
  plot.key = "roofline";
  plot.title = "Every operation of " + a.model.name + " on one " + a.device.name;
  for (const hardware::MemoryLevel& level : a.device.ladder) {
    if (level.bandwidth) plot.bandwidths.push_back({level.name, level.bandwidth->value.value(), false});
  }
  if (a.device.reachable_bandwidth) {
    plot.bandwidths.push_back({"main memory, reachable", a.device.reachable_bandwidth->value.value(), true});
  }
  std::set<hardware::ComputeType> used = {a.prediction.arithmetic.type};
  for (const auto* rows : {&a.prediction.decode.rows, &a.prediction.prefill.rows}) {
    for (const roofline::OpRow& row : *rows) {
      if (row.op.flops.value() > 0 && row.op.kind != graph::OpKind::collective) used.insert(row.time.arithmetic.type);
    }
  }
  for (const hardware::ComputeType type : used) {
    if (const auto& peak = a.device.peak(type)) {
      plot.peaks.push_back(
          {std::string(hardware::name(type)) + " peak", peak->value.value(), type == a.prediction.arithmetic.type});
    }
  }
  add_points(a.prediction.decode.rows, "decode", plot);
  add_points(a.prediction.prefill.rows, "prompt", plot);
  return plot;
}

}  // namespace corridor::views
