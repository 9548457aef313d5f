// SPDX-License-Identifier: Apache-2.0
// The shared columns of kernel tables; a latency without a unit in its name is in milliseconds, as these tools write.
#include "corridor/profile/points/kernel_row.h"

#include <array>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/words.h"

namespace corridor::profile {
namespace {

struct LatencyName {
  std::string_view name;
  double unit;
};
constexpr std::array<LatencyName, 11> latency_names{{{"latency_ms", 1e-3},
                                                     {"latency_us", 1e-6},
                                                     {"latency_s", 1},
                                                     {"time_ms", 1e-3},
                                                     {"time_us", 1e-6},
                                                     {"ms_median_over_ranks", 1e-3},
                                                     {"ms_median", 1e-3},
                                                     {"median_ms", 1e-3},
                                                     {"ms", 1e-3},
                                                     {"us", 1e-6},
                                                     {"latency", 1e-3}}};

}  // namespace

bool has_latency(const Columns& columns) {
  for (const LatencyName& latency : latency_names) {
    if (columns.has(latency.name)) return true;
  }
  return false;
}

double size(const CsvRow& row, Column column) {
  return number_or_nan(cell(row, column));
}

double size_or(const CsvRow& row, Column column, double usual) {
  const std::string_view text = cell(row, column);
  return text.empty() ? usual : number_or_nan(text);
}

KernelColumns::KernelColumns(Columns& columns, const TableFile& file)
    : file_(file),
      source_(columns.use({"source"})),
      date_(columns.use({"date"})),
      device_(columns.use({"device", "gpu", "hardware", "device_name"})),
      system_(columns.use({"system"})),
      engine_(columns.use({"framework", "engine"})),
      version_(columns.use({"version", "engine_version"})),
      kernel_(columns.use({"kernel_source", "impl", "implementation"})),
      operation_(columns.use({"op_name", "op", "collective"})),
      type_(columns.use(
          {"gemm_dtype", "moe_dtype", "nccl_dtype", "allreduce_dtype", "attn_dtype", "dtype", "quant_mode", "type"})) {
  if (!weight_format_word(file.type).empty()) file_type_ = operation_type(file.type);
  for (const LatencyName& latency : latency_names) {
    if (!columns.has(latency.name)) continue;
    latency_ = columns.use({latency.name});
    unit_ = latency.unit;
    latency_name_ = latency.name;
    break;
  }
}

MeasuredPoint KernelColumns::begin(const CsvRow& row, PointOperation::Kind kind) const {
  MeasuredPoint point;
  point.id = row_id(file_, row);
  point.line = row.line;
  point.source = clean(cell(row, source_));
  point.date = clean(cell(row, date_));
  point.device = clean(cell(row, device_));
  if (point.device.empty()) point.device = clean(cell(row, system_));
  if (point.device.empty()) point.device = file_.device;
  point.engine = clean(cell(row, engine_));
  if (const auto version = cell(row, version_); !version.empty()) point.engine += " " + clean(version);
  if (point.engine.empty()) point.engine = file_.engine;
  if (const std::string text = kernel(row); !text.empty()) point.notes = "kernel " + text;
  point.metric = PointMetric::op_time;
  point.metric_name = latency_name_;
  point.unit = unit_;
  point.value = number_or_nan(cell(row, latency_)) * unit_;
  point.operation.emplace().kind = kind;
  return point;
}

const std::string& KernelColumns::type_word(std::string_view as_written) const {
  const auto known = type_words_.find(as_written);
  if (known != type_words_.end()) return known->second;
  return type_words_.emplace(as_written, operation_type(clean(as_written))).first->second;
}

std::string KernelColumns::type(const CsvRow& row, std::string_view usual) const {
  if (const auto stated = cell(row, type_); !stated.empty()) return type_word(stated);
  if (!file_type_.empty()) return file_type_;
  // Long kernel names carry their type: "CutlassFP8ScaledMMLinearKernel".
  const std::string kernel_name = lower(cell(row, kernel_));
  if (contains(kernel_name, "fp8")) return contains(kernel_name, "block") ? "fp8-block" : "fp8";
  return std::string(usual);
}

std::string KernelColumns::kernel(const CsvRow& row) const {
  return clean(cell(row, kernel_));
}

std::string KernelColumns::operation_name(const CsvRow& row) const {
  return lower(clean(cell(row, operation_)));
}

}  // namespace corridor::profile
