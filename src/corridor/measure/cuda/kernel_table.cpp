// SPDX-License-Identifier: Apache-2.0
// The list of kernels; tests hold it to the compiled PTX.
#include "corridor/measure/cuda/kernel_table.h"

#include <fmt/format.h>

namespace corridor::measure::cuda {

const std::vector<KernelFacts>& kernel_table() {
  static const std::vector<KernelFacts> table{
      {"fill", "cuda/memory.cu", "qqddd"},
      {"read", "cuda/memory.cu", "qqdqd", true},
      {"read_l1", "cuda/memory.cu", "qqdqd", true},
      {"write", "cuda/memory.cu", "qqdd", true},
      {"copy", "cuda/memory.cu", "qqqd", true},
      {"triad", "cuda/memory.cu", "qqqqd", true},
      {"build_chain", "cuda/latency.cu", "qqqq"},
      {"chase", "cuda/latency.cu", "qddq"},
      {"chase_shared", "cuda/latency.cu", "ddq"},
      {"read_shared", "cuda/shared_memory.cu", "dqd"},
      {"multiply_add_f32", "cuda/multiply_add.cu", "dddq"},
      {"multiply_add_f64", "cuda/multiply_add.cu", "dqqq"},
      {"mma_f16", "cuda/matrix_warp.cu", "ddq"},
      {"mma_bf16", "cuda/matrix_warp.cu", "ddq"},
      {"mma_tf32", "cuda/matrix_warp.cu", "ddq"},
      {"mma_s8", "cuda/matrix_warp.cu", "ddq"},
      {"mma_e4m3", "cuda/matrix_warp.cu", "ddq"},
      {"wgmma_f16", "cuda/matrix_warpgroup.cu", "ddq"},
      {"wgmma_bf16", "cuda/matrix_warpgroup.cu", "ddq"},
      {"wgmma_tf32", "cuda/matrix_warpgroup.cu", "ddq"},
      {"wgmma_e4m3", "cuda/matrix_warpgroup.cu", "ddq"},
      {"wgmma_s8", "cuda/matrix_warpgroup.cu", "ddq"},
      {"empty", "cuda/launch.cu", ""},
      {"all_reduce", "cuda/all_reduce.cu", "qqqdddddqq"},
  };
  return table;
}

std::optional<KernelFacts> find_kernel(std::string_view name) {
  const std::size_t version = name.rfind("_v");
  const bool versioned = version != std::string_view::npos && version + 2 < name.size() && name[version + 2] >= '0' &&
                         name[version + 2] <= '9';
  const std::string_view base = versioned ? name.substr(0, version) : name;
  for (const KernelFacts& kernel : kernel_table()) {
    if (kernel.name == base && kernel.versions == versioned) return kernel;
  }
  return std::nullopt;
}

std::string version_name(std::string_view base, int vector_bytes, int unroll) {
  return fmt::format("{}_v{}_u{}", base, vector_bytes, unroll);
}

}  // namespace corridor::measure::cuda
