// SPDX-License-Identifier: Apache-2.0
// One row a kind of loss or repair.
#include "corridor/views/import_table.h"

#include <string>

#include "corridor/views/fields.h"

namespace corridor::views {

using report::Table;
using report::Unit;

Table import_table(const char* key, const char* title, const std::vector<profile::ImportEvent>& events) {
  if (events.empty()) return {key, "", {}, {}, 0};  // said by its absence; JSON keeps the empty list
  Table table{key,
              title,
              {{"what", "what", Unit::none, true},
               {"count", "count", Unit::count},
               {"severity", "severity", Unit::none, true},
               {"example", "", Unit::none}},
              {},
              0};
  for (const profile::ImportEvent& e : events) {
    table.rows.push_back(
        {text(e.what), count(static_cast<double>(e.count)), text(std::string(name(e.severity))), text(e.example)});
  }
  return table;
}

}  // namespace corridor::views
