// SPDX-License-Identifier: Apache-2.0
// Which texts of a recorded run may be given away. A text is only kept when it is known to be harmless.
#pragma once

#include <cstddef>
#include <string_view>

#include "corridor/profile/import_stats.h"

namespace corridor::profile {

/// What became of a copy that can be given away.
struct Redaction {
  std::size_t removed = 0;  ///< texts replaced by "removed"
  ImportStats stats;        ///< what was not copied at all: events that are no JSON, tables that are not needed
};

/// Whether a text holds what looks like a path, an address of a page or of a person. Escapes of JSON (\/, \u002f) are
/// seen through.
[[nodiscard]] bool looks_private(std::string_view text);

/// Numbers, lists of numbers, truth values: what scalars and shapes are written as.
[[nodiscard]] bool is_plain_value(std::string_view text);

/// Ranges that engines and profilers write themselves ("ProfilerStep#7"); all others are a user's own words.
[[nodiscard]] bool is_step_name(std::string_view text);

/// Names of processes and threads as the profiler makes them ("stream 7", "thread 42 (python)").
[[nodiscard]] bool is_track_name(std::string_view text);

/// Letters, digits and the characters of `more`.
[[nodiscard]] bool all_of_charset(std::string_view text, std::string_view more);

}  // namespace corridor::profile
