// SPDX-License-Identifier: Apache-2.0
// Which part of a step a lever touches: the time of some operations with their launches.
#pragma once

#include "corridor/lever/lever.h"

namespace corridor::lever {

/// Share of the decode step that operations of this kind take, gaps between their launches included; 0..1.
[[nodiscard]] double decode_share(const Situation& situation, graph::OpKind kind);
/// Share of the prompt's last chunk.
[[nodiscard]] double prefill_share(const Situation& situation, graph::OpKind kind);

}  // namespace corridor::lever
