// SPDX-License-Identifier: Apache-2.0
// Squeezes samples into the cells of a terminal.
#include "corridor/report/terminal_states.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "corridor/report/layout.h"

namespace corridor::report {
namespace {

constexpr std::size_t left_margin = 2;
constexpr std::size_t most_rows = 24;
constexpr std::size_t widest_name = 16;
constexpr std::size_t least_cells = 10;

/// One that is always shown, else the state of most samples in [first, last); of equal ones the first.
std::size_t shown_state(const StateRows& block, const StateRows::Row& row, std::size_t first, std::size_t last) {
  std::array<std::size_t, 256> seen{};
  for (std::size_t i = first; i < last && i < row.samples.size(); ++i) ++seen[row.samples[i]];
  for (std::size_t state = 0; state < std::min(block.states.size(), seen.size()); ++state) {
    if (block.states[state].always && seen[state] > 0) return state;
  }
  return static_cast<std::size_t>(std::max_element(seen.begin(), seen.end()) - seen.begin());
}

std::string letters(const StateRows& block, const StateRows::Row& row, std::size_t samples, std::size_t cells) {
  std::string out;
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t first = c * samples / cells;
    if (first >= row.samples.size()) break;
    const std::size_t state = shown_state(block, row, first, std::max(first + 1, (c + 1) * samples / cells));
    out += state < block.states.size() ? block.states[state].letter : ' ';
  }
  return out;
}

}  // namespace

std::vector<std::string> state_lines(const StateRows& block, std::size_t columns) {
  std::size_t samples = 0, name_width = 0;
  for (const auto& row : block.rows) {
    samples = std::max(samples, row.samples.size());
    name_width = std::max(name_width, display_width(clean(row.name)));
  }
  std::vector<std::string> out;
  if (samples == 0) return out;
  name_width = std::min(name_width, widest_name);
  const std::size_t used = left_margin + name_width + 2;
  const std::size_t cells = std::min(samples, std::max(least_cells, columns > used ? columns - used : 0));
  const std::string margin(left_margin, ' ');
  const std::size_t every = (block.rows.size() + most_rows - 1) / most_rows;
  for (std::size_t r = 0; r < block.rows.size(); r += every) {
    const std::string name = clean(block.rows[r].name);
    const std::string shown = display_width(name) > name_width ? std::string(1, '#') : name;
    out.push_back(margin + pad_right(shown, name_width) + "  " + letters(block, block.rows[r], samples, cells));
  }
  const double end = block.x_per_sample * static_cast<double>(samples);
  std::string text = fmt::format("0 to {:.6g} {}", end, clean(block.x_label));
  if (every > 1) text += fmt::format("; one of {} rows is shown", every);
  for (const std::string& line : wrap(text, columns - std::min(columns - 1, used))) {
    out.push_back(std::string(used, ' ') + line);
  }
  std::string legend;
  for (const auto& state : block.states) {
    if (state.letter != ' ')
      legend += fmt::format("{}{} {}", legend.empty() ? "" : ", ", state.letter, clean(state.label));
  }
  for (const std::string& line : wrap(legend, columns - left_margin)) out.push_back(margin + line);
  return out;
}

}  // namespace corridor::report
