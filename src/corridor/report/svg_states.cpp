// SPDX-License-Identifier: Apache-2.0
// Rows of states as SVG: one path a state, so that thousands of short cells stay a small page.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "corridor/report/markup.h"
#include "corridor/report/svg.h"

namespace corridor::report {
namespace {

constexpr double drawing_width = 760;
constexpr double names_width = 72;
constexpr double right_margin = 24;
constexpr double top_margin = 6;
constexpr double axis_height = 44;

/// Cells of one state as rectangles of a path; neighbours in a row are one.
std::string cells_of(const StateRows& block, std::size_t state, double cell, double tall) {
  std::string path;
  for (std::size_t r = 0; r < block.rows.size(); ++r) {
    const auto& samples = block.rows[r].samples;
    for (std::size_t i = 0; i < samples.size();) {
      std::size_t end = i;
      while (end < samples.size() && samples[end] == state) ++end;
      if (end > i) {
        path += fmt::format("M{:.2f} {:.1f}h{:.2f}v{:.1f}h-{:.2f}z", names_width + cell * static_cast<double>(i),
                            top_margin + tall * static_cast<double>(r), cell * static_cast<double>(end - i), tall - 1,
                            cell * static_cast<double>(end - i));
      }
      i = std::max(end, i + 1);
    }
  }
  return path;
}

}  // namespace

std::string svg_states(const StateRows& block) {
  std::size_t samples = 0;
  for (const auto& row : block.rows) samples = std::max(samples, row.samples.size());
  if (samples == 0) return "";
  const double row_height = block.rows.size() > 32 ? 8 : 14;
  const double bottom = top_margin + row_height * static_cast<double>(block.rows.size());
  const double plot_width = drawing_width - names_width - right_margin;
  const double cell = plot_width / static_cast<double>(samples);
  std::string out = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                                drawing_width, bottom + axis_height, escape(block.title));
  std::size_t colour = 0;
  for (std::size_t state = 0; state < block.states.size(); ++state) {
    if (block.states[state].letter == ' ') continue;
    const std::string path = cells_of(block, state, cell, row_height);
    if (!path.empty()) {
      out += fmt::format("<path class=\"s{}\" d=\"{}\"><title>{}</title></path>\n", colour % colour_count, path,
                         escape(block.states[state].label));
    }
    ++colour;
  }
  // Names that would touch each other are left out.
  const std::size_t every = row_height < 12 ? 4 : 1;
  for (std::size_t r = 0; r < block.rows.size(); r += every) {
    out += svg_text(names_width - 8, top_margin + row_height * static_cast<double>(r) + row_height - 3, "end",
                    block.rows[r].name, "tick");
  }
  const double end = block.x_per_sample * static_cast<double>(samples);
  if (usable(end, true)) {
    const Axis axis{0, end, false, names_width, names_width + plot_width};
    for (const Tick& tick : ticks(axis, 8)) {
      if (tick.value < 0 || tick.value > end) continue;
      out += svg_text(axis.at(tick.value), bottom + 16, "middle", tick.label, "tick");
    }
  }
  return out + svg_text(names_width + plot_width / 2, bottom + 36, "middle", block.x_label, "label") + "</svg>\n";
}

}  // namespace corridor::report
