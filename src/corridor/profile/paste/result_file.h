// SPDX-License-Identifier: Apache-2.0
// Reads whole files of results, as benchmark tools save them: JSON objects (one, a list, one a line), and the CSV and
// SQL of llama-bench. The file is streamed: per-request lists and generated texts cost no memory.
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/byte_source.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {

/// Whether the first bytes of a file are of such a file, whatever its name.
[[nodiscard]] bool looks_like_results(std::string_view head);

/// Reads all records of the file. What is no result, is damaged or cut off is counted in `notes`; a last record that is
/// cut off gives what stood before the cut. Fails when nothing could be read at all, in one line.
[[nodiscard]] Result<PastedRun> read_result_file(ByteSource& source, const std::string& file);

}  // namespace corridor::profile
