// SPDX-License-Identifier: Apache-2.0
// The list of settings that are read, told, and not modelled.
#include "corridor/app/paste_case_effects.h"

namespace corridor::app {

void name_without_effect(const profile::ServeCommand& c, std::vector<std::string>& remarks) {
  std::string list;
  const auto add = [&](bool stated, const char* name) {
    if (stated) list += (list.empty() ? "" : ", ") + std::string(name);
  };
  add(c.max_model_len.has_value(), "longest request (max-model-len, num_ctx)");
  add(c.context_all_slots.has_value(), "context of all slots (-c)");
  add(c.max_num_batched_tokens.has_value(), "tokens of a step (max-num-batched-tokens)");
  add(c.chunked_prefill_size.has_value(), "chunked-prefill-size");
  add(c.batch_tokens.has_value(), "batch tokens (-b)");
  add(c.ubatch_tokens.has_value(), "micro-batch tokens (-ub)");
  add(c.gpu_memory_utilization.has_value(), "gpu-memory-utilization");
  add(c.mem_fraction_static.has_value(), "mem-fraction-static");
  add(c.kv_free_fraction.has_value(), "KV share of free memory");
  add(c.prefix_caching.has_value(), "prefix caching");
  add(c.cuda_graph_max_bs.has_value(), "largest graph batch");
  add(c.attention_backend.has_value(), "attention backend");
  add(c.kv_cache_dtype_v.has_value(), "format of the cached values (-ctv; that of the keys is taken)");
  add(c.dp_attention.value_or(false), "dp attention");
  add(c.nnodes.has_value(), "nodes");
  add(c.visible_gpus.has_value(), "visible GPUs");
  add(c.load_format.has_value(), "load-format");
  add(c.threads.has_value(), "threads (-t)");
  add(c.gpu_layers.has_value(), "layers on the GPU (-ngl; all of them are taken there)");
  add(c.split_mode.has_value(), "split mode (-sm)");
  add(c.tensor_split.has_value(), "tensor split (-ts)");
  add(!c.override_tensor.empty(), "tensor overrides (-ot)");
  if (!list.empty()) remarks.push_back("understood but without effect on this answer: " + list);
}

}  // namespace corridor::app
