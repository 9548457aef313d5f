// SPDX-License-Identifier: Apache-2.0
// A time-line as blocks: shares, a picture with a row a warp, and JSON keys that do not meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/views/ptx_timeline_view.h"

namespace corridor::views {
namespace {

using ptx::WarpState;
using testing::HasSubstr;

ptx::Timeline two_warps() {
  ptx::Timeline t;
  t.resident_warps = 2;
  t.clocks = 8;
  t.clocks_per_sample = 2;
  t.issue_share = 0.25;
  t.warps_run = 2;
  t.states = {{WarpState::issued, WarpState::waits_memory, WarpState::waits_memory, WarpState::done},
              {WarpState::issued, WarpState::barrier, WarpState::waits_result, WarpState::eligible}};
  t.share_of[static_cast<std::size_t>(WarpState::waits_memory)] = 0.25;
  return t;
}

TEST(PtxTimelineView, TextAndKeys) {
  report::Document document{"corridor/test/1", "Run", {}};
  append_timeline(document, two_warps(), "timeline.a");
  append_timeline(document, two_warps(), "timeline.b");
  EXPECT_TRUE(report::duplicate_keys(document).empty());
  const std::string text = report::render_terminal(document);
  EXPECT_THAT(text, HasSubstr("warp 0  I.. \n"));
  EXPECT_THAT(text, HasSubstr("warp 1  IB-e\n"));
  EXPECT_THAT(text, HasSubstr("0 to 8 clocks"));
  EXPECT_THAT(text, HasSubstr("a warp: waits for memory"));
  EXPECT_THAT(report::render_json(document), HasSubstr("\"samples\": \"IB-e\""));
  EXPECT_THAT(report::render_html(document), HasSubstr("<path class=\"s0\""));
}

TEST(PtxTimelineView, NothingRecorded) {
  report::Document document{"corridor/test/1", "Run", {}};
  append_timeline(document, {});
  EXPECT_THAT(report::render_terminal(document), HasSubstr("no time-line"));
}

}  // namespace
}  // namespace corridor::views
