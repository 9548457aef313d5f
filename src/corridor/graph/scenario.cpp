// SPDX-License-Identifier: Apache-2.0
// Names of routings and the arithmetic of speculation.
#include "corridor/graph/scenario.h"

#include <algorithm>
#include <cmath>

namespace corridor::graph {

std::string_view name(Routing routing) {
  switch (routing) {
    case Routing::balanced:
      return "balanced";
    case Routing::uniform:
      return "uniform";
    case Routing::skewed:
      return "skewed";
  }
  return "uniform";
}

double tokens_per_round(std::int64_t draft_tokens, double acceptance) {
  const double k = static_cast<double>(draft_tokens);
  // Near α = 1 the quotient is 0/0; the sum 1 + α + … + α^k is exact there.
  if (acceptance > 1 - 1e-9) return k + 1;
  return (1 - std::pow(acceptance, k + 1)) / (1 - acceptance);
}

double acceptance_for(std::int64_t draft_tokens, double tokens) {
  double low = 0;
  double high = 1;
  for (int step = 0; step < 60; ++step) {  // 2^-60: below double rounding
    const double middle = (low + high) / 2;
    (tokens_per_round(draft_tokens, middle) < tokens ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace corridor::graph
