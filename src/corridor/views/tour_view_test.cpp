// SPDX-License-Identifier: Apache-2.0
// A chapter of the tour fits a screen; an experiment's Document says what failed.
#include "corridor/views/tour_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corridor/views/lab_view.h"

namespace corridor::views {
namespace {

using testing::HasSubstr;

TEST(TourView, EachChapterFitsAScreen) {
  const Assets assets = Assets::open().value();
  const auto answer = app::tour_of(assets, nullptr, {});
  ASSERT_TRUE(answer) << answer.error().line();
  constexpr auto screen = 24;
  for (std::size_t i = 1; i <= answer->chapters.size(); ++i) {
    const std::string text = report::render_terminal(tour_document(*answer, i, false));
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), screen) << text;
    EXPECT_THAT(text, HasSubstr("Chapter " + std::to_string(i)));
  }
  const report::Document whole = tour_document(*answer, std::nullopt, true);
  EXPECT_TRUE(report::duplicate_keys(whole).empty());
  EXPECT_THAT(report::render_terminal(whole), HasSubstr("true only if"));
}

TEST(LabView, TellsWhichReadingsFail) {
  app::LabAnswer answer;
  answer.machine.ladder = {{"main memory", units::Bytes{1e9}, units::Bytes{1e9}, units::BytesPerSecond{1e10}, {}}};
  answer.machine.fp32 = units::FlopsPerSecond{1e11};
  answer.result.name = "fusion";
  answer.result.readings = {measure::reading("one pass", measure::LabUnit::seconds, 0.02, 0.5, 2),
                            measure::reading("ratio", measure::LabUnit::ratio, 3, 0.8, 1.2)};
  answer.result.readings[0].measured = 0.021;
  answer.result.readings[1].measured = 1.5;
  const report::Document document = lab_document(answer);
  EXPECT_TRUE(report::duplicate_keys(document).empty());
  const std::string text = report::render_terminal(document);
  EXPECT_THAT(text, HasSubstr("Does not hold: 1 of 2 readings"));
  EXPECT_THAT(text, HasSubstr("21.0 ms"));
  EXPECT_THAT(report::render_json(document), HasSubstr("\"holds\": false"));
  answer.needs = "Needs a GPU, and none was found";
  EXPECT_THAT(report::render_terminal(lab_document(answer)), HasSubstr("Needs a GPU"));
}

}  // namespace
}  // namespace corridor::views
