// SPDX-License-Identifier: Apache-2.0
// The document of `corridor levers`: keys, order, and the sentence that comes first.
#include "corridor/views/levers_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace corridor::views {
namespace {

using testing::HasSubstr;

app::LeversAnswer answer_with(std::vector<lever::LeverResult> levers) {
  app::LeversAnswer answer;
  answer.base.model.name = "a model";
  answer.base.prediction.memory.fits = true;
  answer.levers = std::move(levers);
  return answer;
}

lever::LeverResult lever_of(const std::string& id, double gain) {
  lever::LeverResult r;
  r.id = id;
  r.name = id + " name";
  r.change = "--" + id;
  r.note = "because";
  r.applies = gain > 0;
  if (r.applies) r.gain = {gain * 0.9, gain, gain * 1.1};
  r.max_gain = 4;
  return r;
}

TEST(LeversView, PutsTheGainsIntoNestedKeys) {
  const report::Document doc = levers_view(answer_with({lever_of("first", 2), lever_of("last", 0)}), true);
  EXPECT_TRUE(report::duplicate_keys(doc).empty());
  const nlohmann::json json = nlohmann::json::parse(report::render_json(doc));
  EXPECT_EQ(json["schema"], "corridor/levers/1");
  ASSERT_EQ(json["levers"].size(), 2U);
  EXPECT_DOUBLE_EQ(json["levers"][0]["gain"]["mid"], 2);
  EXPECT_DOUBLE_EQ(json["levers"][0]["max_gain"], 4);
  EXPECT_EQ(json["levers"][1]["applies"], false);
  EXPECT_TRUE(json["levers"][1]["wall_after"].is_null());
  EXPECT_EQ(json["levers"][1]["note"], "because");
}

TEST(LeversView, KeepsEngineFlagsApartFromItsOwn) {
  lever::LeverResult engine_only = lever_of("chunks", 2);
  engine_only.change.clear();
  engine_only.engine_change = "--engine-flag 1";
  const report::Document doc = levers_view(answer_with({engine_only}), false);
  const nlohmann::json json = nlohmann::json::parse(report::render_json(doc));
  EXPECT_EQ(json["levers"][0]["change"], "");
  EXPECT_EQ(json["levers"][0]["engine_change"], "--engine-flag 1");
  EXPECT_THAT(report::render_terminal(doc), HasSubstr("(--engine-flag 1)"));
}

TEST(LeversView, SaysWhenNothingHelps) {
  const std::string text = report::render_terminal(levers_view(answer_with({lever_of("small", 1.001)}), false));
  EXPECT_THAT(text, HasSubstr("No single change"));
  const std::string none = report::render_terminal(levers_view(answer_with({}), false));
  EXPECT_THAT(none, HasSubstr("No single change"));
}

TEST(LeversView, WarnsBeforeTheGainsOfACaseThatDoesNotFit) {
  app::LeversAnswer answer = answer_with({lever_of("first", 2)});
  answer.base.prediction.memory.fits = false;
  const std::string text = report::render_terminal(levers_view(answer, false));
  EXPECT_LT(text.find("Does not fit"), text.find("Largest gain"));
}

}  // namespace
}  // namespace corridor::views
