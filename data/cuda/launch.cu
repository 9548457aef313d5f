// SPDX-License-Identifier: Apache-2.0
// The cost of starting a kernel: one that does nothing.

extern "C" __global__ void empty() {}
