// SPDX-License-Identifier: Apache-2.0
// Changed layouts and the flags that ask for them.
#include "corridor/lever/layout.h"

#include <fmt/format.h>

#include "corridor/graph/placement.h"

namespace corridor::lever {

std::optional<graph::Parallelism> with_ranks(const Situation& s, std::int64_t tp, std::int64_t dp) {
  const graph::Parallelism& present = s.input.scenario.parallelism;
  graph::Parallelism layout = present;
  layout.tp = tp;
  layout.dp = dp;
  if (present.ep > 1) layout.ep = present.ep == present.tp ? tp : tp * dp;
  if (!graph::check_layout(s.input.model, layout)) return std::nullopt;
  return layout;
}

std::string layout_flags(const Situation& s, const graph::Parallelism& layout) {
  const graph::Parallelism& present = s.input.scenario.parallelism;
  std::string text = fmt::format("--tp {}", layout.tp);
  if (layout.dp != present.dp) text += fmt::format(" --dp {}", layout.dp);
  if (layout.ep != present.ep) text += fmt::format(" --ep {}", layout.ep);
  return text;
}

double communication_share(const roofline::DecodePrediction& decode) {
  const double total = decode.budget.total().value();
  return total > 0 ? decode.budget.communication.value() / total : 0;
}

}  // namespace corridor::lever
