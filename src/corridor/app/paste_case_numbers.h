// SPDX-License-Identifier: Apache-2.0
// What single numbers of a paste say together, before they become a case.
#pragma once

#include <optional>
#include <string>

#include "corridor/profile/paste/pasted_run.h"

namespace corridor::app {

/// The engine behind a result, as `--engine` takes it; empty for clients that speak to any server.
[[nodiscard]] std::string engine_of(profile::ResultKind kind);

/// Mean number of requests in flight, from the block's own numbers (Little's law); empty when they do not tell.
[[nodiscard]] std::optional<double> requests_in_flight(const profile::ResultBlock& block);

/// The log line in which the engine estimates the most bytes a second; null when there is none.
[[nodiscard]] const profile::LogFact* busiest_estimate(const profile::PastedRun& paste);

}  // namespace corridor::app
