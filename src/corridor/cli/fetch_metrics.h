// SPDX-License-Identifier: Apache-2.0
// Fetches the metrics page of a server that runs now: once, or twice with a pause between.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "corridor/base/result.h"

namespace corridor::cli {

struct FetchedPages {
  std::string first;
  std::optional<std::string> second;
  std::optional<double> seconds;  ///< from the answer of the first request to that of the second, by the clock
};

struct FetchLimits {
  double connect_s = 5, read_s = 10;  ///< waits at most so long for a connection and for the next bytes
  double whole_s = 60;                ///< and for the whole page
  std::size_t most_bytes = std::size_t{64} << 20U;
};

/// "http://…" and "https://…".
[[nodiscard]] bool is_url(std::string_view word);

/// Gets the page at `url` (http:// alone; no path means /metrics) and, with `pause_s`, the same page that much later.
/// Fails in one line when there is no server, no page, or a page that is too large or too slow.
[[nodiscard]] Result<FetchedPages> fetch_metrics(const std::string& url, std::optional<double> pause_s,
                                                 const FetchLimits& limits = {});

}  // namespace corridor::cli
