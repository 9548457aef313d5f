// SPDX-License-Identifier: Apache-2.0
// A time-line of one SM: how much of it issued, what warps waited for, and a picture of every warp.
#pragma once

#include <string>

#include "corridor/ptx/timing/timeline.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Appends two blocks with JSON keys below `key`; pictures of one document need keys of their own. An empty time-line
/// appends a sentence that says so.
void append_timeline(report::Document& document, const ptx::Timeline& timeline, const std::string& key = "timeline");

}  // namespace corridor::views
