// SPDX-License-Identifier: Apache-2.0
// Where the PTX of `corridor ptx` comes from: a .ptx file, a .cu file that NVRTC or nvcc compiles, or data/ptx.
#pragma once

#include <memory>
#include <string>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/ptx/functional/launch.h"

namespace corridor::app {

struct PtxSource {
  std::shared_ptr<const ptx::Program> program;
  std::string file;      ///< as given, or "data/ptx/saxpy.ptx"
  std::string compiled;  ///< "with NVRTC 13.0 for compute_90"; empty when the file was PTX already
  std::string source;    ///< text of the CUDA source when it is known: lines of .loc point into it
  std::string source_name;
};

/// `file` is a path, or a path inside data/ptx when there is no such file ("saxpy.ptx"). Fails when nothing of that
/// name is there, when it does not parse, and for a .cu when neither NVRTC nor nvcc is found (naming where they were
/// looked for). A compiler that CORRIDOR_NVCC names comes before NVRTC, one on PATH after it.
[[nodiscard]] Result<PtxSource> ptx_source(const Assets& assets, const std::string& file);

/// The kernel of that name; without a name the only one. Names of C++ may be given without their mangling. Fails by
/// naming the kernels there are.
[[nodiscard]] Result<const ptx::Function*> ptx_kernel(const ptx::Module& module, const std::string& name,
                                                      const std::string& file);

}  // namespace corridor::app
