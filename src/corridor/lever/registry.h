// SPDX-License-Identifier: Apache-2.0
// The list of levers; each stands in the file of its id.
#pragma once

#include <span>

#include "corridor/lever/lever.h"

namespace corridor::lever {

/// One lever: looks at a case and answers. It must not fail.
struct Lever {
  std::string_view id;
  LeverResult (*look)(const Situation&);
};
[[nodiscard]] std::span<const Lever> all_levers();

[[nodiscard]] LeverResult batch(const Situation&);
[[nodiscard]] LeverResult weights_8bit(const Situation&);
[[nodiscard]] LeverResult weights_4bit(const Situation&);
[[nodiscard]] LeverResult kv_8bit(const Situation&);
[[nodiscard]] LeverResult fusion(const Situation&);
[[nodiscard]] LeverResult flash_attention(const Situation&);
[[nodiscard]] LeverResult graphs(const Situation&);
[[nodiscard]] LeverResult speculation(const Situation&);
[[nodiscard]] LeverResult continuous_batching(const Situation&);
[[nodiscard]] LeverResult chunk_size(const Situation&);
[[nodiscard]] LeverResult tp_up(const Situation&);
[[nodiscard]] LeverResult tp_down(const Situation&);
[[nodiscard]] LeverResult replicas(const Situation&);
[[nodiscard]] LeverResult shorter_context(const Situation&);
[[nodiscard]] LeverResult other_device(const Situation&);
[[nodiscard]] LeverResult offload(const Situation&);
[[nodiscard]] LeverResult coalescing(const Situation&);

}  // namespace corridor::lever
