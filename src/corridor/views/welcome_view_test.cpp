// SPDX-License-Identifier: Apache-2.0
// The welcome fits on a terminal, and its JSON keys do not collide.
#include "corridor/views/welcome_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corridor/hardware/catalogue.h"

namespace corridor::views {
namespace {

using testing::HasSubstr;
using testing::Not;

app::WelcomeAnswer answer_on(const char* device, std::vector<std::string> notes) {
  const Result<Assets> assets = Assets::open();
  const auto found = hardware::find_device(*assets, device);
  EXPECT_TRUE(found);
  measure::LocalMachine machine;
  machine.device = found->device;
  machine.facts.cpu_name = "Intel(R) Xeon(R) Platinum 8480+";
  machine.facts.sockets = 2;
  machine.notes = std::move(notes);
  if (!machine.device.memory_capacity) {
    machine.device.memory_capacity = hardware::Fact<units::Bytes>{units::Bytes{64e9}, {}, "test", "2026-01-02", ""};
  }
  auto answer = app::welcome(*assets, machine);
  EXPECT_TRUE(answer) << answer.error().line();
  return answer ? std::move(*answer) : app::WelcomeAnswer{};
}

TEST(WelcomeView, StaysWithinOneSmallScreen) {
  const std::string long_note(400, 'x');
  const std::string words =
      "a note of many words that goes on for longer than two lines of a terminal of eighty "
      "columns because a program wrote it without any thought for the reader at all";
  for (const char* device : {"h100-sxm", "b200", "xeon-8480", "ryzen-9950x", "4090", "m2-8c"}) {
    const report::Document doc = welcome_view(answer_on(device, {words, words, words, words, long_note}));
    const std::string text = report::render_terminal(doc);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
    EXPECT_TRUE(report::duplicate_keys(doc).empty()) << device;
  }
}

TEST(WelcomeView, SaysWhatDoesNotFitAndWhatItNeeds) {
  const app::WelcomeAnswer answer = answer_on("l4", {});
  const std::string text = report::render_terminal(welcome_view(answer));
  EXPECT_THAT(text, HasSubstr("does not fit (needs 14"));  // 70e9 × 2 B and a reserve
  EXPECT_THAT(text, HasSubstr("ridge point"));
  EXPECT_THAT(text, HasSubstr(answer.machine.device.name));
  const std::string json = report::render_json(welcome_view(answer));
  EXPECT_THAT(json, HasSubstr("\"schema\": \"corridor/machine/1\""));
  EXPECT_THAT(json, HasSubstr("\"fits\": false"));
}

TEST(WelcomeView, NamesCannotMoveTheCursor) {
  app::WelcomeAnswer answer = answer_on("l4", {"name \x1b[2J with escape"});
  answer.machine.device.name = "GPU\x1b[31m";
  const std::string text = report::render_terminal(welcome_view(answer));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace corridor::views
