// SPDX-License-Identifier: Apache-2.0
// Time of a transfer between devices: one shot, two shots or a ring, by size, ranks and link.
#pragma once

#include "corridor/roofline/op_time.h"

namespace corridor::roofline {

/// Fills limit_link, transfer, expected and bound of `time` for a collective.
void time_collective(const graph::Op& op, const TimingContext& context, OpTime& time);

}  // namespace corridor::roofline
