// SPDX-License-Identifier: Apache-2.0
// The face of the reader of PyTorch profiler (Kineto) traces and other Chrome traces with GPU events.
//
// The file is streamed: memory grows with the GPU work it tells of, not with its size.
#pragma once

#include "corridor/profile/byte_source.h"
#include "corridor/profile/trace.h"

namespace corridor::profile {

/// Whether the first bytes of a file look like a Chrome trace.
[[nodiscard]] bool looks_like_kineto(std::string_view head);

/// Reads a trace. `file` names it in errors. Fails when there is no list of events; anything less is counted in
/// `Trace::stats`.
[[nodiscard]] Result<Trace> read_kineto(ByteSource& source, const std::string& file);

}  // namespace corridor::profile
