// SPDX-License-Identifier: Apache-2.0
// For tests: runs a few lines of PTX on each thread, with three 64-bit inputs a thread and one 64-bit output.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/syntax/parse.h"

namespace corridor::ptx::testing {

inline RunDevice small_device() {
  RunDevice device;
  device.memory.sm_count = 4;
  device.memory.l1_bytes = 64 << 10;
  device.memory.l2_bytes = 1 << 20;
  device.blocks_per_sm = 2;
  return device;
}

struct Ran {
  RunResult result;
  std::vector<std::uint64_t> out;
  std::string error;
};

/// Runs a kernel with parameters (in, out).
inline Ran run_kernel(const Program& program, const std::string& kernel, const std::vector<std::uint64_t>& in,
                      Dim3 grid, Dim3 block, RunOptions options = {}, std::uint64_t dynamic_shared = 0) {
  Ran ran;
  DeviceMemory memory(std::uint64_t{1} << 28);
  const std::uint64_t threads = grid.count() * block.count();
  const auto a = memory.allocate(std::max<std::size_t>(in.size() * 8, 8), "in");
  const auto d = memory.allocate(threads * 8, "out");
  (void)memory.write(*a, std::as_bytes(std::span(in)));
  ran.out.assign(threads, 0);
  Launch launch;
  launch.kernel = kernel;
  launch.grid = grid;
  launch.block = block;
  launch.dynamic_shared_bytes = dynamic_shared;
  launch.add_argument(*a);
  launch.add_argument(*d);
  auto result = run(program, launch, memory, small_device(), options);
  if (!result) {
    ran.error = result.error().line();
    return ran;
  }
  ran.result = std::move(*result);
  (void)memory.read(*d, std::as_writable_bytes(std::span(ran.out)));
  return ran;
}

/// Runs kernel "k" of a whole module.
inline Ran run_module(const std::string& text, const std::vector<std::uint64_t>& in, Dim3 grid, Dim3 block,
                      RunOptions options = {}, std::uint64_t dynamic_shared = 0) {
  Ran ran;
  auto module = parse_module(text, "test.ptx");
  if (!module) {
    ran.error = module.error().line();
    return ran;
  }
  auto program = Program::compile(std::move(*module));
  if (!program) {
    ran.error = program.error().line();
    return ran;
  }
  return run_kernel(*program, "k", in, grid, block, options, dynamic_shared);
}

/// A kernel whose threads read %a, %b, %c (64 bits each; the low 32 also as %ra, %rb, %rc, the low 16 as %ha, %hb, %hc)
/// and write %d.
inline std::string kernel_around(const std::string& body, const std::string& module_level = {}) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
{1}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .pred %p<16>;
  .reg .b16 %h<16>, %ha, %hb, %hc;
  .reg .b32 %r<64>, %ra, %rb, %rc;
  .reg .b64 %q<32>, %a, %b, %c, %d, %in, %out;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %r60, %ctaid.x;
  mov.u32 %r61, %ntid.x;
  mov.u32 %r62, %tid.x;
  mad.lo.u32 %r60, %r60, %r61, %r62;
  mul.wide.u32 %q30, %r60, 24;
  add.u64 %in, %in, %q30;
  ld.global.u64 %a, [%in];
  ld.global.u64 %b, [%in+8];
  ld.global.u64 %c, [%in+16];
  cvt.u32.u64 %ra, %a;
  cvt.u32.u64 %rb, %b;
  cvt.u32.u64 %rc, %c;
  cvt.u16.u64 %ha, %a;
  cvt.u16.u64 %hb, %b;
  cvt.u16.u64 %hc, %c;
  mov.u64 %d, 0;
{0}
  mul.wide.u32 %q30, %r60, 8;
  add.u64 %out, %out, %q30;
  st.global.u64 [%out], %d;
  ret;
}}
)",
                     body, module_level);
}

/// Runs `body` on one thread for each three inputs, 32 × warps threads a block; the inputs are filled up with zeros.
inline Ran run_body(const std::string& body, std::vector<std::uint64_t> in, std::uint32_t block = 128,
                    RunOptions options = {}, const std::string& module_level = {}) {
  const std::size_t threads = (in.size() / 3 + block - 1) / block * block;
  in.resize(std::max<std::size_t>(threads, block) * 3);
  return run_module(kernel_around(body, module_level), in, Dim3{static_cast<std::uint32_t>(in.size() / 3 / block)},
                    Dim3{block}, options);
}

inline std::string faults_of(const Ran& ran) {
  std::string out = ran.error;
  for (const Fault& f : ran.result.faults) out += f.message + "\n";
  return out;
}

}  // namespace corridor::ptx::testing
