// SPDX-License-Identifier: Apache-2.0
// CounterAnswer → Document "corridor/diagnosis/1": the verdict and the largest loss first, then each kernel in the
// hierarchical roofline.
//
//   kernel                  time   share   DRAM    L2    L1  arithmetic  bound
//   fmha_fwd_loop_kernel  7.78 µs   11 %  0.5 %  1.7 %  1.0 %       0.3 %  latency
#pragma once

#include "corridor/app/counter_case.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// `explain` adds how each number was made.
[[nodiscard]] report::Document counter_view(const app::CounterAnswer& answer, bool explain = false);

}  // namespace corridor::views
