// SPDX-License-Identifier: Apache-2.0
// Fills the blocks of a time-line.
#include "corridor/views/ptx_timeline_view.h"

#include <array>

#include <fmt/format.h>

#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using ptx::WarpState;

struct StateLook {
  WarpState state;
  char letter;
  const char* key;
};
/// In the order of WarpState, which is what samples hold.
constexpr std::array<StateLook, 7> looks = {{{WarpState::absent, ' ', "absent"},
                                             {WarpState::issued, 'I', "issued"},
                                             {WarpState::eligible, 'e', "eligible"},
                                             {WarpState::waits_memory, '.', "waits_memory"},
                                             {WarpState::waits_result, '-', "waits_result"},
                                             {WarpState::barrier, 'B', "barrier"},
                                             {WarpState::done, ' ', "done"}}};

report::FieldGroup shares_of(const ptx::Timeline& timeline, const std::string& key) {
  report::FieldGroup group{fmt::format("One SM with {} warps", timeline.resident_warps), {}};
  auto& fields = group.fields;
  fields.push_back({key + ".resident_warps", "", count(timeline.resident_warps), ""});
  fields.push_back({key + ".clocks", "clocks", count(static_cast<double>(timeline.clocks)),
                    timeline.cut ? "cut here: the run is longer" : ""});
  fields.push_back({key + ".warps_run", "warps run", count(static_cast<double>(timeline.warps_run)), ""});
  fields.push_back({key + ".issue_share", "issue slots used", share(timeline.issue_share), "of four a clock"});
  for (const StateLook& look : looks) {
    const double part = timeline.share_of[static_cast<std::size_t>(look.state)];
    const bool shown = part > 0 && look.state != WarpState::absent;
    fields.push_back(
        {key + ".share." + look.key, shown ? fmt::format("a warp: {}", name_of(look.state)) : "", share(part), ""});
  }
  return group;
}

}  // namespace

void append_timeline(report::Document& document, const ptx::Timeline& timeline, const std::string& key) {
  if (timeline.clocks == 0) {
    document.blocks.emplace_back(report::Paragraph{key + "_note", "No warp was recorded, so there is no time-line.",
                                                   report::Paragraph::Style::plain});
    return;
  }
  document.blocks.emplace_back(shares_of(timeline, key));
  report::StateRows picture;
  picture.key = key + ".picture";
  const std::size_t samples = timeline.states.empty() ? 0 : timeline.states.front().size();
  const bool whole = std::uint64_t{samples} * timeline.clocks_per_sample >= timeline.clocks;
  picture.title = fmt::format("{} warps on one SM{}", timeline.resident_warps, whole ? "" : ", from the start");
  picture.x_label = "clocks";
  picture.x_per_sample = timeline.clocks_per_sample;
  for (const StateLook& look : looks) {
    picture.states.push_back({look.letter, std::string(name_of(look.state)), look.state == WarpState::issued});
  }
  for (std::size_t place = 0; place < timeline.states.size(); ++place) {
    report::StateRows::Row row{fmt::format("warp {}", place), {}};
    for (const WarpState state : timeline.states[place]) row.samples.push_back(static_cast<std::uint8_t>(state));
    picture.rows.push_back(std::move(row));
  }
  document.blocks.emplace_back(std::move(picture));
}

}  // namespace corridor::views
