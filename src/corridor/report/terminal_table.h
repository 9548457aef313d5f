// SPDX-License-Identifier: Apache-2.0
// Tables and label columns that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "corridor/report/document.h"

namespace corridor::report {

/// Lines of a table without its title, none wider than `columns`: text columns shrink and wrap, and columns that
/// still find no place are left out with a line that says so.
[[nodiscard]] std::vector<std::string> table_lines(const Table& table, std::size_t columns);

/// Lines "  label   value  (note)" of a group, labels and values aligned.
[[nodiscard]] std::vector<std::string> field_lines(const FieldGroup& group, std::size_t columns);

/// How a value stands in a table cell: as print(), but a token count without its unit, which the heading names.
[[nodiscard]] std::string print_cell(const Value& value, Unit column_unit);

}  // namespace corridor::report
