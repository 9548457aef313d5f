// SPDX-License-Identifier: Apache-2.0
// Instruction sets the experiments' loops are compiled for: one old, one of each width, none whose vectors have no
// size.
#pragma once

// Arrays of vectors need a size at compile time; the sets left out here have an equal neighbour for these loops.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSE4 | HWY_AVX3_DL)
