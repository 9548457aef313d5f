// SPDX-License-Identifier: Apache-2.0
// All levers in the order in which those that do not apply are listed, and their ranking.
#include "corridor/lever/registry.h"

#include <algorithm>
#include <array>
#include <utility>

namespace corridor::lever {
namespace {

constexpr double noticeably_slower = 0.995;  // nearer to 1 than any prediction can tell

}  // namespace

std::span<const Lever> all_levers() {
  static constexpr std::array<Lever, 17> levers = {{{"batch", batch},
                                                    {"weights_8bit", weights_8bit},
                                                    {"weights_4bit", weights_4bit},
                                                    {"kv_8bit", kv_8bit},
                                                    {"speculation", speculation},
                                                    {"graphs", graphs},
                                                    {"fusion", fusion},
                                                    {"flash_attention", flash_attention},
                                                    {"continuous_batching", continuous_batching},
                                                    {"chunk_size", chunk_size},
                                                    {"shorter_context", shorter_context},
                                                    {"tp_up", tp_up},
                                                    {"tp_down", tp_down},
                                                    {"replicas", replicas},
                                                    {"other_device", other_device},
                                                    {"offload", offload},
                                                    {"coalescing", coalescing}}};
  return levers;
}

std::vector<LeverResult> rank_levers(const Situation& situation) {
  std::vector<LeverResult> results;
  for (const Lever& lever : all_levers()) {
    LeverResult result = lever.look(situation);
    if (result.applies && result.gain.mid < noticeably_slower) result.note = "slower here: " + result.note;
    results.push_back(std::move(result));
  }
  std::stable_sort(results.begin(), results.end(), [](const LeverResult& a, const LeverResult& b) {
    if (a.applies != b.applies) return a.applies;
    return a.applies && a.gain.mid > b.gain.mid;
  });
  return results;
}

}  // namespace corridor::lever
