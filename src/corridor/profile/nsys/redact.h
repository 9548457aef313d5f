// SPDX-License-Identifier: Apache-2.0
// A copy of an Nsight Systems SQLite export that can be given away: kernels, calls, copies, steps and the GPU stay; the
// environment, the host's and the user's names, paths, processes and a user's own ranges do not.
//
// The copy is a new database: only known tables are made anew, value by value, so that nothing else can come along.
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/byte_sink.h"
#include "corridor/profile/private_words.h"

namespace corridor::profile {

/// Copies the database in `bytes` to `sink`. It is held in memory: about the size of the copy. `file` names it in
/// errors. Fails when the bytes are no SQLite database, hold no table of Nsight Systems, or when the sink does.
[[nodiscard]] Result<Redaction> redact_nsys_sqlite(std::string_view bytes, const ByteSink& sink,
                                                   const std::string& file);

}  // namespace corridor::profile
