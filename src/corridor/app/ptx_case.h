// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor ptx`: a kernel, buffers made from short words, a launch on the simulated GPU, and where its
// counters put it on a device of the catalogue.
//
//   PtxRequest request;
//   request.file = "saxpy";                                     // a kernel that ships with the program
//   const Result<PtxAnswer> answer = run_ptx(assets, request);
//   answer->run.counters.flops()                                // 2 n
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/ptx_case_source.h"
#include "corridor/app/ptx_machine.h"
#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/isa/static_facts.h"
#include "corridor/ptx/timing/occupancy.h"
#include "corridor/ptx/timing/placement.h"
#include "corridor/ptx/timing/timeline.h"

namespace corridor::app {

/// What is asked for. Whatever is left out comes from the manifest, or for kernels that ship with the program from
/// data/ptx/launches.json.
struct PtxRequest {
  std::string file;  ///< FILE.ptx, FILE.cu, FILE.json (a manifest), or the name of a launch of data/ptx/launches.json
  std::string kernel, device;
  std::optional<ptx::Dim3> grid, block;
  std::optional<std::uint64_t> shared_bytes;
  std::vector<std::string> arguments;         ///< "i32:5", "2.5", "x=buf:f32:1024:ramp"; see ptx_case_arguments.h
  std::map<std::string, std::string> expect;  ///< argument ("" = the last buffer) → file
  std::map<std::string, std::string> dump;    ///< argument → file
  double tolerance = 0;                       ///< of expect: |a − b| ≤ tolerance · max(1, |b|)
  std::optional<std::uint32_t> registers;     ///< a thread, in place of the estimate
  std::optional<std::uint64_t> max_instructions, max_memory_bytes, sample_blocks;
  bool caches = true, check = true;
  bool timeline = false;
};

/// One buffer after the run, as far as it is shown.
struct PtxBuffer {
  std::string name;
  ptx::Type type = ptx::Type::f32;
  std::uint64_t count = 0, address = 0;
  std::vector<double> first;  ///< its first values, at most 4
};

/// A buffer held against a file.
struct PtxCheck {
  std::string argument, file;
  std::uint64_t values = 0, different = 0;
  double largest_error = 0;      ///< |a − b| ÷ max(1, |b|)
  std::string first_difference;  ///< "[3] is 2, expected 4"; empty when there is none
};

struct PtxAnswer {
  PtxSource source;
  std::string about;  ///< of a launch that ships with the program
  hardware::ResolvedDevice device;
  PtxMachine machine;
  ptx::Launch launch;
  ptx::StaticFacts facts;
  ptx::BlockNeeds needs;
  ptx::Occupancy occupancy;
  ptx::Placement placement;
  ptx::RunResult run;
  std::vector<PtxBuffer> buffers;
  std::vector<PtxCheck> checks;
  std::vector<ptx::Timeline> timelines;  ///< with 4, 16 and 64 warps resident, as far as the device holds them
  std::vector<std::string> defaults, notes;
  double host_s = 0;                 ///< this machine's time for the run
  [[nodiscard]] bool clean() const;  ///< no fault, and every check passed
};

/// Fails on what cannot start: no such file, kernel, device, arguments that do not fit.
[[nodiscard]] Result<PtxAnswer> run_ptx(const Assets& assets, const PtxRequest& request);

/// One kernel of a module on every device of interest.
struct PtxInspectedKernel {
  std::string name;
  std::uint32_t threads = 0;  ///< of a block, for the occupancy
  ptx::StaticFacts facts;
  struct On {
    std::string device_id, device_name;
    std::optional<ptx::Occupancy> occupancy;
    std::string why_not;
  };
  std::vector<On> devices;
};
struct PtxInspection {
  PtxSource source;
  std::vector<PtxInspectedKernel> kernels;
};
struct PtxInspectRequest {
  std::string file, kernel, device;      ///< kernel empty: all; device empty: every device that has such blocks
  std::optional<std::uint32_t> threads;  ///< of a block; default what the kernel says, else 256
};
/// Static facts of a file's kernels without running them.
[[nodiscard]] Result<PtxInspection> inspect_ptx(const Assets& assets, const PtxInspectRequest& request);

}  // namespace corridor::app
