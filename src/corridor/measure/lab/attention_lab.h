// SPDX-License-Identifier: Apache-2.0
// The two ways of attention that the experiment compares, callable on small sizes.
#pragma once

#include <cstddef>

#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {

/// Every head has as many keys as queries and sees all of them. tokens is a multiple of 32, head_dim of 32.
struct AttentionShape {
  std::size_t heads = 1;
  std::size_t tokens = 2048;
  std::size_t head_dim = 64;
  [[nodiscard]] double score_bytes() const { return static_cast<double>(heads * tokens * tokens) * sizeof(float); }
  /// Two products of 2 · tokens² · head_dim a head.
  [[nodiscard]] double flop() const { return 4.0 * static_cast<double>(heads * tokens * tokens * head_dim); }
};

/// f32, [heads][tokens][head_dim]; keys [heads][head_dim][tokens].
struct AttentionData {
  const float* q = nullptr;
  const float* keys_by_component = nullptr;
  const float* values = nullptr;
  float* out = nullptr;
};

/// Work space of one thread.
inline constexpr std::size_t attention_pad_floats = block_scratch_floats + std::size_t{64} * 256;

/// scores holds heads · tokens², pads attention_pad_floats a thread.
void attend_through_scores(WorkerTeam& team, const AttentionData& data, const AttentionShape& shape, float* scores,
                           float* pads);
void attend_in_blocks(WorkerTeam& team, const AttentionData& data, const AttentionShape& shape, float* pads);

}  // namespace corridor::measure
