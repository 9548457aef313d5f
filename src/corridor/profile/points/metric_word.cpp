// SPDX-License-Identifier: Apache-2.0
// Metric words by their parts, so that near spellings of other tables are understood too.
#include "corridor/profile/points/metric_word.h"

#include <array>
#include <optional>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/reasons.h"

namespace corridor::profile {
namespace {

struct Unit {
  std::string_view word;
  double factor;
};

MetricWord problem(std::string_view text) {
  return {PointMetric::tpot, 1, false, text};
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

template <std::size_t N>
std::optional<double> unit_at_end(std::string_view text, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (ends_with(text, unit.word)) return unit.factor;
  }
  return std::nullopt;
}

/// True when one of the words of `text` (between underscores, blanks, slashes) is `word`.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const auto breaks = [text](std::size_t i) { return !is_letter(text[i]) && !is_digit(text[i]); };
    if ((at == 0 || breaks(at - 1)) && (end == text.size() || breaks(end))) return true;
  }
  return false;
}

bool is_extreme(std::string_view text) {
  for (const std::string_view word : {"p75", "p80", "p90", "p95", "p99", "p999", "max", "min", "worst", "best"}) {
    if (has_word(text, word)) return true;
  }
  return false;
}

bool is_token_rate(std::string_view text) {
  return contains_any(text,
                      {"tok_s", "tok/s", "toks_s", "tokens_s", "tokens/s", "tokens_per_s", "token_s", "tok_per_s"}) ||
         has_word(text, "tps");
}

MetricWord token_rate(std::string_view text) {
  const bool per_device = contains_any(text, {"per_gpu", "per_device", "/gpu", "s_gpu"});
  const auto rate = [per_device](PointMetric metric) { return MetricWord{metric, 1, per_device, {}}; };
  if (contains_any(text, {"prefill", "prompt", "input"})) return rate(PointMetric::prefill_rate);
  if (contains(text, "user") || contains(text, "per_seq")) return {PointMetric::decode_per_user, 1, false, {}};
  if (contains_any(text, {"output", "generat", "decode"})) return rate(PointMetric::output_total);
  if (contains(text, "total")) return rate(PointMetric::total_tokens);
  return problem(reason::unknown_metric);
}

MetricWord byte_rate(std::string_view text) {
  static constexpr std::array<Unit, 9> units{{{"gbs", 1e9},
                                              {"gb_s", 1e9},
                                              {"gb/s", 1e9},
                                              {"tbs", 1e12},
                                              {"tb_s", 1e12},
                                              {"tb/s", 1e12},
                                              {"mbs", 1e6},
                                              {"mb_s", 1e6},
                                              {"mb/s", 1e6}}};
  const auto unit = unit_at_end(text, units);
  if (!unit) return problem(reason::no_unit);
  return {PointMetric::bandwidth, *unit, false, {}};
}

MetricWord flop_rate(std::string_view text) {
  for (const Unit& unit : {Unit{"gflop", 1e9}, Unit{"tflop", 1e12}, Unit{"pflop", 1e15}}) {
    if (contains(text, unit.word)) return {PointMetric::flop_rate, unit.factor, false, {}};
  }
  return problem(reason::no_unit);
}

std::optional<PointMetric> timed(std::string_view text) {
  if (contains_any(text, {"tpot", "inter_token", "time_per_output_token", "time_per_token"})) return PointMetric::tpot;
  if (has_word(text, "itl")) return PointMetric::tpot;
  if (contains_any(text, {"ttft", "first_token"})) return PointMetric::ttft;
  if (contains_any(text, {"latency", "e2e", "end_to_end"})) return PointMetric::latency;
  return std::nullopt;
}

}  // namespace

MetricWord metric_word(std::string_view as_written) {
  std::string text = lower(trim(as_written.substr(0, 80)));
  for (char& c : text) {
    if (c == ' ' || c == '-' || c == '(') c = '_';
  }
  while (!text.empty() && (text.back() == ')' || text.back() == '_')) text.pop_back();
  if (is_extreme(text)) return problem(reason::percentile);
  if (contains_any(text, {"speedup", "speed_up"})) return {PointMetric::speedup, 1, false, {}};
  if (contains_any(text, {"accept", "tokens_per_step", "tokens_a_step"}))
    return {PointMetric::acceptance, 1, false, {}};
  if (contains(text, "flop")) return flop_rate(text);
  if (contains_any(text, {"bandwidth", "gbs", "gb_s", "gb/s"})) return byte_rate(text);
  if (is_token_rate(text)) return token_rate(text);
  const auto metric = timed(text);
  if (!metric) return problem(reason::unknown_metric);
  static constexpr std::array<Unit, 7> units{
      {{"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}, {"_s", 1}, {"_sec", 1}, {"_seconds", 1}, {"milliseconds", 1e-3}}};
  const auto unit = unit_at_end(text, units);
  if (!unit) return problem(reason::no_unit);
  return {*metric, *unit, false, {}};
}

}  // namespace corridor::profile
