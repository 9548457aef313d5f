// SPDX-License-Identifier: Apache-2.0
// The answer of `corridor sweep` as a Document.
#include "corridor/views/sweep_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using app::AxisKind;
using app::SweepAnswer;
using app::SweepAxis;
using app::SweepFlip;
using app::SweepLine;
using app::SweepPoint;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using units::print_count;

constexpr std::size_t terminal_points = 40;
constexpr std::size_t terminal_flips = 12;
constexpr std::size_t told_flips = 4;  // sentences of the verdict
constexpr std::size_t told_lines = 6;
constexpr std::size_t most_listed_flips = 10'000;

std::string whole(double x) {
  return fmt::format("{:.0f}", x);
}

const SweepAxis& along(const SweepAnswer& a) {
  return a.axes[a.along];
}

/// " with device h200", or nothing when there is one axis.
std::string at_other(const SweepAnswer& a, std::size_t axis, const std::array<double, 2>& at) {
  if (a.axes.size() < 2) return "";
  const SweepAxis& other = a.axes[1 - axis];
  return fmt::format(" at {} {}", name(other.kind), other.label(at[1 - axis]));
}

std::string flip_sentence(const SweepAnswer& a, const SweepFlip& flip) {
  const SweepAxis& axis = a.axes[flip.axis];
  const std::string before = axis.label(flip.before[flip.axis]);
  const std::string after = axis.label(flip.after[flip.axis]);
  const std::string where = at_other(a, flip.axis, flip.before);
  if (flip.of == "memory") {
    const bool ends = flip.from == "fits";
    return fmt::format("It {} {} {}{}; {} {}.", ends ? "fits up to" : "does not fit at", name(axis.kind), before, where,
                       ends ? "not at" : "it does at", after);
  }
  const char* what = flip.of == "decode" ? "Decode" : "The prompt";
  if (!axis.has_numbers()) {
    return fmt::format("{} is {}-bound on {} {} and {}-bound on {}{}.", what, flip.from, name(axis.kind), before,
                       flip.to, after, where);
  }
  return fmt::format("{} leaves the {} wall for the {} wall between {} {} and {}{}.", what, flip.from, flip.to,
                     name(axis.kind), before, after, where);
}

void say(Document& doc, const std::string& text, Paragraph::Style style = Paragraph::Style::plain) {
  doc.blocks.push_back(Paragraph{"verdict", text, style});
}

std::string knee_sentence(const SweepAnswer& a, const SweepLine& line) {
  const std::string axis(name(along(a).kind));
  std::string where;
  if (a.lines.size() > 1) where = at_other(a, a.along, line.points.front().at);
  if (!line.knee) {
    return fmt::format("No knee up to {} {}{}: each doubling still gives at least {} times the tokens a second.", axis,
                       whole(along(a).values.back()), where, app::knee_gain);
  }
  return fmt::format("Knee at {} {}{}: from there doubling it gives less than {} times the tokens a second.", axis,
                     whole(*line.knee), where, app::knee_gain);
}

const SweepPoint* first_possible(const SweepLine& line) {
  const auto found =
      std::find_if(line.points.begin(), line.points.end(), [](const SweepPoint& p) { return p.error.empty(); });
  return found == line.points.end() ? nullptr : &*found;
}

void say_break_even(const SweepAnswer& a, Document& doc) {
  const SweepPoint* point = first_possible(a.lines.front());
  if (point == nullptr || a.lines.size() > 1) return;
  const std::string only = point->break_even_weights_only
                               ? fmt::format(" (weights only: {})", print_count(*point->break_even_weights_only))
                               : "";
  say(doc, point->break_even
               ? fmt::format("Break-even batch with the KV cache counted: {}{}.", print_count(*point->break_even), only)
               : fmt::format("No batch reaches the ridge once the KV cache is counted{}.", only));
}

void say_context(const SweepAnswer& a, Document& doc) {
  for (const SweepLine& line : a.lines) {
    const std::string where = a.lines.size() > 1 ? at_other(a, a.along, line.points.front().at) : "";
    say(doc, line.kv_overtakes
                 ? fmt::format("A step reads more KV bytes than weight bytes from context {}{} on.",
                               whole(*line.kv_overtakes), where)
                 : fmt::format("A step reads more weight bytes than KV bytes at every context{}.", where));
    if (&line - a.lines.data() + 1 >= static_cast<std::ptrdiff_t>(told_lines)) return;
  }
}

void say_extremes(const SweepAnswer& a, Document& doc) {
  const SweepPoint* best = nullptr;
  for (const SweepLine& line : a.lines) {
    for (const SweepPoint& p : line.points) {
      if (!p.error.empty() || !p.fits) continue;
      if (best == nullptr || p.total(p.step.mid) > best->total(best->step.mid)) best = &p;
    }
  }
  if (best == nullptr) {
    say(doc, "No point fits in memory; the speeds below assume that it did.", Paragraph::Style::warning);
    return;
  }
  std::string where;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    where += fmt::format("{}{} {}", i > 0 ? ", " : "", name(a.axes[i].kind), a.axes[i].label(best->at[i]));
  }
  say(doc, fmt::format("Most tokens a second of the points that fit: {} at {} ({} for each user).",
                       report::print(tokens_per_second(best->total(best->step.mid))), where,
                       report::print(tokens_per_second(best->per_user(best->step.mid)))));
}

/// Names have no order, so the ones that do not fit are listed.
void say_names_that_do_not_fit(const SweepAnswer& a, Document& doc) {
  if (a.axes.size() > 1 || along(a).has_numbers()) return;
  std::string list;
  for (const SweepPoint& point : a.lines.front().points) {
    if (!point.error.empty() || point.fits) continue;
    list += (list.empty() ? "" : ", ") + along(a).label(point.at[a.along]);
  }
  if (!list.empty()) say(doc, fmt::format("Does not fit with {} {}.", name(along(a).kind), list));
}

void say_flips(const SweepAnswer& a, Document& doc) {
  std::size_t told = 0;
  for (const SweepFlip& flip : a.flips) {
    const bool told_as_list = flip.of == "memory" && !a.axes[flip.axis].has_numbers();
    if (flip.of == "prefill" || told_as_list) continue;
    if (++told <= told_flips) say(doc, flip_sentence(a, flip));
  }
  if (told > told_flips) say(doc, fmt::format("{} more changes stand in the table.", told - told_flips));
  say_names_that_do_not_fit(a, doc);
  const SweepPoint* point = first_possible(a.lines.front());
  const bool walls = std::any_of(a.flips.begin(), a.flips.end(), [](const SweepFlip& f) { return f.of == "decode"; });
  if (!walls && point != nullptr) {
    say(doc, fmt::format("The decode wall is {} at every point.", roofline::name(point->wall)));
  }
}

void add_verdict(const SweepAnswer& a, Document& doc) {
  const AxisKind kind = along(a).kind;
  if (kind == AxisKind::batch || kind == AxisKind::concurrency) {
    for (std::size_t i = 0; i < std::min(told_lines, a.lines.size()); ++i) {
      say(doc, knee_sentence(a, a.lines[i]), i == 0 ? Paragraph::Style::verdict : Paragraph::Style::plain);
    }
    say_break_even(a, doc);
  }
  if (kind == AxisKind::context) say_context(a, doc);
  say_extremes(a, doc);
  say_flips(a, doc);
}

Table points_table(const SweepAnswer& a) {
  Table table;
  table.key = "points";
  table.title = "Points: step, tokens a second, first token are what a good engine reaches";
  for (const SweepAxis& axis : a.axes) {
    const std::string axis_name(name(axis.kind));
    table.columns.push_back({axis_name, axis_name, axis.has_numbers() ? Unit::count : Unit::none, !axis.has_numbers()});
  }
  const std::vector<SweepColumn> columns = sweep_columns(a);
  for (const SweepColumn& column : columns) table.columns.push_back(column.head);
  for (const SweepLine& line : a.lines) {
    for (const SweepPoint& point : line.points) {
      if (table.rows.size() == most_listed_points) break;
      std::vector<report::Value> row;
      row.reserve(table.columns.size());
      for (std::size_t i = 0; i < a.axes.size(); ++i) row.push_back(axis_value(a.axes[i], point.at[i]));
      for (const SweepColumn& column : columns) {
        const bool known = point.error.empty() || column.head.key == "error" || column.head.key == "remark";
        row.push_back(known ? column.value(point) : null_value());
      }
      table.rows.push_back(std::move(row));
    }
  }
  table.terminal_rows = terminal_points;
  return table;
}

Table flips_table(const SweepAnswer& a) {
  Table table;
  table.key = "flips";
  table.title = "Where a wall, or the fit, changes";
  table.columns = {
      {"axis", "along", Unit::none, true},      {"of", "of", Unit::none, true},
      {"from", "from", Unit::none, true},       {"to", "to", Unit::none, true},
      {"before", "last at", Unit::none, false}, {"after", "first at", Unit::none, false},
      {"asked_before", "", Unit::none, false},  {"asked_after", "", Unit::none, false},
      {"other_axis", "", Unit::none, true},     {"other", a.axes.size() > 1 ? "at" : "", Unit::none, true}};
  for (const SweepFlip& flip : a.flips) {
    if (table.rows.size() == most_listed_flips) break;
    const SweepAxis& axis = a.axes[flip.axis];
    const SweepAxis* other = a.axes.size() > 1 ? &a.axes[1 - flip.axis] : nullptr;
    table.rows.push_back({text(std::string(name(axis.kind))), text(flip.of), text(flip.from), text(flip.to),
                          axis_value(axis, flip.before[flip.axis]), axis_value(axis, flip.after[flip.axis]),
                          axis_value(axis, flip.asked_before), axis_value(axis, flip.asked_after),
                          other != nullptr ? text(std::string(name(other->kind))) : null_value(),
                          other != nullptr ? axis_value(*other, flip.before[1 - flip.axis]) : null_value()});
  }
  table.terminal_rows = terminal_flips;
  return table;
}

Table lines_table(const SweepAnswer& a) {
  const bool two = a.axes.size() > 1;
  const std::string other = two ? std::string(name(a.axes[1 - a.along].kind)) : "";
  Table table;
  table.key = "lines";
  table.title = "Along " + std::string(name(along(a).kind));
  const bool batch = along(a).kind == AxisKind::batch || along(a).kind == AxisKind::concurrency;
  const auto shown = [&](const char* label) { return two ? label : ""; };
  table.columns = {{"at", shown(other.c_str()), Unit::none, true},
                   {"knee", batch ? shown("knee") : "", Unit::count, false},
                   {"break_even_batch", shown("break-even batch"), Unit::count, false},
                   {"break_even_batch_weights_only", shown("weights only"), Unit::count, false},
                   {"kv_overtakes_weights_from_context",
                    along(a).kind == AxisKind::context ? shown("KV ahead from context") : "", Unit::count, false}};
  for (const SweepLine& line : a.lines) {
    const SweepPoint* point = first_possible(line);
    table.rows.push_back({two ? axis_value(a.axes[1 - a.along], line.other) : null_value(), maybe(line.knee, count),
                          point != nullptr ? maybe(point->break_even, count) : null_value(),
                          point != nullptr ? maybe(point->break_even_weights_only, count) : null_value(),
                          maybe(line.kv_overtakes, count)});
  }
  table.terminal_rows = terminal_flips;
  return table;
}

Table axes_table(const SweepAnswer& a) {
  Table table;
  table.key = "axes";
  table.columns = {{"name", "", Unit::none, true},
                   {"values", "", Unit::count, false},
                   {"first", "", Unit::none, true},
                   {"last", "", Unit::none, true}};
  for (const SweepAxis& axis : a.axes) {
    table.rows.push_back({text(std::string(name(axis.kind))), count(static_cast<double>(axis.values.size())),
                          axis_value(axis, axis.values.front()), axis_value(axis, axis.values.back())});
  }
  return table;
}

FieldGroup case_group(const SweepAnswer& a) {
  const SweepLine& line = a.lines.front();
  const bool one = a.lines.size() == 1;
  const SweepPoint* point = first_possible(line);
  const bool batch_axis = along(a).kind == AxisKind::batch || along(a).kind == AxisKind::concurrency;
  const bool even = one && batch_axis && point != nullptr;
  FieldGroup group{"Case", {}};
  auto& f = group.fields;
  f.push_back({"model.name", "model", text(a.first.model.name), ""});
  f.push_back({"model.id", "", text(a.first.model.id), ""});
  f.push_back({"model.weights", "", text(a.first.weights_name), ""});
  f.push_back({"device.id", "device", text(a.first.device.id), a.axes.size() > 1 ? "of the first point" : ""});
  f.push_back({"device.name", "", text(a.first.device.name), ""});
  f.push_back({"engine", "engine", text(a.first.engine.id), ""});
  f.push_back({"point_count", "points", count(static_cast<double>(a.point_count())), ""});
  f.push_back({"knee", "", one ? maybe(line.knee, count) : null_value(), ""});
  f.push_back({"knee_gain", "", {app::knee_gain, Unit::none}, ""});
  f.push_back({"break_even_batch", "", even ? maybe(point->break_even, count) : null_value(), ""});
  f.push_back(
      {"break_even_batch_weights_only", "", even ? maybe(point->break_even_weights_only, count) : null_value(), ""});
  f.push_back({"kv_overtakes_weights_from_context", "", one ? maybe(line.kv_overtakes, tokens) : null_value(), ""});
  f.push_back({"flip_count", "", count(static_cast<double>(a.flips.size())), ""});
  return group;
}

void add_assumptions(const SweepAnswer& a, Document& doc) {
  Table defaults;
  defaults.key = "defaults";
  defaults.title = "Not given, so assumed";
  defaults.columns = {
      {"name", "input", Unit::none, true}, {"value", "taken as", Unit::none, true}, {"why", "why", Unit::none, true}};
  for (const app::DefaultUsed& used : a.first.defaults) {
    defaults.rows.push_back({text(used.name), text(used.value), text(used.why)});
  }
  if (!defaults.rows.empty()) doc.blocks.push_back(defaults);
  for (const std::string& note : a.first.notes)
    doc.blocks.push_back(Paragraph{"notes", note, Paragraph::Style::detail});
  for (const std::string& note : a.first.prediction.assumptions) {
    doc.blocks.push_back(Paragraph{"assumptions", note, Paragraph::Style::detail});
  }
}

void add_explanation(Document& doc) {
  for (const char* text :
       {"total tokens a second = sequences running at once × tokens of one sequence a step ÷ expected time of a step",
        "knee = smallest batch b with total(2b) < 1.5 · total(b): tried at powers of two, then by halving the interval",
        "break-even batch = batch at which peak arithmetic and peak bandwidth take the same time (corridor predict)",
        "a flip between two asked values is halved until two whole numbers that follow one another are left",
        "points that do not fit in memory are kept; their speeds assume that they did fit"}) {
    doc.blocks.push_back(Paragraph{"explain", text, Paragraph::Style::detail});
  }
}

std::string title_of(const SweepAnswer& a) {
  std::string axes;
  bool device = false;
  bool weights = false;
  for (const SweepAxis& axis : a.axes) {
    axes += (axes.empty() ? "" : " and ") + std::string(name(axis.kind));
    device = device || axis.kind == AxisKind::device;
    weights = weights || axis.kind == AxisKind::weights;
  }
  return a.first.model.name + (weights ? "" : ", " + a.first.weights_name) +
         (device ? "" : ", on " + a.first.device.name) + ", over " + axes;
}

}  // namespace

Document sweep_view(const SweepAnswer& a, bool explain) {
  Document doc;
  doc.schema = "corridor/sweep/1";
  doc.title = title_of(a);
  add_verdict(a, doc);
  for (report::LinePlot& plot : sweep_plots(a)) doc.blocks.push_back(std::move(plot));
  doc.blocks.push_back(points_table(a));
  if (a.point_count() > most_listed_points) {
    doc.blocks.push_back(Paragraph{"warnings",
                                   fmt::format("only {} of {} points are listed; --csv FILE writes all of them",
                                               most_listed_points, a.point_count()),
                                   Paragraph::Style::warning});
  }
  Table flips = flips_table(a);
  if (flips.rows.empty()) flips.columns = {};
  doc.blocks.push_back(std::move(flips));
  doc.blocks.push_back(lines_table(a));
  doc.blocks.push_back(axes_table(a));
  doc.blocks.push_back(case_group(a));
  if (explain) add_explanation(doc);
  add_assumptions(a, doc);
  return doc;
}

}  // namespace corridor::views
