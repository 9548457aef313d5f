// SPDX-License-Identifier: Apache-2.0
// The page inside the bytes of an HTTP/1 answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "corridor/base/result.h"

namespace corridor::profile {

struct HttpPage {
  int status = 0;        ///< 200, 404 …
  std::string location;  ///< where a redirect points; else empty
  std::string body;      ///< bytes of the page, its chunks joined
};

/// Reads the answer received so far. Nothing while some of it is still to come; with `closed` (the server has hung up)
/// what is missing then is an error, as is what was never HTTP. Never looks past `bytes`.
[[nodiscard]] Result<std::optional<HttpPage>> parse_http_page(std::string_view bytes, bool closed);

}  // namespace corridor::profile
