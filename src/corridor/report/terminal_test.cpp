// SPDX-License-Identifier: Apache-2.0
// The terminal rendering: exact small pictures, and widths that hold for any text.
#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/report/document.h"
#include "corridor/report/layout.h"
#include "corridor/report/random_document.h"

namespace corridor::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_width(const std::string& text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    EXPECT_LE(display_width(line), columns) << line;
    at = end + 1;
  }
}

Document with(Block block) {
  return Document{"corridor/test/1", "Title", {std::move(block)}};
}

StateRows two_warps() {
  StateRows rows{"t", "Picture", "clocks", 10, {{' ', "absent"}, {'I', "issued"}, {'.', "waits"}}, {}};
  rows.rows.push_back({"warp 0", {1, 2, 2, 1}});
  rows.rows.push_back({"warp 1", {0, 1, 2, 200}});
  return rows;
}

TEST(Terminal, StatesAreLetters) {
  EXPECT_EQ(render_terminal(with(two_warps())),
            "Title\n\nPicture\n"
            "  warp 0  I..I\n"
            "  warp 1   I. \n"
            "          0 to 40 clocks\n"
            "  I issued, . waits\n");
  StateRows wide = two_warps();
  wide.rows.resize(1);
  wide.rows[0].samples.assign(1000, 2);
  for (std::size_t i = 0; i < 500; ++i) wide.rows[0].samples[i] = 1;
  const std::string half(35, 'I');
  EXPECT_THAT(render_terminal(with(wide)), HasSubstr("  warp 0  " + half + std::string(35, '.') + "\n"));
  wide.rows.resize(50, wide.rows[0]);
  EXPECT_THAT(render_terminal(with(wide)), HasSubstr("one of 3 rows is shown"));
}

TEST(Terminal, FieldsAlignLabelsAndValues) {
  const Document document = with(FieldGroup{"Scenario",
                                            {{"batch", "batch", {std::int64_t{1}, Unit::count}, "default"},
                                             {"hidden", "", {1.0, Unit::none}, ""},
                                             {"ridge", "ridge point", {295.34, Unit::flop_per_byte}, ""},
                                             {"kv", "KV bytes", {std::monostate{}, Unit::bytes}, ""}}});
  EXPECT_EQ(render_terminal(document),
            "Title\n\nScenario\n"
            "  batch        1  (default)\n"
            "  ridge point  295 FLOP/B\n"
            "  KV bytes     –\n");
}

TEST(Terminal, TableAlignsNumbersRightAndCutsRows) {
  Table table{"t", "Operations", {{"name", "operation", Unit::none, true}, {"t_s", "time", Unit::seconds}}, {}, 2};
  for (const double time : {0.0418, 1e-6, 3.0, 4.0}) table.rows.push_back({Value{std::string("qkv")}, Value{time}});
  EXPECT_EQ(render_terminal(with(table)),
            "Title\n\nOperations\n"
            "  operation     time\n"
            "  qkv        41.8 ms\n"
            "  qkv        1.00 µs\n"
            "  … 2 more rows (--json has all)\n");
}

TEST(Terminal, EmptyTableSaysSo) {
  EXPECT_EQ(render_terminal(with(Table{"t", "Operations", {{"a", "a"}}, {}})), "Title\n\nOperations\n  (none)\n");
}

TEST(Terminal, ParagraphStyles) {
  Document document{"s", "Title", {}};
  document.blocks.emplace_back(Paragraph{"verdict", "memory wall.", Paragraph::Style::verdict});
  document.blocks.emplace_back(Paragraph{"warnings", "no KV cache.", Paragraph::Style::warning});
  document.blocks.emplace_back(Paragraph{"data_sources", "a datasheet.", Paragraph::Style::detail});
  EXPECT_EQ(render_terminal(document),
            "Title\nVerdict: memory wall.\nwarning: no KV cache.\n\nData sources\n  a datasheet.\n");
  const std::string coloured = render_terminal(document, {true, 80});
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;36mVerdict: memory wall.\x1b[0m"));
}

TEST(Terminal, ControlCharactersNeverReachTheTerminal) {
  Document document{"s", "evil \x1b[31m\x07 name\r", {}};
  document.blocks.emplace_back(Paragraph{"k", "a\tb\x9b 31m \xc2\x9b", Paragraph::Style::plain});
  const std::string text = render_terminal(document);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
  EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));
}

TEST(Terminal, StackedBarFillsItsWidthAndPercentsAddUp) {
  const StackedBar bar{"b", "Time", Unit::seconds, {{"w", "weights", 0.03}, {"k", "KV cache", 0.01}}, {}};
  const std::string text = render_terminal(with(bar));
  std::size_t full = 0;
  for (std::size_t at = 0; (at = text.find("█", at)) != std::string::npos; ++at) ++full;
  EXPECT_EQ(full, 45U + 1U);  // three quarters of 60 cells, and one in the legend
  EXPECT_THAT(text, HasSubstr("30.0 ms     75 %"));
  EXPECT_THAT(text, HasSubstr("10.0 ms     25 %"));
}

TEST(Terminal, StackedBarTellsRestAndExcess) {
  StackedBar bar{"b", "Memory", Unit::bytes, {{"w", "weights", 141e9}}, 80e9};
  EXPECT_THAT(render_terminal(with(bar)), HasSubstr("beyond the total"));
  bar.total = 200e9;
  EXPECT_THAT(render_terminal(with(bar)), HasSubstr("not used"));
  bar.parts[0].value = std::nan("");
  EXPECT_THAT(render_terminal(with(bar)), HasSubstr("–"));
}

TEST(Terminal, RooflinePrintsNothing) {
  EXPECT_EQ(render_terminal(with(RooflinePlot{"r", "Roofline", {{"HBM", 1e12}}, {{"BF16", 1e15}}, {}})), "Title\n");
}

LinePlot rising_line() {
  LinePlot plot{"l", "Sweep", "batch", "tok/s", false, false, {{"limit", {}, {}}}};
  for (int i = 0; i <= 400; ++i) {
    plot.series[0].x.push_back(i);
    plot.series[0].y.push_back(10.0 * i);
  }
  return plot;
}

TEST(Terminal, LinePlotIsAChartWithAxes) {
  const std::string text = render_terminal(with(rising_line()));
  EXPECT_THAT(text, HasSubstr("Sweep, tok/s"));
  EXPECT_THAT(text, HasSubstr("4000 ┤"));
  EXPECT_THAT(text, HasSubstr("   0 ┤●"));
  EXPECT_THAT(text, HasSubstr("batch"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 19);
  expect_width(text, 80);
  // A straight line leaves no column empty and rises from left to right.
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = text.find("●", at)) != std::string::npos; ++at) ++marks;
  EXPECT_GE(marks, 60U);
  EXPECT_LT(text.find("4000 ┤"), text.find("   0 ┤●"));
}

TEST(Terminal, LinePlotNamesItsSeriesAndBreaksAtGaps) {
  LinePlot plot{"l", "", "x", "", true, true, {{"expected", {1, 1000}, {1, 1000}}, {"limit", {1, 1000}, {5, 5000}}}};
  const std::string joined = render_terminal(with(plot));
  EXPECT_THAT(joined, HasSubstr("● expected   ○ limit"));
  plot.series[0] = {"expected", {1, 30, 1000}, {1, std::nan(""), 1000}};
  const std::string broken = render_terminal(with(plot));
  const auto marks = [](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("●", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(marks(broken), 3U);  // two ends and the legend
  EXPECT_GT(marks(joined), 50U);
}

TEST(Terminal, LinePlotOfNothingSaysSo) {
  const LinePlot plot{"l", "Sweep", "x", "", false, false, {{"s", {1}, {std::nan("")}}}};
  EXPECT_THAT(render_terminal(with(plot)), HasSubstr("no point can be drawn"));
}

TEST(Terminal, WidthHoldsForAdversarialText) {
  const std::string word(500, 'x');
  std::string cjk;
  for (int i = 0; i < 200; ++i) cjk += "带";
  std::string many_spaces(300, ' ');
  for (const std::string& text : {word, cjk, many_spaces + "end", std::string("a\n\n\nb"), word + " " + cjk}) {
    Document document{"s", text, {}};
    document.blocks.emplace_back(Paragraph{"p", text, Paragraph::Style::warning});
    document.blocks.emplace_back(Paragraph{"d", text, Paragraph::Style::detail});
    document.blocks.emplace_back(FieldGroup{text, {{"k", text, {text}, text}, {"k2", "l", {1.0}, text}}});
    Table table{"t", text, {}, {}};
    for (int i = 0; i < 30; ++i) table.columns.push_back({"c", text, Unit::none, i % 2 == 0});
    table.rows.push_back(std::vector<Value>(30, Value{text}));
    table.rows.push_back(std::vector<Value>(3, Value{1.0}));
    document.blocks.emplace_back(table);
    document.blocks.emplace_back(
        LinePlot{"l", text, text, text, true, true, {{text, {1, 1e300}, {1e-300, 1e300}}, {"s", {1}, {-1}}}});
    document.blocks.emplace_back(StackedBar{"b", text, Unit::seconds, {{"p", text, 1.0}}, 2.0});
    for (const int columns : {80, 40, 24}) {
      expect_width(render_terminal(document, {false, columns}), static_cast<std::size_t>(columns));
    }
  }
}

TEST(Terminal, WidthHoldsForRandomDocuments) {
  for (unsigned seed = 0; seed < 300; ++seed) expect_width(render_terminal(random_document(seed)), 80);
}

TEST(Wrap, KeepsIndentationAndBreaksAtSpaces) {
  EXPECT_EQ(wrap("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
  EXPECT_EQ(wrap("  aa bb", 4), (std::vector<std::string>{"  aa", "bb"}));
  EXPECT_EQ(wrap("abcdefg", 3), (std::vector<std::string>{"abc", "def", "g"}));
  EXPECT_EQ(wrap("", 3), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("a\nb", 3), (std::vector<std::string>{"a", "b"}));
}

TEST(DisplayWidth, CountsCodePointsAndWideCharacters) {
  EXPECT_EQ(display_width("µs –"), 4U);
  EXPECT_EQ(display_width("带宽"), 4U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
}

TEST(PrintValue, EveryKind) {
  EXPECT_EQ(print({std::monostate{}}), "–");
  EXPECT_EQ(print({true}), "yes");
  EXPECT_EQ(print({std::int64_t{1024}}), "1,024");
  EXPECT_EQ(print({std::int64_t{-1234567}, Unit::count}), "-1,234,567");
  EXPECT_EQ(print({70.6e9, Unit::count}), "70.6B");
  EXPECT_EQ(print({0.0418, Unit::seconds}), "41.8 ms");
  EXPECT_EQ(print({85.52e9, Unit::gib}), "79.6 GiB");
  EXPECT_EQ(print({0.482, Unit::percent}), "48 %");
  EXPECT_EQ(print({0.0421, Unit::percent}), "4.2 %");
  EXPECT_EQ(print({1e-9, Unit::percent}), "< 0.1 %");
  EXPECT_EQ(print({23.92, Unit::tokens_per_second}), "23.9 tok/s");
  EXPECT_EQ(print({1480.0, Unit::tokens}), "1,480 tokens");
  EXPECT_EQ(print({700.0, Unit::watts}), "700 W");
  EXPECT_EQ(print({std::numeric_limits<double>::infinity(), Unit::bytes}), "–");
}

}  // namespace
}  // namespace corridor::report
