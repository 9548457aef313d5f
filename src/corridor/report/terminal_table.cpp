// SPDX-License-Identifier: Apache-2.0
// Lays out tables and label columns in a fixed number of terminal cells.
#include "corridor/report/terminal_table.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "corridor/report/layout.h"

namespace corridor::report {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 6;  ///< a column never shrinks below this

/// One shown column: its heading, its cells as text, and the width it is given.
struct Laid {
  std::string heading;
  std::vector<std::string> cells;
  bool left = false;
  std::size_t floor = 0;    ///< below this, cells or heading words would have to break
  std::size_t natural = 0;  ///< no wrapping at all
  std::size_t width = 0;
};

Laid lay_out(const Table& table, std::size_t column, std::size_t rows) {
  const Column& about = table.columns[column];
  Laid laid;
  laid.heading = clean(about.label);
  laid.left = about.align_left;
  std::size_t cell_width = 0;
  std::size_t word_width = widest_word(laid.heading);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto& values = table.rows[row];
    std::string cell = clean(print_cell(column < values.size() ? values[column] : Value{}, about.unit));
    std::replace(cell.begin(), cell.end(), '\n', ' ');
    cell_width = std::max(cell_width, display_width(cell));
    word_width = std::max(word_width, widest_word(cell));
    laid.cells.push_back(std::move(cell));
  }
  // Numbers must not break between value and unit, so their floor is the whole cell.
  laid.floor = laid.left ? word_width : std::max(cell_width, word_width);
  laid.natural = std::max(cell_width, display_width(laid.heading));
  laid.width = laid.natural;
  return laid;
}

std::size_t total_width(const std::vector<Laid>& columns) {
  std::size_t total = indent;
  for (const Laid& column : columns) total += column.width;
  return total + gap * (columns.empty() ? 0 : columns.size() - 1);
}

/// Takes cells from the widest column above its floor, first softly (to word borders), then hard.
void shrink(std::vector<Laid>& columns, std::size_t available) {
  for (const bool hard : {false, true}) {
    while (total_width(columns) > available) {
      Laid* widest = nullptr;
      for (Laid& column : columns) {
        const std::size_t least = hard ? narrowest : std::max(column.floor, narrowest);
        if (column.width > least && (widest == nullptr || column.width > widest->width)) widest = &column;
      }
      if (widest == nullptr) break;
      --widest->width;
    }
  }
}

void append_row(const std::vector<std::vector<std::string>>& cells, const std::vector<Laid>& columns, bool bottom,
                std::vector<std::string>& out) {
  std::size_t height = 1;
  for (const auto& cell : cells) height = std::max(height, cell.size());
  for (std::size_t line = 0; line < height; ++line) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t skipped = bottom ? height - cells[i].size() : 0;
      const bool inside = line >= skipped && line - skipped < cells[i].size();
      const std::string part = inside ? cells[i][line - skipped] : std::string();
      if (i > 0) text += std::string(gap, ' ');
      text += columns[i].left ? pad_right(part, columns[i].width) : pad_left(part, columns[i].width);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out.push_back(std::move(text));
  }
}

void append_note(const std::string& note, std::size_t columns, std::vector<std::string>& out) {
  for (const std::string& line : wrap(note, columns - indent)) out.push_back(std::string(indent, ' ') + line);
}

/// The value of a field and its note, side by side where the note keeps some room, else one under the other.
std::vector<std::string> value_lines(const Field& field, std::size_t value_width, std::size_t available) {
  constexpr std::size_t least_note = 20;
  const std::string value = clean(print(field.value));
  const std::string note = field.note.empty() ? "" : "(" + clean(field.note) + ")";
  if (note.empty()) return wrap(value, available);
  const std::string lead = pad_right(value, value_width) + std::string(gap, ' ');
  const std::size_t note_at = display_width(lead);
  if (note_at + least_note <= available) {
    std::vector<std::string> lines = wrap(note, available - note_at);
    lines.front().insert(0, lead);
    for (std::size_t i = 1; i < lines.size(); ++i) lines[i].insert(0, note_at, ' ');
    return lines;
  }
  std::vector<std::string> lines = wrap(value, available);
  for (std::string& line : wrap(note, available)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::string print_cell(const Value& value, Unit column_unit) {
  Value shown = value;
  if (shown.unit == Unit::none) shown.unit = column_unit;
  if (shown.unit == Unit::tokens) shown.unit = Unit::count;
  return print(shown);
}

std::vector<std::string> table_lines(const Table& table, std::size_t columns) {
  const bool cut = table.terminal_rows > 0 && table.rows.size() > table.terminal_rows;
  const std::size_t rows = cut ? table.terminal_rows : table.rows.size();
  std::vector<std::string> out;
  if (table.rows.empty()) {
    append_note("(none)", columns, out);
    return out;
  }
  std::vector<Laid> laid;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].label.empty()) laid.push_back(lay_out(table, i, rows));
  }
  std::size_t left_out = 0;
  while (laid.size() > 1 && indent + laid.size() * (narrowest + gap) > columns) {
    laid.pop_back();
    ++left_out;
  }
  shrink(laid, columns);
  std::vector<std::vector<std::string>> cells;
  for (const Laid& column : laid) cells.push_back(wrap(column.heading, column.width));
  if (!laid.empty()) append_row(cells, laid, true, out);
  for (std::size_t row = 0; row < rows && !laid.empty(); ++row) {
    for (std::size_t i = 0; i < laid.size(); ++i) cells[i] = wrap(laid[i].cells[row], laid[i].width);
    append_row(cells, laid, false, out);
  }
  if (cut) append_note(fmt::format("… {} more rows (--json has all)", table.rows.size() - rows), columns, out);
  if (left_out > 0) append_note(fmt::format("… {} more columns (--json has all)", left_out), columns, out);
  return out;
}

std::vector<std::string> field_lines(const FieldGroup& group, std::size_t columns) {
  const std::size_t widest_label = columns * 45 / 100;
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  for (const Field& field : group.fields) {
    if (field.label.empty()) continue;
    label_width = std::max(label_width, std::min(display_width(clean(field.label)), widest_label));
    const std::size_t size = display_width(clean(print(field.value)));
    // A long text value does not push every note to the right edge.
    if (!field.note.empty() && size <= columns / 4) value_width = std::max(value_width, size);
  }
  std::vector<std::string> out;
  for (const Field& field : group.fields) {
    if (field.label.empty()) continue;
    const std::vector<std::string> left = wrap(clean(field.label), label_width);
    const std::vector<std::string> right = value_lines(field, value_width, columns - indent - label_width - gap);
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      std::string line = std::string(indent, ' ') + pad_right(i < left.size() ? left[i] : "", label_width);
      if (i < right.size()) line += std::string(gap, ' ') + right[i];
      line.erase(line.find_last_not_of(' ') + 1);
      out.push_back(std::move(line));
    }
  }
  return out;
}

}  // namespace corridor::report
