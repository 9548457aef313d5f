// SPDX-License-Identifier: Apache-2.0
// What changed between two recorded runs as blocks of a Document.
#include "corridor/views/trace_comparison_view.h"

#include "corridor/views/fields.h"

namespace corridor::views {

void add_comparison(const app::TraceComparison& c, report::Document& doc) {
  for (const std::string& caveat : c.caveats) {
    doc.blocks.emplace_back(report::Paragraph{"warnings", caveat, report::Paragraph::Style::warning});
  }
  report::FieldGroup group{"Against " + c.against_file, {}};
  const std::string of = c.per_step ? "one step" : "the whole span";
  auto& f = group.fields;
  f.push_back({"against.file", "", text(c.against_file), ""});
  f.push_back({"against.per_step", "", flag(c.per_step), ""});
  f.push_back({"against.this_span_s", of + ", this run", value(units::Seconds{c.this_span_s}), ""});
  f.push_back({"against.span_s", of + ", the other", value(units::Seconds{c.against_span_s}), ""});
  f.push_back({"against.this_busy_fraction", "busy share, this run", share(c.this_busy), ""});
  f.push_back({"against.busy_fraction", "busy share, the other", share(c.against_busy), ""});
  doc.blocks.emplace_back(std::move(group));
  report::Table table{"against.changes",
                      "What changed, the largest change first",
                      {{"part", "part", report::Unit::none, true},
                       {"this_s", "this run", report::Unit::seconds},
                       {"against_s", "the other", report::Unit::seconds},
                       {"change_s", "change", report::Unit::seconds},
                       {"why", "by", report::Unit::none, true}},
                      {},
                      0};
  for (const app::ChangedPart& p : c.parts) {
    table.rows.push_back({text(p.part), value(units::Seconds{p.this_s}), value(units::Seconds{p.against_s}),
                          value(units::Seconds{p.change_s()}), text(p.why)});
  }
  doc.blocks.emplace_back(std::move(table));
}

}  // namespace corridor::views
