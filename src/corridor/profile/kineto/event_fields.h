// SPDX-License-Identifier: Apache-2.0
// What one event of a Kineto trace says: its few fixed fields, and of its arguments those that join or size something.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string_view>

#include "corridor/profile/kineto/category.h"

namespace corridor::profile::kineto {

/// One event, whatever the order of its fields. Texts point into the window.
struct Fields {
  std::string_view ph, cat, name;  ///< raw, without quotes
  double ts = 0, dur = 0;
  bool has_ts = false, has_dur = false;
  std::string_view pid, tid;  ///< as written: numbers, or texts in old traces
  std::uint64_t correlation = 0, external = 0;
  double device = -1, stream = -1, bytes = 0;
  bool from_graph = false;
  Category category = Category::other;                  ///< of `cat`
  std::string_view grid, block, dims, types, concrete;  ///< raw JSON
  bool damaged = false;                                 ///< not JSON: the whole window is refused

  [[nodiscard]] bool is_stretch() const { return ph.size() == 1 && ph[0] == 'X'; }
};

/// Reads one event of a window; stops, with the rest of it unread, once the event is known to be of no use. The keys
/// are compared where they stand, so the window must be readable `window_padding` bytes beyond its end.
void read_fields(simdjson::ondemand::object event, Fields& fields);

/// What events of a phase other than a stretch of time are called in the account of an import; empty when not known.
[[nodiscard]] std::string_view unused_phase(std::string_view ph);

/// Whether events of this category are counted and not kept.
[[nodiscard]] bool is_unused(Category category);

/// A number, or a text that is one ("42"); 0 for anything else.
[[nodiscard]] std::uint64_t id_of_token(std::string_view token);

}  // namespace corridor::profile::kineto
