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
      {"lab_intensity", "cuda/lab_stream.cu", "qqdq"},
      {"lab_scale", "cuda/lab_stream.cu", "qqddd"},
      {"lab_shift", "cuda/lab_stream.cu", "qqddd"},
      {"lab_clamp", "cuda/lab_stream.cu", "qqddd"},
      {"lab_fused", "cuda/lab_stream.cu", "qqddd"},
      {"lab_strided", "cuda/lab_stream.cu", "qqdqd"},
      {"lab_scattered", "cuda/lab_stream.cu", "qqqd"},
      {"lab_lanes", "cuda/lab_stream.cu", "qqdddqd"},
      {"lab_resident", "cuda/lab_stream.cu", "qqq"},
      {"lab_chases", "cuda/lab_warp.cu", "qqqddq"},
      {"lab_switch", "cuda/lab_warp.cu", "dq"},
      {"lab_paths", "cuda/lab_warp.cu", "dddq"},
      {"lab_product_naive", "cuda/lab_product.cu", "qqqd"},
      {"lab_product_tiled", "cuda/lab_product.cu", "qqqd"},
      {"lab_difference", "cuda/lab_product.cu", "qqqq"},
      {"lab_scores", "cuda/lab_attention.cu", "qqqd"},
      {"lab_softmax", "cuda/lab_attention.cu", "qd"},
      {"lab_weigh", "cuda/lab_attention.cu", "qqqd"},
      {"lab_attention", "cuda/lab_attention.cu", "qqqqd"},
      {"lab_pass_b1", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_b2", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_b4", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_b8", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_b16", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_b32", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_int8", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_pass_int4", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_cache", "cuda/lab_weights.cu", "qqqqddd"},
      {"lab_join", "cuda/lab_weights.cu", "qqd"},
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
