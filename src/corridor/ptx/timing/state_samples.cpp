// SPDX-License-Identifier: Apache-2.0
// Samples show whether a warp issued in them, else the state that lasted longest; shares count every clock.
#include "corridor/ptx/timing/state_samples.h"

#include <algorithm>
#include <array>

namespace corridor::ptx {
namespace {

constexpr std::uint64_t most_samples = 240;    // a picture is not wider
constexpr std::uint64_t most_pictured = 1920;  // clocks: about three waits for DRAM; beyond, nothing can be told apart
constexpr std::size_t state_count = 7;

}  // namespace

std::string_view name_of(WarpState state) {
  constexpr std::string_view names[state_count] = {
      "absent", "issued", "eligible", "waits for memory", "waits for a result", "barrier", "done"};
  const auto i = static_cast<std::size_t>(state);
  return i < state_count ? names[i] : "unknown";
}

void sample_states(std::span<const std::vector<StateChange>> changes, Timeline& out) {
  const std::uint64_t pictured = std::min(out.clocks, most_pictured);
  const std::uint64_t length = (pictured + most_samples - 1) / most_samples;
  const std::uint64_t samples = (pictured + length - 1) / length;
  out.clocks_per_sample = static_cast<std::uint32_t>(length);
  for (const std::vector<StateChange>& of_place : changes) {
    std::vector<std::array<std::uint64_t, state_count>> held(samples);
    for (std::size_t k = 0; k < of_place.size(); ++k) {
      const auto state = static_cast<std::size_t>(of_place[k].state);
      const std::uint64_t end = std::min(out.clocks, k + 1 < of_place.size() ? of_place[k + 1].first : out.clocks);
      if (end <= of_place[k].first) continue;
      out.share_of[state] += static_cast<double>(end - of_place[k].first);
      for (std::uint64_t at = of_place[k].first; at < std::min(end, pictured);) {
        const std::uint64_t until = std::min(end, (at / length + 1) * length);
        held[at / length][state] += until - at;
        at = until;
      }
    }
    constexpr auto issued = static_cast<std::size_t>(WarpState::issued);
    std::vector<WarpState>& row = out.states.emplace_back();
    for (const auto& one : held) {
      const auto longest = static_cast<std::size_t>(std::max_element(one.begin(), one.end()) - one.begin());
      row.push_back(static_cast<WarpState>(one[issued] > 0 ? issued : longest));
    }
  }
  for (double& share : out.share_of) {
    share /= static_cast<double>(out.clocks) * static_cast<double>(std::max<std::size_t>(1, changes.size()));
  }
}

}  // namespace corridor::ptx
