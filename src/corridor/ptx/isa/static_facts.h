// SPDX-License-Identifier: Apache-2.0
// What can be said of a function without running it: registers, shared memory, its mix of instructions, and which of
// them are not simulated.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "corridor/ptx/isa/op_info.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Counts are of the text, each instruction once, however often it runs.
struct StaticFacts {
  std::string name;
  /// An estimate: PTX has any number of registers, only the assembler knows how many it needs. The most that are live
  /// at one point, corrected by what compiled kernels showed (docs/simulated_gpu.md), in steps of 8, never more than
  /// 255.
  std::uint32_t registers = 0;
  std::uint32_t live_registers = 0;  ///< the same without the correction
  std::uint64_t static_shared_bytes = 0;
  bool uses_dynamic_shared = false;  ///< an extern array in shared memory
  std::uint64_t local_bytes = 0, parameter_bytes = 0;
  std::uint64_t instructions = 0;
  std::map<std::string, std::uint64_t> by_opcode;
  std::array<std::uint64_t, 16> by_pipe{};  ///< indexed by Pipe
  std::array<std::uint64_t, 4> by_tier{};
  /// An instruction that is parsed and not executed.
  struct Refused {
    std::string instruction;  ///< "wgmma.mma_async.sync.aligned…"
    std::uint32_t line = 0;
    std::string why;
  };
  std::vector<Refused> refused;
  std::uint64_t barriers = 0;
  std::uint64_t branches = 0;      ///< of them may_diverge can part a warp
  std::uint64_t may_diverge = 0;   ///< branches whose condition depends on the lane or on memory
  double issue_slots = 0;          ///< estimated machine instructions
  std::uint64_t flops = 0;         ///< of one thread, or of one warp for tensor operations, each line once
  std::uint64_t global_bytes = 0;  ///< that one thread moves, each line once
  std::optional<std::uint32_t> max_threads, required_threads;
};

/// Of a function with a body; a declaration has zeros. Shared memory of the functions it calls by name is included (of
/// at most 1000 of them), their instructions are not.
[[nodiscard]] StaticFacts static_facts(const Module& module, const Function& function);
/// Of every function of a module, in its order: quicker than one at a time.
[[nodiscard]] std::vector<StaticFacts> static_facts(const Module& module);

}  // namespace corridor::ptx
