// SPDX-License-Identifier: Apache-2.0
// From rows to a trace: each GPU span finds its launch, its framework operation and its annotation.
#pragma once

#include "corridor/profile/kineto/events.h"

namespace corridor::profile::kineto {

/// Moves the events into `trace`. Impossible durations are mended and counted; operations that no GPU work belongs to
/// are left out (they say nothing about the GPU) when there is GPU work at all.
void join(RawEvents events, Trace& trace);

/// What stands around the events: devices, versions, flags. Text that is no JSON is counted as a loss.
void read_surroundings(const std::string& json, Trace& trace);

}  // namespace corridor::profile::kineto
