// SPDX-License-Identifier: Apache-2.0
// The document and the CSV of a sweep: sound keys, every point, every mark.
#include "corridor/views/sweep_view.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/sweep.h"

namespace corridor::views {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

app::SweepAnswer swept(std::vector<std::string> over, const std::string& device = "h100-sxm") {
  static const Assets assets = Assets::open().value();
  app::PredictRequest base;
  base.model = "meta-llama/Llama-3.1-8B";
  base.device = device;
  Result<app::SweepAnswer> answer = app::sweep(assets, {base, std::move(over), {}});
  EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().line());
  return std::move(answer.value());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\r\n", at);
    if (end == std::string::npos) break;
    lines.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return lines;
}

TEST(SweepView, KeysAreSoundForEveryKindOfSweep) {
  for (const std::vector<std::string>& over : {std::vector<std::string>{"batch=1..512"},
                                               {"context=1000..200000"},
                                               {"tp=1..8"},
                                               {"weights=bf16,fp8"},
                                               {"batch=1..64", "weights=bf16,int4"},
                                               {"kv=bf16,fp8", "context=100..10000"},
                                               {"weights=bf16,fp8", "kv=bf16,fp8"},
                                               {"batch=7"},
                                               {"tp=1,3"}}) {
    const report::Document document = sweep_view(swept(over), true);
    EXPECT_THAT(report::duplicate_keys(document), IsEmpty()) << over.front();
    EXPECT_THAT(report::render_json(document), HasSubstr("\"schema\": \"corridor/sweep/1\"")) << over.front();
    EXPECT_FALSE(report::render_terminal(document).empty());
    EXPECT_THAT(report::render_html(document), HasSubstr("</html>"));
  }
}

TEST(SweepView, SaysHowManyOfTheAskedUsersRun) {
  const app::SweepAnswer answer = swept({"concurrency=10,5000"});
  const app::SweepPoint& last = answer.lines.at(0).points.back();
  ASSERT_EQ(last.asked, 5000);
  ASSERT_LT(last.users, last.asked);
  const std::string json = report::render_json(sweep_view(answer));
  EXPECT_THAT(json, HasSubstr(std::to_string(std::lround(last.users)) + " of 5000 run at once"));
  EXPECT_THAT(json, testing::Not(HasSubstr(" of 10 run")));
}

TEST(SweepView, NamesTheKneeAndTheLastBatchThatFits) {
  const app::SweepAnswer answer = swept({"batch=1..512"});
  const std::string text = report::render_terminal(sweep_view(answer));
  EXPECT_THAT(text, HasSubstr("Knee at batch " + std::to_string(static_cast<int>(*answer.lines[0].knee))));
  const auto fit =
      std::find_if(answer.flips.begin(), answer.flips.end(), [](const auto& f) { return f.of == "memory"; });
  ASSERT_NE(fit, answer.flips.end());
  EXPECT_THAT(text, HasSubstr("fits up to batch " + std::to_string(static_cast<int>(fit->before[0]))));
}

TEST(SweepCsv, OneLineAPointAndAsManyCellsAsTheHeader) {
  const app::SweepAnswer answer = swept({"batch=1..64", "weights=bf16,fp8"});
  const std::vector<std::string> lines = lines_of(sweep_csv(answer));
  ASSERT_EQ(lines.size(), answer.point_count() + 1);
  EXPECT_EQ(lines.front().rfind("batch,weights,step_limit_s,", 0), 0U);
  const auto commas = std::count(lines.front().begin(), lines.front().end(), ',');
  for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas) << line;
}

TEST(SweepCsv, QuotesWhatNeedsIt) {
  app::SweepAnswer answer = swept({"weights=bf16"});
  answer.axes[0].names[0] = "a \"b\", c";
  answer.lines[0].points[0].error = "two\nlines";
  const std::string text = sweep_csv(answer);
  EXPECT_THAT(text, HasSubstr("\"a \"\"b\"\", c\","));
  EXPECT_THAT(text, HasSubstr("\"two\nlines\""));
}

TEST(SweepPlots, StayShortAndBreakBetweenMarks) {
  for (const report::LinePlot& plot : sweep_plots(swept({"batch=1..5000:1"}))) {
    for (const auto& series : plot.series) {
      EXPECT_EQ(series.x.size(), series.y.size());
      EXPECT_LE(series.x.size(), 1000U) << series.name;
    }
  }
  EXPECT_THAT(sweep_plots(swept({"weights=bf16,fp8"})), IsEmpty());
}

}  // namespace
}  // namespace corridor::views
