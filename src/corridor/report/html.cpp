// SPDX-License-Identifier: Apache-2.0
// A Document as one self-contained HTML page.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "corridor/report/document.h"
#include "corridor/report/html_style.h"
#include "corridor/report/layout.h"
#include "corridor/report/markup.h"
#include "corridor/report/svg.h"
#include "corridor/report/terminal_table.h"

namespace corridor::report {
namespace {

std::string heading(const std::string& title) {
  return title.empty() ? "" : fmt::format("<h2>{}</h2>\n", escape(title));
}

std::string colour_keys(const std::vector<std::string>& names) {
  std::string out = "<div class=\"keys\">";
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += fmt::format("<span><i class=\"key s{}\"></i>{}</span>", i % colour_count, escape(names[i]));
  }
  return out + "</div>\n";
}

class Page {
 public:
  void add(const FieldGroup& group) {
    end_list();
    std::string rows;
    for (const Field& field : group.fields) {
      if (field.label.empty()) continue;
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"v\">{}</td><td class=\"n\">{}</td></tr>\n",
                          escape(field.label), escape(print(field.value)), escape(field.note));
    }
    if (rows.empty()) return;
    out_ += "<section>\n" + heading(group.title) + "<table class=\"fields\">\n" + rows + "</table>\n</section>\n";
  }

  void add(const Table& table) {
    end_list();
    const auto shown = [](const Column& column) { return !column.label.empty(); };
    if (std::none_of(table.columns.begin(), table.columns.end(), shown)) return;
    out_ += "<section>\n" + heading(table.title);
    if (table.rows.empty()) {
      out_ += "<p>(none)</p>\n</section>\n";
      return;
    }
    out_ += "<div class=\"scroll\"><table class=\"data\">\n<thead><tr>";
    for (const Column& column : table.columns) {
      if (!shown(column)) continue;
      out_ += fmt::format("<th scope=\"col\"{}>{}</th>", column.align_left ? " class=\"t\"" : "", escape(column.label));
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) add_row(table, row);
    out_ += "</tbody></table></div>\n</section>\n";
  }

  void add(const Paragraph& paragraph) {
    if (paragraph.text.empty()) return;
    if (paragraph.style == Paragraph::Style::detail) {
      if (list_key_ != paragraph.key || !in_list_) {
        end_list();
        out_ += "<section>\n" + heading(heading_of(paragraph.key)) + "<ul>\n";
        in_list_ = true;
        list_key_ = paragraph.key;
      }
      out_ += fmt::format("<li>{}</li>\n", escape(paragraph.text));
      return;
    }
    end_list();
    if (paragraph.style == Paragraph::Style::verdict) {
      out_ += fmt::format("<p class=\"verdict\">{}</p>\n", escape(paragraph.text));
    } else if (paragraph.style == Paragraph::Style::warning) {
      out_ += fmt::format("<p class=\"warning\"><b>Warning:</b> {}</p>\n", escape(paragraph.text));
    } else {
      out_ += fmt::format("<p>{}</p>\n", escape(paragraph.text));
    }
  }

  void add(const RooflinePlot& plot) {
    end_list();
    std::vector<std::string> series;
    for (const auto& point : plot.points) {
      if (!usable(point.intensity, true) || !usable(point.flop_per_s, true)) continue;
      if (std::find(series.begin(), series.end(), point.series) == series.end()) series.push_back(point.series);
    }
    figure(plot.title, svg_roofline(plot), series.empty() ? "" : colour_keys(series));
  }

  void add(const LinePlot& plot) {
    end_list();
    std::vector<std::string> series;
    for (const auto& line : plot.series) series.push_back(line.name);
    figure(plot.title, svg_lines(plot), series.size() > 1 ? colour_keys(series) : "");
  }

  void add(const ScatterPlot& plot) {
    end_list();
    std::vector<std::string> series;
    for (const auto& cloud : plot.series) series.push_back(cloud.name);
    figure(plot.title, svg_scatter(plot), series.size() > 1 ? colour_keys(series) : "");
  }

  void add(const StateRows& rows) {
    end_list();
    std::vector<std::string> labels;
    for (const auto& state : rows.states) {
      if (state.letter != ' ') labels.push_back(state.label);
    }
    figure(rows.title, svg_states(rows), colour_keys(labels));
  }

  void add(const StackedBar& bar) {
    end_list();
    if (bar.parts.empty()) return;
    out_ += "<section>\n" + heading(bar.title) + "<figure>\n" + svg_bar(bar) + legend(bar) + "</figure>\n</section>\n";
  }

  [[nodiscard]] std::string finish() {
    end_list();
    return out_;
  }

 private:
  void add_row(const Table& table, const std::vector<Value>& row) {
    out_ += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      if (column.label.empty()) continue;
      const Value value = i < row.size() ? row[i] : Value{};
      out_ += fmt::format("<td class=\"{}\">{}</td>", column.align_left ? "t" : "num",
                          escape(print_cell(value, column.unit)));
    }
    out_ += "</tr>\n";
  }

  void figure(const std::string& title, const std::string& svg, const std::string& keys) {
    if (svg.empty()) return;
    out_ += "<section>\n" + heading(title) + "<figure>\n<div class=\"scroll\">" + svg + "</div>\n" + keys +
            "</figure>\n</section>\n";
  }

  [[nodiscard]] static std::string legend(const StackedBar& bar) {
    double sum = 0;
    for (const auto& part : bar.parts) sum += std::isfinite(part.value) ? std::max(part.value, 0.0) : 0;
    const bool has_total = bar.total && std::isfinite(*bar.total) && *bar.total > 0;
    const double whole = has_total ? *bar.total : sum;
    const auto row = [&](std::string_view colour, const std::string& label, double value) {
      const std::string share = whole > 0 ? print({value / whole, Unit::percent}) : "";
      return fmt::format(
          "<tr><td><i class=\"key {}\"></i>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n", colour,
          escape(label), escape(print({value, bar.unit})), escape(share));
    };
    std::string out = "<div class=\"scroll\"><table class=\"legend\">\n";
    for (std::size_t i = 0; i < bar.parts.size(); ++i) {
      out += row(fmt::format("s{}", i % colour_count), bar.parts[i].label, bar.parts[i].value);
    }
    if (has_total) {
      const double rest = *bar.total - sum;
      const std::string of = ", of " + print({*bar.total, bar.unit});
      out += row("rest", (rest >= 0 ? "not used" : "beyond the total") + of, std::fabs(rest));
    }
    return out + "</table></div>\n";
  }

  void end_list() {
    if (in_list_) out_ += "</ul>\n</section>\n";
    in_list_ = false;
  }

  std::string out_;
  std::string list_key_;
  bool in_list_ = false;
};

}  // namespace

std::string render_html(const Document& document) {
  Page page;
  for (const Block& block : document.blocks) {
    std::visit([&](const auto& content) { page.add(content); }, block);
  }
  const std::string title = escape(document.title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         title + "</title>\n<style>" + std::string(html_style) + "</style>\n</head>\n<body>\n<main>\n<h1>" + title +
         "</h1>\n" + page.finish() + "<footer>Corridor · " + escape(document.schema) +
         "</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace corridor::report
