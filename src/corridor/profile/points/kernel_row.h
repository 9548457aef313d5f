// SPDX-License-Identifier: Apache-2.0
// What every table of kernel times has: device, engine, kernel and latency, in columns or in the file's name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "corridor/profile/points/layout.h"

namespace corridor::profile {

/// Columns shared by the tables of single kernels, and the point they begin.
class KernelColumns {
 public:
  /// Marks the columns it knows as used. `file` fills what has no column.
  KernelColumns(Columns& columns, const TableFile& file);

  /// A point with everything but its operation's numbers.
  [[nodiscard]] MeasuredPoint begin(const CsvRow& row, PointOperation::Kind kind) const;

  /// A type as written, in our word; remembered, because tables repeat few.
  [[nodiscard]] const std::string& type_word(std::string_view as_written) const;

  /// The type of the operation: its column, else the file's name, else the kernel's name, else `usual`.
  [[nodiscard]] std::string type(const CsvRow& row, std::string_view usual) const;

  [[nodiscard]] std::string kernel(const CsvRow& row) const;
  [[nodiscard]] std::string operation_name(const CsvRow& row) const;

 private:
  TableFile file_;
  Column source_, date_, device_, system_, engine_, version_, kernel_, operation_, type_, latency_;
  double unit_ = 1e-3;
  std::string latency_name_;
  std::string file_type_;
  mutable std::map<std::string, std::string, std::less<>> type_words_;
};

/// True when the header has a column of latencies.
[[nodiscard]] bool has_latency(const Columns& columns);

/// A size of a kernel; NaN when the cell is no number.
[[nodiscard]] double size(const CsvRow& row, Column column);
/// The same with a value for absent columns and empty cells.
[[nodiscard]] double size_or(const CsvRow& row, Column column, double usual);

}  // namespace corridor::profile
