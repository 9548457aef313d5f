// SPDX-License-Identifier: Apache-2.0
// Chooses the layout by the header line and reads the rows; what is wrong with a row is said on the row.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/layout.h"
#include "corridor/profile/points/metric_word.h"
#include "corridor/profile/points/reasons.h"

namespace corridor::profile {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20U;
constexpr std::size_t most_points = 1'000'000;
constexpr std::size_t most_columns = CsvReader::most_fields - 1;
constexpr double largest_count = 1e9;

constexpr std::string_view what_is_read =
    "give a CSV table whose header line is one of those in docs/validation.md, for example: "
    "id,source,date,engine,model,weights,kv,device,devices,tp,pp,ep,load,sequences,input,output,context,metric,value,"
    "tokens_per_step,draft_tokens,note";

using MakeLayout = LayoutPointer (*)(Columns&, const TableFile&);
// From the most to the least particular header.
constexpr std::array<MakeLayout, 9> layouts{
    &make_operations_layout, &make_runs_layout,          &make_measured_layout,
    &make_silicon_layout,    &make_attention_layout,     &make_moe_layout,
    &make_collective_layout, &make_linear_layers_layout, &make_product_layout,
};

bool in_range(const std::optional<double>& value, double least) {
  return !value || (*value >= least && *value <= largest_count);
}
bool is_count(const std::optional<std::int64_t>& value) {
  return !value || (*value >= 1 && *value <= 1'000'000);
}

bool all_set(std::initializer_list<double> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](double size) { return size > 0 && size <= 1e13; });
}

bool has_shape(const PointOperation& op) {
  switch (op.kind) {
    case PointOperation::Kind::product:
      return all_set({op.m, op.n, op.k});
    case PointOperation::Kind::attention_decode:
    case PointOperation::Kind::attention_prefill:
      return all_set({op.batch, op.heads, op.kv_heads, op.head_dim, op.length}) && op.window >= 0 &&
             op.window <= largest_count;
    case PointOperation::Kind::moe:
      return all_set({op.tokens, op.hidden, op.inter, op.experts, op.per_token, op.tp, op.ep});
    case PointOperation::Kind::collective:
      return all_set({op.ranks, op.payload_bytes});
  }
  return false;
}

void check_numbers(MeasuredPoint& point) {
  if (!std::isfinite(point.value)) set_aside(point, reason::no_number);
  if (point.value <= 0) set_aside(point, reason::not_positive);
  const bool lengths = in_range(point.input, 0) && in_range(point.output, 0) && in_range(point.context, 0);
  const bool others =
      in_range(point.sequences, 0.5) && in_range(point.tokens_per_step, 0) && in_range(point.draft_tokens, 0);
  const bool counts =
      is_count(point.devices) && is_count(point.tp) && is_count(point.pp) && is_count(point.ep) && is_count(point.dp);
  if (!lengths || !others || !counts) set_aside(point, reason::out_of_range);
}

/// Facts without which the metric means nothing.
void check_needs(MeasuredPoint& point) {
  const bool context = point.context.has_value();
  const bool both = point.input.has_value() && point.output.has_value();
  switch (point.metric) {
    case PointMetric::acceptance:
      set_aside(point, reason::input_only);
      break;
    case PointMetric::output_total:
      if (!point.sequences) set_aside(point, reason::no_sequences);
      if (!both && !context) set_aside(point, reason::no_lengths);
      break;
    case PointMetric::total_tokens:
    case PointMetric::latency:
      if (!point.sequences) set_aside(point, reason::no_sequences);
      if (!both) set_aside(point, reason::no_lengths);
      break;
    case PointMetric::ttft:
    case PointMetric::prefill_rate:
      if (!point.input || *point.input <= 0) set_aside(point, reason::no_lengths);
      break;
    default:
      break;
  }
}

bool is_operation_metric(PointMetric metric) {
  return metric == PointMetric::op_time || metric == PointMetric::flop_rate;
}

Result<CsvRow> header_of(CsvReader& reader, const std::string& file) {
  CsvRow row;
  bool found = reader.next(row);
  while (found && row.fields.front().substr(0, 1) == "#") found = reader.next(row);
  if (reader.open_quote_line() != 0) return fail("a quote in the header line is never closed", file, "close it");
  if (!found) return fail("the table is empty", file, std::string(what_is_read));
  if (row.fields.size() > most_columns) return fail("more than 1000 columns", file, std::string(what_is_read));
  return row;
}

Result<LayoutPointer> layout_of(Columns& columns, const TableFile& table, const std::string& where) {
  for (const MakeLayout make : layouts) {
    if (LayoutPointer layout = make(columns, table)) return layout;
  }
  return fail("the header line is of no known table", where, std::string(what_is_read));
}

}  // namespace

std::string_view name(PointMetric metric) {
  static constexpr std::array<std::string_view, 12> names{
      "tpot",          "ttft",    "latency",    "decode tok/s per user", "output tok/s", "total tok/s",
      "prefill tok/s", "speedup", "acceptance", "operation time",        "FLOP/s",       "bandwidth"};
  return names.at(static_cast<std::size_t>(metric));
}

std::string row_id(const TableFile& file, const CsvRow& row) {
  return file.name + ":" + std::to_string(row.line);
}

void set_aside(MeasuredPoint& point, std::string_view reason) {
  if (point.not_usable.empty()) point.not_usable = reason;
}

void remark(MeasuredPoint& point, std::string_view text) {
  if (!point.notes.empty()) point.notes += "; ";
  point.notes += text;
}

void set_metric(MeasuredPoint& point, std::string_view metric, std::string_view value) {
  const MetricWord word = metric_word(metric);
  point.metric_name = clean(metric);
  point.metric = word.metric;
  point.unit = word.unit;
  if (word.per_device && point.devices) point.unit *= static_cast<double>(*point.devices);
  if (word.per_device && !point.devices) set_aside(point, reason::per_device_unclear);
  point.value = number_or_nan(value) * point.unit;
  if (!word.problem.empty()) set_aside(point, word.problem);
}

void check_point(MeasuredPoint& point) {
  check_numbers(point);
  check_needs(point);
  if (is_operation_metric(point.metric) && !point.operation) set_aside(point, reason::unknown_operation);
  if (point.operation && !has_shape(*point.operation)) set_aside(point, reason::bad_shape);
}

Result<PointTable> read_points(std::string_view text, const std::string& file) {
  if (text.size() > most_bytes) return fail("the table is larger than 256 MiB", file, "give it in parts");
  if (contains(text, std::string_view("\0", 1))) return fail("this is not text", file, "give a CSV table in UTF-8");
  CsvReader reader(text);
  const auto header = header_of(reader, file);
  if (!header) return tl::unexpected<Error>(header.error());
  const TableFile table_file(file);
  Columns columns(header->fields);
  const auto layout = layout_of(columns, table_file, file + ":" + std::to_string(header->line));
  if (!layout) return tl::unexpected<Error>(layout.error());
  PointTable table{std::string((*layout)->name()), {}, columns.unused()};
  // Moving points to a larger place costs more than counting lines; a hostile count is not believed.
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  table.points.reserve(std::min<std::size_t>(lines, 100'000));
  CsvRow row;
  while (reader.next(row)) {
    (*layout)->read(row, table.points);
    if (table.points.size() > most_points) return fail("more than one million points", file, "give it in parts");
  }
  if (reader.open_quote_line() != 0) {
    return fail("a quote is never closed", file + ":" + std::to_string(reader.open_quote_line()), "close it");
  }
  (*layout)->finish(table.points);
  for (MeasuredPoint& point : table.points) check_point(point);
  return table;
}

}  // namespace corridor::profile
