// SPDX-License-Identifier: Apache-2.0
// The HTML rendering: escaping, balanced markup, no network, sound numbers in every drawing.
#include <cctype>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/report/document.h"
#include "corridor/report/markup.h"
#include "corridor/report/random_document.h"
#include "corridor/report/svg.h"

namespace corridor::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Elements left open or closed out of order; empty for sound markup.
std::vector<std::string> unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find("<body"); (at = html.find('<', at)) != std::string::npos; ++at) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return {"unclosed tag"};
    const std::string tag = html.substr(at + 1, end - at - 1);
    const bool closing = tag[0] == '/';
    std::string name;
    for (std::size_t i = closing ? 1 : 0; i < tag.size() && (std::isalnum(static_cast<unsigned char>(tag[i])) != 0);
         ++i) {
      name += tag[i];
    }
    if (tag.back() == '/' || name == "meta" || name == "html") continue;
    if (!closing) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      open.push_back("/" + name);
      return open;
    } else {
      open.pop_back();
    }
  }
  return open;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

TEST(Html, EscapesEveryText) {
  const std::string evil = "<img src=x onerror=\"alert('1')\">&";
  Document document{"corridor/test/1", evil, {}};
  document.blocks.emplace_back(FieldGroup{evil, {{"k", evil, {evil}, evil}}});
  document.blocks.emplace_back(Table{"t", evil, {{"c", evil}}, {{Value{evil}}}});
  document.blocks.emplace_back(Paragraph{evil, evil, Paragraph::Style::detail});
  document.blocks.emplace_back(StackedBar{"b", evil, Unit::seconds, {{"p", evil, 1}}, {}});
  document.blocks.emplace_back(RooflinePlot{"r", evil, {{evil, 1e12}}, {{evil, 1e15}}, {{evil, evil, 1, 1e12, 0.5}}});
  document.blocks.emplace_back(LinePlot{"l", evil, evil, evil, false, false, {{evil, {1, 2}, {1, 2}}}});
  document.blocks.emplace_back(StateRows{"s", evil, evil, 1, {{'I', evil}}, {{evil, {0, 0}}}});
  const std::string html = render_html(document);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("alert('")));
  EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;"));
  EXPECT_THAT(unbalanced(html), IsEmpty());
}

TEST(Html, StatesAreOnePathEach) {
  const StateRows rows{"s", "Picture", "clocks", 1, {{' ', "no"}, {'I', "issued"}}, {{"a", {1, 1, 0, 1}}, {"b", {7}}}};
  const std::string svg = svg_states(rows);
  EXPECT_EQ(count(svg, "<path"), 1U);
  EXPECT_EQ(count(svg, "z"), 2U);  // two runs: cells 0 and 1, and 3
  EXPECT_EQ(svg_states({}), "");
}

TEST(Html, IsSelfContained) {
  const std::string html = render_html(random_document(3));
  for (const char* outside : {"http:", "https:", "<script", "<link", "url(", "@import", "src="}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  for (const char* wanted : {"<!DOCTYPE html>", "viewport", "prefers-color-scheme", "@media print", "charset"}) {
    EXPECT_THAT(html, HasSubstr(wanted));
  }
}

TEST(Html, RandomDocumentsGiveBalancedMarkupWithoutNonFiniteNumbers) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string html = render_html(random_document(seed));
    EXPECT_THAT(unbalanced(html), IsEmpty()) << "seed " << seed;
    for (const char* bad : {"\"nan", "\"inf", "\"-nan", "\"-inf", " nan", " inf\"", "Lnan", "\x1b"}) {
      EXPECT_THAT(html, Not(HasSubstr(bad))) << "seed " << seed;
    }
  }
}

TEST(SvgRoofline, DrawsRoofsRidgeAndPoints) {
  const RooflinePlot plot{
      "r",
      "Roofline",
      {{"L2", 5.5e12}, {"HBM3", 3.35e12}, {"HBM3 reached", 3e12, true}},
      {{"BF16", 989.4e12, true}, {"FP8", 1979e12}},
      {{"qkv", "decode", 1, 3e12, 0.9}, {"norm", "decode", 0.3, 9e11, 0.1}, {"none", "decode", 0, 1, 0.1}}};
  const std::string svg = svg_roofline(plot);
  EXPECT_EQ(count(svg, "<circle"), 2U);  // a point without intensity has no place in log axes
  EXPECT_EQ(count(svg, "class=\"roof main\""), 2U);
  EXPECT_EQ(count(svg, "class=\"roof reached\""), 1U);
  EXPECT_THAT(svg, HasSubstr("ridge 295 FLOP/B"));
  EXPECT_THAT(svg, HasSubstr("qkv: 1.00 FLOP/B, 3.00 TFLOP/s, 90 % of the time"));
}

TEST(SvgRoofline, PointsOnAMemoryRoofLieOnItsLine) {
  const RooflinePlot plot{
      "r", "R", {{"HBM", 1e12}}, {{"BF16", 1e15, true}}, {{"a", "s", 10, 1e13, 0}, {"b", "s", 100, 1e14, 0}}};
  const std::string svg = svg_roofline(plot);
  const auto read = [&](const std::string& name, std::size_t from) {
    return std::stod(svg.substr(svg.find(name + "=\"", from) + name.size() + 2));
  };
  const std::size_t roof = svg.find("class=\"roof main\"");
  const double slope = (read("y2", roof) - read("y1", roof)) / (read("x2", roof) - read("x1", roof));
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) {
    EXPECT_NEAR(read("cy", at), read("y1", roof) + slope * (read("cx", at) - read("x1", roof)), 0.3);
  }
}

TEST(SvgRoofline, EmptyWithoutAnythingToDraw) {
  EXPECT_EQ(svg_roofline({}), "");
  EXPECT_EQ(svg_lines({}), "");
  EXPECT_EQ(svg_bar({}), "");
}

TEST(SvgBar, PartsFillTheWidth) {
  const std::string svg = svg_bar({"b", "Time", Unit::seconds, {{"a", "a", 3}, {"b", "b", 1}}, {}});
  EXPECT_THAT(svg, HasSubstr("x=\"750.00\""));
  EXPECT_THAT(svg, HasSubstr("a: 3.00 s"));
}

TEST(Ticks, AreRoundOrderedAndInside) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{0, 1}, {-3, 17}, {0, 1e12}, {0.001, 0.0011}}) {
    const Axis axis{low, high, false, 0, 100};
    const auto all = ticks(axis, 6);
    EXPECT_GE(all.size(), 3U);
    EXPECT_LE(all.size(), 14U);
    for (const Tick& tick : all) {
      EXPECT_GE(tick.value, low - 1e-9 * high);
      EXPECT_LE(tick.value, high * (1 + 1e-9));
    }
  }
  EXPECT_EQ(decade_label(12), "1 T");
  EXPECT_EQ(decade_label(2), "100");
  EXPECT_EQ(decade_label(-2), "0.01");
}

}  // namespace
}  // namespace corridor::report
