// SPDX-License-Identifier: Apache-2.0
// One row a finding.
#include "corridor/views/findings_table.h"

#include <algorithm>

#include "corridor/views/fields.h"

namespace corridor::views {

report::Table findings_table(const std::vector<diagnose::Finding>& findings) {
  using report::Unit;
  constexpr std::size_t rows_on_terminal = 5;
  report::Table table{"findings",
                      "What costs time",
                      {{"title", "finding", Unit::none, true},
                       {"lost_s", "lost", Unit::seconds},
                       {"gain_s", "", Unit::seconds},
                       {"gain_tok_s", "", Unit::tokens_per_second},
                       {"evidence", "evidence", Unit::none, true},
                       {"cause", "", Unit::none},
                       {"lever", "change", Unit::none, true}},
                      {},
                      rows_on_terminal};
  const auto any = [&](auto tells) { return std::any_of(findings.begin(), findings.end(), tells); };
  if (any([](const diagnose::Finding& f) { return f.gain_s < f.lost_s; })) table.columns[2].label = "gain at most";
  if (any([](const diagnose::Finding& f) { return f.gain_tok_s.has_value(); })) table.columns[3].label = "tok/s";
  const auto seconds = [](double s) { return report::Value{s, Unit::seconds}; };
  for (const diagnose::Finding& f : findings) {
    table.rows.push_back({text(f.title), seconds(f.lost_s), seconds(f.gain_s), maybe(f.gain_tok_s, tokens_per_second),
                          text(f.evidence), text(f.cause), text(f.lever)});
  }
  return table;
}

}  // namespace corridor::views
