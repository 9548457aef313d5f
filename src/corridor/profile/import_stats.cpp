// SPDX-License-Identifier: Apache-2.0
// Counts by words; the lists stay short because each kind of event has one text.
#include "corridor/profile/import_stats.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_example = 120;  // bytes: an example is a hint, not a copy of the file

void add(std::vector<ImportEvent>& events, std::string_view what, Severity severity, std::string_view example,
         std::size_t count) {
  for (ImportEvent& event : events) {
    if (event.what != what) continue;
    event.count += count;
    return;
  }
  events.push_back({std::string(what), count, severity, std::string(example.substr(0, longest_example))});
}

}  // namespace

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::loss:
      return "loss";
  }
  return "";
}

void ImportStats::drop(std::string_view what, Severity severity, std::string_view example, std::size_t count) {
  add(dropped, what, severity, example, count);
}

void ImportStats::repair(std::string_view what, Severity severity, std::string_view example, std::size_t count) {
  add(repaired, what, severity, example, count);
}

void ImportStats::merge(const ImportStats& other) {
  for (const ImportEvent& e : other.dropped) add(dropped, e.what, e.severity, e.example, e.count);
  for (const ImportEvent& e : other.repaired) add(repaired, e.what, e.severity, e.example, e.count);
}

std::size_t ImportStats::dropped_count() const {
  std::size_t count = 0;
  for (const ImportEvent& e : dropped) count += e.count;
  return count;
}

}  // namespace corridor::profile
