// SPDX-License-Identifier: Apache-2.0
// Fills the Document of `corridor validate` and writes its rows.
#include "corridor/views/validate_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "corridor/base/nearest.h"
#include "corridor/profile/points/measured_point.h"
#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using app::JudgedPoint;
using app::PointStatus;
using app::RegimeResult;
using app::ValidateAnswer;
using report::Column;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

constexpr std::size_t shown_reasons = 8;
constexpr std::size_t shown_beyond = 5;
constexpr std::size_t most_dots = 4000;  // of the whole picture: more of them only lie on one another

Value whole(std::size_t n) {
  return {static_cast<std::int64_t>(n), Unit::count};
}

std::string percent(double fraction) {
  return report::print({fraction, Unit::percent});
}

/// "1,234 points": as tables print counts.
std::string number(std::size_t n) {
  return report::print(whole(n));
}

std::string verdict(const ValidateAnswer& a) {
  if (a.overall.points == 0) return "No row could be predicted; the reasons are below.";
  return fmt::format(
      "Half of the predictions lie within {} of what was measured, nine of ten within {}; the interval holds {} of the "
      "{} rows. The pure limit misses by {} at the median, the usual one-constant rules by {}.",
      percent(a.overall.median_error), percent(a.overall.p90_error), percent(a.overall.interval_coverage),
      number(a.overall.points), percent(a.overall.limit_median_error), percent(a.overall.one_constant_median_error));
}

std::string counts(const ValidateAnswer& a) {
  std::size_t left_out = 0;
  for (const app::ReasonCount& reason : a.not_understood) left_out += reason.points;
  return fmt::format("{} rows: {} predicted, {} beyond the limit, {} not understood.", number(a.points.size()),
                     number(a.overall.points), number(a.beyond_limit.size()), number(left_out));
}

std::vector<Column> regime_columns() {
  return {{"name", "regime", Unit::none, true},
          {"points", "points", Unit::count, false},
          {"median_error", "median", Unit::percent, false},
          {"p90_error", "90th", Unit::percent, false},
          {"bias", "bias", Unit::percent, false},
          {"interval_coverage", "inside", Unit::percent, false},
          {"interval_ratio", "", Unit::none, false},
          {"limit_median_error", "limit", Unit::percent, false},
          {"one_constant_median_error", "rules", Unit::percent, false}};
}

std::vector<Value> regime_row(const RegimeResult& r) {
  return {text(r.name),
          whole(r.points),
          share(r.median_error),
          share(r.p90_error),
          share(r.bias),
          share(r.interval_coverage),
          {r.interval_ratio, Unit::none},
          share(r.limit_median_error),
          share(r.one_constant_median_error)};
}

Table regimes(const ValidateAnswer& a) {
  Table table{"regimes", "Error by regime: predicted ÷ measured − 1, as times", regime_columns(), {}, 0};
  for (const RegimeResult& r : a.regimes) table.rows.push_back(regime_row(r));
  return table;
}

FieldGroup overall(const ValidateAnswer& a) {
  FieldGroup group{"", {}};
  const std::vector<Column> columns = regime_columns();
  const std::vector<Value> values = regime_row(a.overall);
  for (std::size_t i = 1; i < columns.size(); ++i) {
    group.fields.push_back({"overall." + columns[i].key, "", values[i], ""});
  }
  const app::NoiseFloor& noise = a.noise_floor;
  group.fields.push_back({"noise_floor.pairs", "", whole(noise.pairs), ""});
  group.fields.push_back({"noise_floor.median_ratio", "", {noise.median_ratio, Unit::none}, ""});
  group.fields.push_back({"noise_floor.p90_ratio", "", {noise.p90_ratio, Unit::none}, ""});
  return group;
}

std::string noise_sentence(const app::NoiseFloor& noise) {
  if (noise.pairs == 0) return "No configuration was measured twice, so how far measurements agree is not known.";
  return fmt::format(
      "Measurements themselves: two of one configuration differ by {} at the median, by {} at the 90th percentile; "
      "pairs "
      "seen: {}.",
      percent(noise.median_ratio - 1), percent(noise.p90_ratio - 1), number(noise.pairs));
}

Table reasons(const ValidateAnswer& a) {
  Table table{"not_understood",
              "Not understood",
              {{"reason", "reason", Unit::none, true},
               {"points", "rows", Unit::count, false},
               {"example", "", Unit::none, true}},
              {},
              shown_reasons};
  for (const app::ReasonCount& r : a.not_understood) {
    table.rows.push_back({text(r.reason), whole(r.points), text(r.example)});
  }
  return table;
}

/// A row that is shown by itself: `label` is short enough for a terminal, `id` is the whole.
std::vector<Column> row_columns(const char* bound, const char* bound_label) {
  return {{"id", "", Unit::none, true},
          {"label", "row", Unit::none, true},
          {"regime", "", Unit::none, true},
          {"metric", "metric", Unit::none, true},
          {"observed", "measured", Unit::none, false},
          {bound, bound_label, Unit::none, false},
          {"reason", "reason", Unit::none, true}};
}

std::string operation_label(const profile::PointOperation& o) {
  using Kind = profile::PointOperation::Kind;
  switch (o.kind) {
    case Kind::product:
      return fmt::format("{} {}×{}×{}", o.type, o.m, o.n, o.k);
    case Kind::attention_decode:
    case Kind::attention_prefill:
      return fmt::format("{} {}×{} heads {}", o.kv, o.batch, o.length, o.heads);
    case Kind::moe:
      return fmt::format("{} {} in {} of {}", o.type, o.tokens, o.per_token, o.experts);
    case Kind::collective:
      return fmt::format("{} {} over {}", o.collective, units::print(units::Bytes{o.payload_bytes}), o.ranks);
  }
  return "";
}

std::string label_of(const JudgedPoint& p) {
  std::string label = p.device_id;
  if (p.point.operation) label += " " + operation_label(*p.point.operation);
  if (!p.model_id.empty()) label += " " + p.model_id.substr(p.model_id.find('/') + 1);
  if (p.point.sequences && !p.point.operation) label += fmt::format(" ×{:.0f}", *p.point.sequences);
  return shown_word(label, 48);
}

std::vector<Value> point_row(const JudgedPoint& p, double bound) {
  return {text(p.point.id),         text(label_of(p)),   text(p.regime), text(p.point.metric_name),
          {p.observed, Unit::none}, {bound, Unit::none}, text(p.reason)};
}

Table worst(const ValidateAnswer& a) {
  Table table{"worst", "The worst ten, with the likely reason", row_columns("predicted", "predicted"), {}, 0};
  for (const std::size_t i : a.worst) table.rows.push_back(point_row(a.points[i], a.points[i].mid));
  return table;
}

Table beyond(const ValidateAnswer& a) {
  Table table{"beyond_limit", "Faster than the limit allows", row_columns("limit", "limit"), {}, shown_beyond};
  for (const std::size_t i : a.beyond_limit) table.rows.push_back(point_row(a.points[i], a.points[i].limit));
  return table;
}

Table groups(const ValidateAnswer& a) {
  Table table{"groups", "", {}, {}, 0};
  for (const char* key : {"regime", "engine", "device", "model", "tp", "sequences", "points", "median_error", "bias",
                          "interval_coverage"}) {
    table.columns.push_back({key, "", Unit::none, true});
  }
  for (const app::GroupResult& g : a.groups) {
    table.rows.push_back({text(g.regime),
                          text(g.engine),
                          text(g.device),
                          text(g.model),
                          {g.tp, Unit::count},
                          text(g.sequences),
                          whole(g.points),
                          share(g.median_error),
                          share(g.bias),
                          share(g.interval_coverage)});
  }
  return table;
}

/// Seconds of an operation, a token or a prompt; empty for ratios and bandwidths, which are no times.
std::optional<double> seconds(const JudgedPoint& p, double in_unit) {
  using profile::PointMetric;
  const double si = in_unit * p.point.unit;
  switch (p.point.metric) {
    case PointMetric::tpot:
    case PointMetric::ttft:
    case PointMetric::latency:
    case PointMetric::op_time:
      return si;
    case PointMetric::decode_per_user:
    case PointMetric::output_total:
    case PointMetric::total_tokens:
    case PointMetric::prefill_rate:
      return si > 0 ? std::optional(1 / si) : std::nullopt;
    default:
      return std::nullopt;
  }
}

report::ScatterPlot scatter(const ValidateAnswer& a) {
  constexpr std::array<std::pair<const char*, const char*>, 4> families = {
      {{"one operation", ""}, {"decode", "decode"}, {"batch and concurrency", "batch"}, {"prompts", "prefill"}}};
  report::ScatterPlot plot{"scatter", "Predicted against measured", "measured: s, or s a token", "predicted", {}};
  for (const auto& [name, word] : families) plot.series.push_back({name, {}, {}});
  const std::size_t stride = std::max<std::size_t>(1, a.overall.points / most_dots);
  std::size_t seen = 0;
  for (const JudgedPoint& p : a.points) {
    if (p.status != PointStatus::predicted || seen++ % stride != 0) continue;
    const auto x = seconds(p, p.observed);
    const auto y = seconds(p, p.mid);
    if (!x || !y) continue;
    const bool prompt = p.regime.find("prefill") != std::string::npos || p.regime.find("TTFT") != std::string::npos;
    const std::size_t family = p.point.operation ? 0 : prompt ? 3 : p.point.sequences.value_or(1) > 1 ? 2 : 1;
    plot.series[family].x.push_back(*x);
    plot.series[family].y.push_back(*y);
  }
  return plot;
}

std::vector<std::string> formulas() {
  const std::string rules =
      "rules = the same median with one-constant rules: decode at 60 % of the bandwidth, prompts at 45 % and single "
      "products at 30 % of the peak FLOP/s, a speed-up equal to the tokens a step";
  return {
      "error of a row = predicted ÷ measured − 1 for times; for rates both are turned over first",
      "median, 90th = quantiles of its size; bias = median with its sign: below 0 predicts too fast",
      "inside = share of the rows between low and high of the prediction; the interval is meant to hold 80 %",
      "limit = the same median with the physical limit as the prediction: datasheet peaks, perfect overlap",
      rules,
      "beyond the limit = faster than the limit by more than 0.5 %: not counted in any error",
      "a row whose value differs by more than 1.5 times from another row of the same configuration is set apart",
  };
}

std::string quoted(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

report::Document validate_document(const ValidateAnswer& answer, bool explain) {
  report::Document document;
  document.schema = "corridor/validation/1";
  document.title = fmt::format("Predictions held against {} measured numbers", number(answer.points.size()));
  const auto say = [&](const char* key, std::string line, Paragraph::Style style) {
    document.blocks.emplace_back(Paragraph{key, std::move(line), style});
  };
  say("verdict", verdict(answer), Paragraph::Style::verdict);
  say("verdict", counts(answer), Paragraph::Style::plain);
  for (const std::string& warning : answer.warnings) say("warnings", warning, Paragraph::Style::warning);
  document.blocks.emplace_back(regimes(answer));
  document.blocks.emplace_back(overall(answer));
  say("noise", noise_sentence(answer.noise_floor), Paragraph::Style::plain);
  document.blocks.emplace_back(worst(answer));
  document.blocks.emplace_back(beyond(answer));
  document.blocks.emplace_back(reasons(answer));
  document.blocks.emplace_back(groups(answer));
  document.blocks.emplace_back(scatter(answer));
  for (const std::string& file : answer.files) say("files", file, Paragraph::Style::detail);
  append_remarks(document, answer.notes, {}, explain, formulas());
  return document;
}

std::string validate_rows_csv(const ValidateAnswer& answer) {
  std::string out = "id,metric,observed,low,mid,high,limit,status,reason\n";
  auto end = std::back_inserter(out);
  for (const JudgedPoint& p : answer.points) {
    fmt::format_to(end, "{},{},{:.6g},", quoted(p.point.id), quoted(p.point.metric_name), p.observed);
    if (p.status == PointStatus::not_understood && !(p.mid > 0)) {
      out += ",,,,";
    } else {
      fmt::format_to(end, "{:.6g},{:.6g},{:.6g},{:.6g},", p.low, p.mid, p.high, p.limit);
    }
    fmt::format_to(end, "{},{}\n", app::name(p.status), quoted(p.reason));
  }
  return out;
}

}  // namespace corridor::views
