// SPDX-License-Identifier: Apache-2.0
// A copy of a Kineto trace that can be given away: times, shapes, kernels and operations stay; names of people,
// machines and files, environment, prompts and source code do not.
//
//   "name": "/home/ann/serve.py(42): generate"   →   "name": "removed"
//   "username": "ann"                            →   "username": "removed"
//
// What stays is chosen, not what goes: of texts only those of known fields are kept, and of these none that looks like
// a path or an address.
#pragma once

#include <string>

#include "corridor/profile/byte_sink.h"
#include "corridor/profile/byte_source.h"
#include "corridor/profile/private_words.h"

namespace corridor::profile {

/// Copies the trace of `source` to `sink`, one event a line, fields around the events last. Needs no more memory than a
/// few windows of the file. `file` names it in errors. Fails when there is no list of events, or when the sink does.
[[nodiscard]] Result<Redaction> redact_kineto(ByteSource& source, const ByteSink& sink, const std::string& file);

}  // namespace corridor::profile
