// SPDX-License-Identifier: Apache-2.0
// Fills the Document of `corridor tour`: a heading a chapter, a group a claim.
#include "corridor/views/tour_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"
#include "corridor/views/lab_view.h"

namespace corridor::views {
namespace {

using app::TourAnswer;
using app::TourClaim;
using app::TourFigure;
using app::TourVerdict;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Unit;
using report::Value;

Value number(const std::optional<TourFigure>& figure) {
  return figure ? Value{figure->value, Unit::none} : null_value();
}

/// "predicted 3.00, measured 2.94 (spread 1 %): holds".
std::string result_line(const TourClaim& c) {
  std::string line;
  if (c.predicted) line += (c.measured ? "predicted " : "") + c.predicted->text;
  if (c.measured) {
    line += (line.empty() ? "" : ", ") + std::string("measured ") + c.measured->text;
    if (c.spread > 0) line += " (spread " + report::print({c.spread, Unit::percent}) + ")";
  }
  return line + (line.empty() ? "" : ": ") + std::string(name(c.verdict));
}

FieldGroup claim_group(const TourClaim& c, std::size_t order, const std::string& chapter) {
  const std::string key = "claims." + c.id + ".";
  FieldGroup group{fmt::format("{}. {}", order, c.claim), {}};
  auto& f = group.fields;
  f.push_back({key + "order", "", count(static_cast<double>(order)), ""});
  f.push_back({key + "chapter", "", text(chapter), ""});
  f.push_back({key + "claim", "", text(c.claim), ""});
  f.push_back({key + "formula", "formula", text(c.formula), ""});
  f.push_back({key + "here", c.here.empty() ? "" : "here", c.here.empty() ? null_value() : text(c.here), ""});
  f.push_back({key + "predicted", "", number(c.predicted), ""});
  f.push_back({key + "measured", "", number(c.measured), ""});
  const TourFigure* any = c.measured ? &*c.measured : c.predicted ? &*c.predicted : nullptr;
  f.push_back({key + "unit", "", any == nullptr ? null_value() : text(any->unit), ""});
  f.push_back({key + "spread", "", c.measured ? Value{c.spread, Unit::none} : null_value(), ""});
  f.push_back({key + "how", "", text(c.how), ""});
  f.push_back({key + "verdict", "", text(std::string(name(c.verdict))), ""});
  f.push_back({key + "result", "result", text(result_line(c)), ""});
  f.push_back({key + "only_if", c.only_if.empty() ? "" : "true only if",
               c.only_if.empty() ? null_value() : text(c.only_if), ""});
  return group;
}

std::string verdict(const TourAnswer& answer) {
  const auto with = [&](TourVerdict v) {
    return std::count_if(answer.claims.begin(), answer.claims.end(),
                         [&](const TourClaim& c) { return c.verdict == v; });
  };
  const auto failed = with(TourVerdict::does_not_hold);
  std::string line =
      fmt::format("{} claims: {} measured here and hold, {} computed, {} not measured", answer.claims.size(),
                  with(TourVerdict::holds), with(TourVerdict::computed), with(TourVerdict::not_measured));
  if (failed > 0) line += fmt::format(", {} do not hold", failed);
  if (answer.took) line += fmt::format("; {} in all", units::print(*answer.took));
  return line + ".";
}

/// The keys stand there with null when nothing was measured.
void add_machine(Document& document, const TourAnswer& answer) {
  const measure::LabMachine* m = answer.machine ? &*answer.machine : nullptr;
  const auto label = [&](const char* words) { return std::string(m == nullptr ? "" : words); };
  const auto of = [&](const auto& get) { return m == nullptr ? null_value() : get(*m); };
  using Machine = measure::LabMachine;
  document.blocks.emplace_back(FieldGroup{
      "",
      {{"machine.name", label("this machine"), of([](const Machine& x) { return text(x.facts.cpu_name); }), ""},
       {"machine.threads", label("threads"), of([](const Machine& x) { return count(x.threads); }), ""},
       {"machine.memory_bandwidth_bytes_per_s", label("memory bandwidth"),
        of([](const Machine& x) { return value(x.bandwidth()); }), ""},
       {"machine.fp32_flop_per_s", label("fp32 peak"), of([](const Machine& x) { return value(x.fp32); }), ""},
       {"machine.ridge_flop_per_byte", label("ridge"),
        of([](const Machine& x) { return value(units::FlopsPerByte{x.ridge()}); }), ""}}});
}

void add_plots(Document& document, const TourAnswer& answer) {
  for (const measure::LabResult& result : answer.experiments) {
    std::string key = "curves." + result.name;
    std::replace(key.begin(), key.end(), '-', '_');
    if (result.name == "intensity" && answer.machine) {
      document.blocks.emplace_back(lab_roofline(*answer.machine, result, "roofline"));
    } else if (report::LinePlot plot = lab_plot(result, key); !plot.series.empty()) {
      document.blocks.emplace_back(std::move(plot));
    }
  }
}

}  // namespace

Document tour_document(const TourAnswer& answer, std::optional<std::size_t> chapter, bool plots) {
  Document document;
  document.schema = "corridor/tour/1";
  document.title = "The tour: why a language model is as fast as it is";
  if (!chapter) {
    document.blocks.emplace_back(Paragraph{"verdict", verdict(answer), Paragraph::Style::verdict});
    add_machine(document, answer);
  }
  for (std::size_t i = 0; i < answer.chapters.size(); ++i) {
    if (chapter && *chapter != i + 1) continue;
    const std::string title = fmt::format("Chapter {} of {}: {}", i + 1, answer.chapters.size(), answer.chapters[i]);
    if (chapter) document.title = title;
    if (!chapter) document.blocks.emplace_back(Paragraph{"chapters", title, Paragraph::Style::plain});
    for (std::size_t k = 0; k < answer.claims.size(); ++k) {
      if (answer.claims[k].chapter == i) {
        document.blocks.emplace_back(claim_group(answer.claims[k], k + 1, answer.chapters[i]));
      }
    }
  }
  if (plots) add_plots(document, answer);
  for (const std::string& note : answer.notes) {
    document.blocks.emplace_back(Paragraph{"notes", note, Paragraph::Style::detail});
  }
  return document;
}

}  // namespace corridor::views
