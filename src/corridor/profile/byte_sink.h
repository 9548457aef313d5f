// SPDX-License-Identifier: Apache-2.0
// Where a writer of a long text puts it, piece by piece, so that it needs no more memory than one piece.
#pragma once

#include <functional>
#include <string_view>

#include "corridor/base/result.h"

namespace corridor::profile {

/// Takes the next bytes; fails when they cannot be kept (a full disk), and the writer then stops.
using ByteSink = std::function<Result<int>(std::string_view bytes)>;

}  // namespace corridor::profile
