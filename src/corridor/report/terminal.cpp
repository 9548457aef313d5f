// SPDX-License-Identifier: Apache-2.0
// A Document as text for a terminal.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "corridor/report/document.h"
#include "corridor/report/layout.h"
#include "corridor/report/terminal_chart.h"
#include "corridor/report/terminal_states.h"
#include "corridor/report/terminal_table.h"

namespace corridor::report {
namespace {

enum class Ink { plain, bold, dim, verdict, warning };

/// Narrower than this nothing can be laid out; a smaller request is taken as this.
constexpr int fewest_columns = 24;
constexpr std::size_t bar_cells = 60;
constexpr std::array<std::string_view, 9> glyphs{"█", "▓", "▒", "░", "▚", "≡", "×", "·", "?"};

double drawable(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

/// Cuts `cells` in proportion to `values` so that the parts add up to the whole (borders are rounded, not parts).
std::vector<std::size_t> shares_of(const std::vector<double>& values, double whole, std::size_t cells) {
  std::vector<std::size_t> out(values.size(), 0);
  if (!(whole > 0)) return out;
  std::size_t at = 0;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i] / whole;
    const double end = std::min(1.0, sum) * static_cast<double>(cells);
    const auto cell = std::max(at, static_cast<std::size_t>(std::lround(end)));
    out[i] = cell - at;
    at = cell;
  }
  return out;
}

class Terminal {
 public:
  explicit Terminal(const TerminalStyle& style)
      : colour_(style.colour), columns_(static_cast<std::size_t>(std::max(style.columns, fewest_columns))) {}

  void title(const std::string& text) {
    if (text.empty()) return;
    write(text, Ink::bold);
    last_was_paragraph_ = true;  // the verdict stands directly under the title
  }
  void add(const FieldGroup& group) {
    const auto lines = field_lines(group, columns_);
    if (lines.empty()) return;
    heading(group.title);
    for (const std::string& text : lines) line(text);
  }
  void add(const Table& table) {
    const auto shown = [](const Column& column) { return !column.label.empty(); };
    if (std::none_of(table.columns.begin(), table.columns.end(), shown)) return;
    heading(table.title);
    for (const std::string& text : table_lines(table, columns_)) line(text);
  }
  void add(const Paragraph& paragraph) {
    if (paragraph.text.empty()) return;
    // Warnings, details and plain sentences that follow one another stand as one block.
    const bool detail = paragraph.style == Paragraph::Style::detail;
    const bool new_list = detail && (!last_was_paragraph_ || detail_key_ != paragraph.key);
    if ((!last_was_paragraph_ || new_list) && !out_.empty()) line("");
    if (new_list) write(heading_of(paragraph.key), Ink::bold);
    detail_key_ = detail ? paragraph.key : std::string();
    std::string text = paragraph.text;
    Ink ink = Ink::plain;
    std::size_t hanging = 0;
    if (paragraph.style == Paragraph::Style::verdict) {
      if (text.rfind("Verdict", 0) != 0) text = "Verdict: " + text;
      ink = Ink::verdict;
    } else if (paragraph.style == Paragraph::Style::warning) {
      if (text.rfind("warning:", 0) != 0) text = "warning: " + text;
      ink = Ink::warning;
      hanging = 2;
    } else if (paragraph.style == Paragraph::Style::detail) {
      ink = Ink::dim;
      hanging = 4;
    }
    write(text, ink, detail ? 2 : 0, hanging);
    last_was_paragraph_ = true;
  }
  void add(const RooflinePlot& /*plot*/) {}
  void add(const ScatterPlot& /*plot*/) {}
  void add(const StateRows& rows) {
    const auto lines = state_lines(rows, columns_);
    if (lines.empty()) return;
    heading(rows.title);
    for (const std::string& text : lines) line(text);
  }
  void add(const StackedBar& bar);
  void add(const LinePlot& plot) {
    if (plot.series.empty()) return;
    heading(plot.y_label.empty() ? plot.title : plot.title + (plot.title.empty() ? "" : ", ") + plot.y_label);
    const auto lines = chart_lines(plot, columns_);
    for (const std::string& text : lines) line(text);
    if (lines.empty()) line("  (no point can be drawn)");
  }

  [[nodiscard]] std::string text() const { return out_; }

 private:
  void line(std::string_view text) {
    out_ += text;
    out_ += '\n';
    last_was_paragraph_ = false;
  }
  void heading(const std::string& text) {
    if (!out_.empty()) line("");
    if (!text.empty()) write(text, Ink::bold);
  }
  void write(const std::string& text, Ink ink, std::size_t indent = 0, std::size_t hanging = 0) {
    const auto lines = wrap(clean(text), columns_ - std::max(indent, hanging));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      line(std::string(i == 0 ? indent : hanging, ' ') + inked(lines[i], ink));
    }
  }
  [[nodiscard]] std::string inked(const std::string& text, Ink ink) const {
    if (!colour_ || ink == Ink::plain || text.empty()) return text;
    const std::string_view code = ink == Ink::dim       ? "2"
                                  : ink == Ink::verdict ? "1;36"
                                  : ink == Ink::warning ? "33"
                                                        : "1";
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }
  void legend(const StackedBar& bar, double whole, double sum);

  bool colour_;
  std::size_t columns_;
  std::string out_;
  bool last_was_paragraph_ = false;
  std::string detail_key_;  ///< the list of details being written
};

void Terminal::add(const StackedBar& bar) {
  if (bar.parts.empty()) return;
  heading(bar.title);
  std::vector<double> values;
  double sum = 0;
  for (const auto& part : bar.parts) {
    values.push_back(drawable(part.value));
    sum += values.back();
  }
  const double total = bar.total ? drawable(*bar.total) : 0;
  const std::size_t cells = std::min(bar_cells, columns_ - 6);
  const auto widths = shares_of(values, std::max(sum, total), cells);
  std::string drawn = "  ";
  std::size_t used = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (std::size_t k = 0; k < widths[i]; ++k) drawn += glyphs[i % glyphs.size()];
    used += widths[i];
  }
  if (total > sum) drawn += std::string(cells - std::min(cells, used), ' ') + "|";
  line(drawn);
  legend(bar, total > 0 ? total : sum, sum);
}

void Terminal::legend(const StackedBar& bar, double whole, double sum) {
  FieldGroup group;
  std::size_t value_width = 0;
  for (const auto& part : bar.parts) value_width = std::max(value_width, display_width(print({part.value, bar.unit})));
  for (std::size_t i = 0; i < bar.parts.size(); ++i) {
    const auto& part = bar.parts[i];
    const std::string value = pad_left(print({part.value, bar.unit}), value_width);
    const std::string share = whole > 0 ? print({drawable(part.value) / whole, Unit::percent}) : "";
    const std::string label = std::string(glyphs[i % glyphs.size()]) + " " + part.label;
    group.fields.push_back({part.key, label, Value{value + "  " + pad_left(share, 7), Unit::none}, ""});
  }
  if (bar.total) {
    const double rest = *bar.total - sum;
    const std::string label = rest >= 0 ? "  not used" : "  beyond the total";
    const std::string value = pad_left(print({std::fabs(rest), bar.unit}), value_width);
    const std::string share = whole > 0 ? print({std::fabs(rest) / whole, Unit::percent}) : "";
    group.fields.push_back(
        {"total", label, Value{value + "  " + pad_left(share, 7), Unit::none}, "of " + print({*bar.total, bar.unit})});
  }
  for (const std::string& text : field_lines(group, columns_)) line(text);
}

}  // namespace

std::string render_terminal(const Document& document, const TerminalStyle& style) {
  Terminal terminal(style);
  terminal.title(document.title);
  for (const Block& block : document.blocks) {
    std::visit([&](const auto& content) { terminal.add(content); }, block);
  }
  return terminal.text();
}

}  // namespace corridor::report
