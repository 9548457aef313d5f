// SPDX-License-Identifier: Apache-2.0
// This machine and what it could reach, on less than one screen.
//
//   This machine: AMD Ryzen 9 9950X 16-Core Processor, 16 cores, 64.4 GB
//     memory bandwidth  71.2 GB/s  measured now
//     ridge point, fp32 41.3 FLOP/B
//
//   Plain dense models, one user, weights only (llama.cpp)
//     model  weights  limit       expected    memory
//     8B     bf16     4.45 tok/s  4.02 tok/s  16.7 GB
#pragma once

#include "corridor/app/welcome.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Schema corridor/machine/1; at most 24 lines on a terminal of 80 columns.
[[nodiscard]] report::Document welcome_view(const app::WelcomeAnswer& answer);

}  // namespace corridor::views
