// SPDX-License-Identifier: Apache-2.0
// The columns of a sweep's points, and the points as CSV.
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "corridor/views/fields.h"
#include "corridor/views/sweep_view.h"

namespace corridor::views {
namespace {

using app::AxisKind;
using app::SweepAnswer;
using app::SweepAxis;
using app::SweepPoint;
using report::Unit;
using report::Value;

std::string cell(const Value& value) {
  const auto* number = std::get_if<double>(&value.data);
  if (number != nullptr) return std::isfinite(*number) ? fmt::format("{}", *number) : "";
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *whole);
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr) return "";
  if (text->find_first_of(",\"\r\n") == std::string::npos) return *text;
  std::string quoted = "\"";
  for (const char c : *text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string wall_text(const SweepPoint& p) {
  return std::string(roofline::name(p.wall));
}

/// What the terminal says at the end of a line.
std::string remark(const SweepPoint& p) {
  if (!p.error.empty()) return p.error.substr(0, p.error.find(';'));  // what to do about it stands in JSON
  std::string text = p.added ? "knee" : "";
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!p.fits) add("does not fit");
  if (p.fits && std::round(p.users) < p.asked) add(fmt::format("{:.0f} of {:.0f} run at once", p.users, p.asked));
  return text;
}

std::vector<SweepColumn> time_columns(bool first_token_shown) {
  return {{{"step_limit_s", "", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.limit); }},
          {{"step_expected_low_s", "", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.step.low); }},
          {{"step_expected_s", "step", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.step.mid); }},
          {{"step_expected_high_s", "", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.step.high); }},
          {{"tokens_per_s_per_user_limit", "", Unit::tokens_per_second, false},
           [](const SweepPoint& p) { return tokens_per_second(p.per_user(p.limit)); }},
          {{"tokens_per_s_per_user", "each user", Unit::tokens_per_second, false},
           [](const SweepPoint& p) { return tokens_per_second(p.per_user(p.step.mid)); }},
          {{"tokens_per_s_limit", "", Unit::tokens_per_second, false},
           [](const SweepPoint& p) { return tokens_per_second(p.total(p.limit)); }},
          {{"tokens_per_s_low", "", Unit::tokens_per_second, false},
           [](const SweepPoint& p) { return tokens_per_second(p.total(p.step.high)); }},
          {{"tokens_per_s", "all users", Unit::tokens_per_second, false},
           [](const SweepPoint& p) { return tokens_per_second(p.total(p.step.mid)); }},
          {{"tokens_per_s_high", "", Unit::tokens_per_second, false},
           [](const SweepPoint& p) { return tokens_per_second(p.total(p.step.low)); }},
          {{"ttft_limit_s", "", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.ttft_limit); }},
          {{"ttft_expected_low_s", "", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.ttft.low); }},
          {{"ttft_expected_s", first_token_shown ? "first token" : "", Unit::seconds, false},
           [](const SweepPoint& p) { return value(p.ttft.mid); }},
          {{"ttft_expected_high_s", "", Unit::seconds, false}, [](const SweepPoint& p) { return value(p.ttft.high); }}};
}

std::vector<SweepColumn> wall_columns() {
  return {{{"wall", "wall", Unit::none, true}, [](const SweepPoint& p) { return text(wall_text(p)); }},
          {{"prefill_wall", "", Unit::none, true},
           [](const SweepPoint& p) { return text(std::string(roofline::name(p.ttft_wall))); }},
          {{"memory_share", "", Unit::percent, false}, [](const SweepPoint& p) { return share(p.shares.memory); }},
          {{"compute_share", "", Unit::percent, false}, [](const SweepPoint& p) { return share(p.shares.compute); }},
          {{"overhead_share", "", Unit::percent, false}, [](const SweepPoint& p) { return share(p.shares.overhead); }},
          {{"interconnect_share", "", Unit::percent, false},
           [](const SweepPoint& p) { return share(p.shares.interconnect); }},
          {{"intensity_flop_per_byte", "", Unit::flop_per_byte, false},
           [](const SweepPoint& p) { return value(p.intensity); }}};
}

std::vector<SweepColumn> memory_columns(bool kv_shown) {
  return {
      {{"weight_bytes", "", Unit::bytes, false}, [](const SweepPoint& p) { return value(p.weights); }},
      {{"kv_bytes", kv_shown ? "KV a step" : "", Unit::bytes, false}, [](const SweepPoint& p) { return value(p.kv); }},
      {{"needed_bytes_per_device", "", Unit::bytes, false}, [](const SweepPoint& p) { return value(p.needed); }},
      {{"kv_pool_bytes_per_device", "", Unit::bytes, false}, [](const SweepPoint& p) { return value(p.kv_pool); }},
      {{"max_requests", kv_shown ? "most requests" : "", Unit::count, false},
       [](const SweepPoint& p) { return maybe(p.max_requests, count); }},
      {{"running_sequences", "", Unit::count, false}, [](const SweepPoint& p) { return count(p.users); }},
      {{"break_even_batch", "", Unit::count, false}, [](const SweepPoint& p) { return maybe(p.break_even, count); }},
      {{"break_even_batch_weights_only", "", Unit::count, false},
       [](const SweepPoint& p) { return maybe(p.break_even_weights_only, count); }},
  };
}

}  // namespace

Value axis_value(const SweepAxis& axis, double at) {
  return axis.has_numbers() ? count(at) : text(axis.label(at));
}

std::vector<SweepColumn> sweep_columns(const SweepAnswer& answer) {
  const bool kv_shown = answer.axes[answer.along].kind == AxisKind::context;
  std::vector<SweepColumn> columns = time_columns(!kv_shown);
  for (auto& more : {wall_columns(), memory_columns(kv_shown)}) columns.insert(columns.end(), more.begin(), more.end());
  columns.push_back({{"fits", "", Unit::none, true}, [](const SweepPoint& p) { return flag(p.fits); }});
  columns.push_back({{"is_knee", "", Unit::none, true}, [](const SweepPoint& p) { return flag(p.added); }});
  columns.push_back({{"error", "", Unit::none, true},
                     [](const SweepPoint& p) { return p.error.empty() ? null_value() : text(p.error); }});
  columns.push_back({{"remark", "remark", Unit::none, true}, [](const SweepPoint& p) { return text(remark(p)); }});
  return columns;
}

std::string sweep_csv(const SweepAnswer& answer) {
  std::vector<SweepColumn> columns = sweep_columns(answer);
  columns.pop_back();  // the remark says in words what other columns hold
  std::string out;
  for (std::size_t i = 0; i < answer.axes.size(); ++i)
    out += (i > 0 ? "," : "") + std::string(name(answer.axes[i].kind));
  for (const SweepColumn& column : columns) out += "," + column.head.key;
  out += "\r\n";
  for (const app::SweepLine& line : answer.lines) {
    for (const SweepPoint& point : line.points) {
      for (std::size_t i = 0; i < answer.axes.size(); ++i) {
        out += (i > 0 ? "," : "") + cell(axis_value(answer.axes[i], point.at[i]));
      }
      for (const SweepColumn& column : columns) {
        const bool known = point.error.empty() || column.head.key == "error";
        out += "," + (known ? cell(column.value(point)) : std::string());
      }
      out += "\r\n";
    }
  }
  return out;
}

}  // namespace corridor::views
