// SPDX-License-Identifier: Apache-2.0
// Shares of a step by kind of operation.
#include "corridor/lever/touched.h"

#include <algorithm>

namespace corridor::lever {
namespace {

double share(const Situation& s, const std::vector<roofline::OpRow>& rows, double whole_s, graph::OpKind kind) {
  const roofline::EngineProfile& engine = s.input.engine;
  const double gap_s = s.now.graphs ? engine.launch_gap_graph_s : engine.launch_gap_eager_s;
  double touched_s = 0;
  for (const roofline::OpRow& row : rows) {
    if (row.op.kind == kind) touched_s += row.expected.value() + gap_s * row.op.kernels * row.op.repeats;
  }
  return whole_s > 0 ? std::clamp(touched_s / whole_s, 0.0, 1.0) : 0;
}

}  // namespace

double decode_share(const Situation& s, graph::OpKind kind) {
  return share(s, s.now.decode.rows, s.now.decode.expected.mid.value(), kind);
}

double prefill_share(const Situation& s, graph::OpKind kind) {
  const double chunks = std::max(1.0, s.now.prefill.chunks);
  return share(s, s.now.prefill.rows, s.now.prefill.expected.mid.value() / chunks, kind);
}

}  // namespace corridor::lever
