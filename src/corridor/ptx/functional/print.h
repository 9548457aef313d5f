// SPDX-License-Identifier: Apache-2.0
// printf and assert of kernels: the calls vprintf and __assertfail.
#pragma once

#include "corridor/ptx/functional/op.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {

void print_formatted(Exec& x, const Call& call);
void report_assertion(Exec& x, const Call& call);

}  // namespace corridor::ptx
