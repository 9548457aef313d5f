// SPDX-License-Identifier: Apache-2.0
// Words that tell a class; the first that fits decides, so the narrow ones come first.
#include "corridor/diagnose/trace/kernel_class.h"

#include <array>
#include <string>

#include "corridor/base/lower.h"

namespace corridor::diagnose {
namespace {

struct Word {
  std::string_view text;
  KernelClass kernel_class;
};

using enum KernelClass;

// Of kernels, in lower case. Libraries: cuBLAS, CUTLASS, Triton, hipBLASLt (Cijk_), composable kernels, NCCL, RCCL.
constexpr std::array<Word, 84> kernel_words = {{
    {"nccl", collective},
    {"rccl", collective},
    {"allreduce", collective},
    {"all_reduce", collective},
    {"allgather", collective},
    {"all_gather", collective},
    {"reducescatter", collective},
    {"reduce_scatter", collective},
    {"alltoall", collective},
    {"all_to_all", collective},
    {"cross_device_reduce", collective},
    {"multimem", collective},
    {"deep_ep", collective},
    {"memcpy", copy},
    {"memset", copy},
    {"reshape_and_cache", elementwise},
    {"store_cache", elementwise},
    {"moe", moe},
    {"expert", moe},
    {"topk_gating", moe},
    {"grouped_gemm", moe},
    {"matmul_ogs", moe},
    {"bmm_e4m3", moe},
    {"routing", moe},
    {"bitmatrix", moe},
    {"_topk_forward", moe},
    {"finalize_matmul_scatter", moe},
    {"unified_attention", attention},
    {"flash", attention},
    {"fmha", attention},
    {"mha", attention},
    {"paged_attention", attention},
    {"attention", attention},
    {"attn", attention},
    {"mla", attention},
    {"decode_kernel", attention},
    {"reduce_segments", attention},
    {"softmax", attention},
    {"selective_scan", attention},
    {"gated_delta", attention},
    {"rmsnorm", normalisation},
    {"rms_norm", normalisation},
    {"layernorm", normalisation},
    {"layer_norm", normalisation},
    {"norm_kernel", normalisation},
    {"argmax", sampling},
    {"sampling", sampling},
    {"multinomial", sampling},
    {"radixsort", sampling},
    {"radix_sort", sampling},
    {"top_p", sampling},
    {"top_k", sampling},
    {"topk", sampling},
    {"penalt", sampling},
    {"gemm", product},
    {"gemv", product},
    {"cutlass", product},
    {"cijk_", product},
    {"nvjet", product},
    {"wgmma", product},
    {"mul_mat", product},
    {"matmul", product},
    {"dot_kernel", product},
    {"splitk", product},
    {"marlin", product},
    {"wvsplitk", product},
    {"_mm_", product},
    {"conv", product},
    {"elementwise", elementwise},
    {"vectorized", elementwise},
    {"triton_poi", elementwise},
    {"triton_red", elementwise},
    {"triton_per", elementwise},
    {"act_and_mul", elementwise},
    {"silu", elementwise},
    {"gelu", elementwise},
    {"rotary", elementwise},
    {"rope", elementwise},
    {"quant", elementwise},
    {"catarray", elementwise},
    {"reduce_kernel", elementwise},
    {"index", elementwise},
    {"gather", elementwise},
    {"embedding", elementwise},
}};

// Of operations: the part behind the name space, in lower case.
constexpr std::array<Word, 60> operation_words = {{
    {"all_reduce", collective},
    {"allreduce", collective},
    {"all_gather", collective},
    {"allgather", collective},
    {"reduce_scatter", collective},
    {"alltoall", collective},
    {"all_to_all", collective},
    {"nccl:", collective},
    {"record_param_comms", collective},
    {"moe", moe},
    {"expert", moe},
    {"reshape_and_cache", elementwise},
    {"store_cache", elementwise},
    {"scaled_dot_product", attention},
    {"attention", attention},
    {"mha", attention},
    {"mla", attention},
    {"norm", normalisation},
    {"argmax", sampling},
    {"multinomial", sampling},
    {"sort", sampling},
    {"topk", sampling},
    {"addmm", product},
    {"baddbmm", product},
    {"bmm", product},
    {"_scaled_mm", product},
    {"gemm", product},
    {"convolution", product},
    {"softmax", elementwise},
    {"copy_", elementwise},
    {"fill_", elementwise},
    {"zero_", elementwise},
    {"quant", elementwise},
    {"rotary", elementwise},
    {"silu", elementwise},
    {"gelu", elementwise},
    {"sigmoid", elementwise},
    {"relu", elementwise},
    {"tanh", elementwise},
    {"add", elementwise},
    {"sub", elementwise},
    {"mul", elementwise},
    {"div", elementwise},
    {"pow", elementwise},
    {"sqrt", elementwise},
    {"exp", elementwise},
    {"neg", elementwise},
    {"cos", elementwise},
    {"sin", elementwise},
    {"mean", elementwise},
    {"sum", elementwise},
    {"max", elementwise},
    {"cat", elementwise},
    {"index", elementwise},
    {"gather", elementwise},
    {"embedding", elementwise},
    {"constant_pad_nd", elementwise},
    {"where", elementwise},
    {"eq", elementwise},
    {"arange", elementwise},
}};

constexpr std::size_t most_looked_at = 1024;  // bytes of a name: template arguments go on for pages

template <std::size_t n>
std::optional<KernelClass> first_word(const std::array<Word, n>& words, std::string_view text) {
  for (const Word& word : words) {
    if (text.find(word.text) != std::string_view::npos) return word.kernel_class;
  }
  return std::nullopt;
}

/// Operations that call others which are recorded as well.
bool only_arranges(std::string_view name) {
  for (const std::string_view outer :
       {"linear", "matmul", "to", "_to_copy", "contiguous", "clone", "reshape", "scaled_dot_product_attention",
        "_flash_attention_forward", "_efficient_attention_forward", "layer_norm"}) {
    if (name == outer) return true;
  }
  return false;
}

}  // namespace

std::optional<KernelClass> class_of_operation(std::string_view name) {
  const std::string text = lower(name.substr(0, most_looked_at));
  const std::size_t colons = text.rfind("::");
  const std::string_view last = std::string_view(text).substr(colons == std::string::npos ? 0 : colons + 2);
  if (text.starts_with("aten::") && only_arranges(last)) return std::nullopt;
  if (last == "mm" || last == "mv" || last == "dot") return KernelClass::product;
  return first_word(operation_words, last);
}

KernelClass class_of_kernel(std::string_view name) {
  return first_word(kernel_words, lower(name.substr(0, most_looked_at))).value_or(KernelClass::other);
}

}  // namespace corridor::diagnose
