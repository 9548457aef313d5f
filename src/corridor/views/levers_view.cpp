// SPDX-License-Identifier: Apache-2.0
// The answer of `corridor levers` as a Document: the largest gain, the table, and why for each.
#include "corridor/views/levers_view.h"

#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using lever::LeverResult;
using report::Paragraph;
using report::Unit;
using report::Value;

/// Smaller gains than this are below what any prediction can tell.
constexpr double noticeable = 1.02;

Value ratio(double x) {
  return {x, Unit::none};
}

std::string times(double x) {
  return units::print_number(x) + "×";
}

/// "1.72× (1.66× to 1.75×)" for people; JSON has the numbers.
std::string gain_text(const LeverResult& r) {
  return r.applies ? fmt::format("{} ({} to {})", times(r.gain.mid), times(r.gain.low), times(r.gain.high)) : "–";
}

std::string value_text(const LeverResult& r, double value) {
  return r.metric == lever::Metric::first_token ? units::print(units::Seconds{value})
                                                : units::print_number(value) + " tok/s";
}

std::string verdict(const std::vector<LeverResult>& levers) {
  if (levers.empty() || !levers.front().applies || levers.front().gain.mid < noticeable) {
    return "No single change makes this case noticeably faster.";
  }
  const LeverResult& best = levers.front();
  return fmt::format("Largest gain: {} ({}): {}, at most {}, in {} ({} instead of {}); the wall is then {}.", best.name,
                     lever::how_to(best), gain_text(best), times(best.max_gain), lever::name(best.metric),
                     value_text(best, best.after), value_text(best, best.before), roofline::name(best.wall_after));
}

/// Limits and costs of one lever in one text.
std::string why(const LeverResult& r) {
  std::string out = r.note;
  if (r.applies && !r.stops_at.empty()) out += ". Stops at: " + r.stops_at;
  if (r.applies && !r.cost.empty()) out += ". Cost: " + r.cost;
  return out + ".";
}

report::FieldGroup reasons(const std::vector<LeverResult>& levers, bool applying) {
  report::FieldGroup group{applying ? "What limits each" : "What cannot help here", {}};
  for (const LeverResult& r : levers) {
    if (r.applies == applying) group.fields.push_back({"why." + r.id, r.name, text(why(r)), ""});
  }
  return group;
}

void add_explanations(const std::vector<LeverResult>& levers, report::Document& doc) {
  const auto add = [&](std::string line) {
    doc.blocks.push_back(Paragraph{"explain", std::move(line), Paragraph::Style::plain});
  };
  add("A gain is the ratio of two predictions, of the case after and before the change. Its interval: launches, host "
      "and "
      "transfers of both are scaled by the factor that brings the present time to the ends of its own interval. Its "
      "bound: the ratio of the times at the roofs (bytes ÷ bandwidth, FLOPs ÷ peak, link), or of the overhead where "
      "that "
      "falls too.");
  for (const LeverResult& r : levers) {
    if (!r.applies) continue;
    const bool time = r.metric == lever::Metric::first_token;
    add(fmt::format("{}: {} ÷ {} = {}, at most {}", r.name, value_text(r, time ? r.before : r.after),
                    value_text(r, time ? r.after : r.before), times(r.gain.mid), times(r.max_gain)));
  }
}

}  // namespace

report::Table levers_table(const std::vector<LeverResult>& levers, std::size_t terminal_rows) {
  report::Table table;
  table.key = "levers";
  table.title = "What would make it faster";
  table.columns = {{"id", "", Unit::none, true},         {"name", "change", Unit::none, true},
                   {"change", "", Unit::none, true},     {"engine_change", "", Unit::none, true},
                   {"how", "how", Unit::none, true},     {"applies", "", Unit::none, true},
                   {"gain.low", "", Unit::none, false},  {"gain.mid", "gain ×", Unit::none, false},
                   {"gain.high", "", Unit::none, false}, {"max_gain", "at most", Unit::none, false},
                   {"metric", "in", Unit::none, true},   {"before", "", Unit::none, false},
                   {"after", "", Unit::none, false},     {"wall_after", "wall then", Unit::none, true},
                   {"stops_at", "", Unit::none, true},   {"cost", "", Unit::none, true},
                   {"note", "", Unit::none, true}};
  for (const LeverResult& r : levers) {
    const auto measured = [&](double x) { return r.applies ? ratio(x) : null_value(); };
    table.rows.push_back({text(r.id), text(r.name), text(r.change), text(r.engine_change), text(lever::how_to(r)),
                          flag(r.applies), ratio(r.gain.low), ratio(r.gain.mid), ratio(r.gain.high), ratio(r.max_gain),
                          text(std::string(name(r.metric))), measured(r.before), measured(r.after),
                          r.applies ? text(std::string(roofline::name(r.wall_after))) : null_value(), text(r.stops_at),
                          text(r.cost), text(r.note)});
  }
  table.terminal_rows = terminal_rows;
  return table;
}

report::Document levers_view(const app::LeversAnswer& answer, bool explain) {
  report::Document doc;
  doc.schema = "corridor/levers/1";
  const app::PredictAnswer& base = answer.base;
  doc.title = fmt::format("{}, {}, on {} × {}, {}", base.model.name, base.weights_name,
                          base.scenario.parallelism.devices(), base.device.name, base.engine.id);
  const roofline::MemoryFit& memory = base.prediction.memory;
  if (!memory.fits) {
    doc.blocks.push_back(
        Paragraph{"warnings",
                  fmt::format("Does not fit: {} short on each device. The gains below assume that it did.",
                              units::print(memory.shortfall)),
                  Paragraph::Style::warning});
  }
  doc.blocks.push_back(Paragraph{"verdict", verdict(answer.levers), Paragraph::Style::verdict});
  std::size_t applying = 0;
  for (const LeverResult& r : answer.levers) applying += r.applies ? 1 : 0;
  doc.blocks.push_back(levers_table(answer.levers, applying));
  doc.blocks.push_back(reasons(answer.levers, true));
  doc.blocks.push_back(reasons(answer.levers, false));
  if (explain) add_explanations(answer.levers, doc);
  for (const std::string& note : base.notes) doc.blocks.push_back(Paragraph{"notes", note, Paragraph::Style::detail});
  for (const std::string& note : base.prediction.assumptions) {
    doc.blocks.push_back(Paragraph{"assumptions", note, Paragraph::Style::detail});
  }
  return doc;
}

}  // namespace corridor::views
