// SPDX-License-Identifier: Apache-2.0
// Counts by words; the lists stay short because each kind of event has one text.
#include "corridor/profile/import_stats.h"

#include <algorithm>

namespace corridor::profile {
namespace {

constexpr std::size_t longest_example = 120;  // bytes: an example is a hint, not a copy of the file
constexpr std::size_t most_kinds = 100;       // beyond it one line holds the rest

/// Readable whatever the file held: cut between two characters, control characters and broken UTF-8 left out.
std::string readable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size() && out.size() < longest_example;) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80U   ? 1
                               : lead < 0xC2U ? 0
                               : lead < 0xE0U ? 2
                               : lead < 0xF0U ? 3
                               : lead < 0xF5U ? 4
                                              : 0;
    bool whole = length > 0 && i + length <= text.size();
    for (std::size_t j = 1; whole && j < length; ++j)
      whole = (static_cast<unsigned char>(text[i + j]) & 0xC0U) == 0x80U;
    if (whole && (lead >= 0x20U || lead == '\t') && lead != 0x7FU) {
      out += length == 1 && lead == '\t' ? std::string_view(" ") : text.substr(i, length);
    }
    i += whole ? length : 1;
  }
  return out;
}

ImportEvent* find_kind(std::vector<ImportEvent>& events, std::string_view what) {
  const auto at = std::find_if(events.begin(), events.end(), [&](const ImportEvent& e) { return e.what == what; });
  return at == events.end() ? nullptr : &*at;
}

void add(std::vector<ImportEvent>& events, std::string_view what, Severity severity, std::string_view example,
         std::size_t count) {
  ImportEvent* known = find_kind(events, what);
  if (known == nullptr) {
    const std::string words = readable(what);
    known = find_kind(events, words);
    if (known == nullptr && events.size() == most_kinds) known = &events.back();
    if (known == nullptr) {
      const bool last = events.size() + 1 == most_kinds;
      events.push_back({last ? "more kinds than are listed" : words, 0, severity, readable(example)});
      known = &events.back();
    }
  }
  known->count += count;
  known->severity = std::max(known->severity, severity);
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
