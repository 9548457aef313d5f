// SPDX-License-Identifier: Apache-2.0
// One column layout: recognised by its header line, it turns each row into one or more points.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/measured_point.h"

namespace corridor::profile {

/// What the name of the file tells of a table without such columns: "a100_sxm_vllm0.14.0_gemm_fp8.csv" is of device
/// "a100_sxm", engine "vllm 0.14.0", type "fp8".
struct TableFile {
  explicit TableFile(const std::string& path);
  std::string name;    ///< without folders
  std::string device;  ///< empty when the name does not begin with one
  std::string engine;
  std::string type;  ///< after the operation's name
};

class PointLayout {
 public:
  PointLayout() = default;
  virtual ~PointLayout() = default;
  PointLayout(const PointLayout&) = delete;
  PointLayout& operator=(const PointLayout&) = delete;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Appends the points of one row.
  virtual void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const = 0;
  /// Joins facts of different rows when all are read.
  virtual void finish(std::vector<MeasuredPoint>&) const {}
};

using LayoutPointer = std::unique_ptr<PointLayout>;

/// Each gives null when the header is not of its layout, and then marks no column as used.
[[nodiscard]] LayoutPointer make_runs_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_operations_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_measured_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_silicon_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_product_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_attention_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_moe_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_collective_layout(Columns& columns, const TableFile& file);
[[nodiscard]] LayoutPointer make_linear_layers_layout(Columns& columns, const TableFile& file);

/// "FILE:LINE", the id of a row that has none.
[[nodiscard]] std::string row_id(const TableFile& file, const CsvRow& row);

/// Sets the reason unless an earlier one stands.
void set_aside(MeasuredPoint& point, std::string_view reason);

/// Adds a remark to the notes.
void remark(MeasuredPoint& point, std::string_view text);

/// Metric, unit and value from the words of a row; sets the point aside when they cannot be used.
void set_metric(MeasuredPoint& point, std::string_view metric, std::string_view value);

/// Sets the point aside when a number is out of range or one that its metric needs is missing.
void check_point(MeasuredPoint& point);

}  // namespace corridor::profile
