// SPDX-License-Identifier: Apache-2.0
// What a pasted command line says: how an engine was started, and how a benchmark client loaded it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corridor::profile {

enum class Engine { vllm, sglang, tensorrt_llm, llama_cpp, ollama };

/// The engine's own spelling of its name: "vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama".
[[nodiscard]] std::string_view name(Engine engine);

/// The number of layers that stands for "all layers on the GPU" (-ngl all). No model has as many.
inline constexpr std::int64_t all_gpu_layers = 999;

/// Speculative decoding as the command states it.
struct Speculative {
  std::optional<std::int64_t> num_tokens;  ///< draft tokens a round
  std::optional<std::string> method;       ///< "eagle3", "ngram", "mtp", "draft_model" …, as written
  std::optional<std::string> model;        ///< the draft model, as written
  [[nodiscard]] bool stated() const { return num_tokens || method || model; }
};

/// A serve command. A field is empty when the command does not state it: no engine default is filled in here.
struct ServeCommand {
  Engine engine = Engine::vllm;
  std::string program;                           ///< "vllm serve", "sglang launch_server", "llama-server" …
  std::size_t line = 0;                          ///< 1-based line of the pasted text
  std::optional<std::string> model;              ///< id, path or GGUF file, as written
  std::optional<std::string> served_model_name;  ///< the name clients see; no id of a model

  std::optional<std::int64_t> tp;       ///< tensor parallel ranks
  std::optional<std::int64_t> pp;       ///< pipeline stages
  std::optional<std::int64_t> dp;       ///< data parallel replicas
  std::optional<std::int64_t> ep;       ///< ranks the experts are spread over (SGLang --ep, TensorRT-LLM --ep_size)
  std::optional<bool> expert_parallel;  ///< vLLM --enable-expert-parallel: over tp · dp ranks
  std::optional<bool> dp_attention;     ///< SGLang --enable-dp-attention
  std::optional<std::int64_t> nnodes;   ///< machines
  std::optional<std::int64_t> visible_gpus;  ///< counted in CUDA_VISIBLE_DEVICES or docker --gpus

  std::optional<std::int64_t> max_model_len;           ///< longest request, prompt + output (ollama: num_ctx)
  std::optional<std::int64_t> context_all_slots;       ///< llama.cpp -c: tokens of all -np slots together
  std::optional<std::int64_t> max_num_seqs;            ///< requests that run together (max_batch_size, -np …)
  std::optional<std::int64_t> max_num_batched_tokens;  ///< tokens of one step (TensorRT-LLM --max_num_tokens)
  std::optional<std::int64_t> chunked_prefill_size;    ///< SGLang: prompt tokens of one step; -1 = prompts uncut
  std::optional<std::int64_t> batch_tokens;            ///< llama.cpp -b
  std::optional<std::int64_t> ubatch_tokens;           ///< llama.cpp -ub: tokens computed at once
  std::optional<bool> prefix_caching;

  std::optional<double> gpu_memory_utilization;  ///< vLLM: share of the device's memory for everything, 0..1
  std::optional<double> mem_fraction_static;     ///< SGLang: share for weights and KV, 0..1
  std::optional<double> kv_free_fraction;        ///< TensorRT-LLM: share for KV of what is free after loading, 0..1
  std::optional<double> cpu_offload_gb;          ///< vLLM: GiB of weights a GPU that stay in host memory

  std::optional<std::string> dtype;
  std::optional<std::string> quantization;
  std::optional<std::string> kv_cache_dtype;    ///< also of the keys (llama.cpp -ctk)
  std::optional<std::string> kv_cache_dtype_v;  ///< of the values, when stated apart (llama.cpp -ctv)
  std::optional<std::string> load_format;       ///< "dummy" = random weights

  std::optional<bool> enforce_eager;              ///< no graphs (also SGLang --disable-cuda-graph)
  std::optional<std::int64_t> cuda_graph_max_bs;  ///< largest batch with a captured graph
  std::optional<bool> disable_custom_all_reduce;
  std::optional<bool> flash_attention;  ///< llama.cpp -fa, OLLAMA_FLASH_ATTENTION
  std::optional<std::string> attention_backend;
  Speculative speculative;

  std::optional<std::int64_t> gpu_layers;  ///< llama.cpp -ngl, ollama num_gpu; all_gpu_layers = all
  std::optional<std::int64_t> threads;     ///< llama.cpp -t
  std::optional<std::string> split_mode;   ///< llama.cpp -sm: none, layer, row
  std::optional<std::string> tensor_split;
  std::vector<std::string> override_tensor;  ///< llama.cpp -ot PATTERN=BUFFER, each
  std::optional<bool> cpu_moe;               ///< all experts in host memory
  std::optional<std::int64_t> n_cpu_moe;     ///< layers whose experts are in host memory

  /// Variables before the command that an engine reads (OLLAMA_…, VLLM_…, CUDA_VISIBLE_DEVICES …), in order.
  std::vector<std::pair<std::string, std::string>> environment;
};

enum class ClientTool { vllm_bench, sglang_bench, llama_bench, trtllm_bench, genai_perf, aiperf };
[[nodiscard]] std::string_view name(ClientTool tool);

/// A benchmark command: the load that was asked for, not what happened.
struct ClientCommand {
  ClientTool tool = ClientTool::vllm_bench;
  std::string program;  ///< "vllm bench serve", "llama-bench" …
  std::size_t line = 0;
  std::optional<std::string> model;
  std::optional<std::string> dataset;
  std::optional<std::int64_t> input_len;        ///< prompt tokens a request (llama-bench -p)
  std::optional<std::int64_t> output_len;       ///< generated tokens a request (llama-bench -n)
  std::optional<std::int64_t> depth;            ///< llama-bench -d: tokens already in the cache
  std::optional<std::int64_t> num_prompts;      ///< requests in all
  std::optional<std::int64_t> max_concurrency;  ///< requests in flight at most
  std::optional<std::int64_t> batch_size;       ///< static batch (vllm bench latency)
  std::optional<double> request_rate;           ///< requests/s offered
  bool request_rate_unlimited = false;          ///< --request-rate inf: all at once
  std::optional<double> range_ratio;            ///< spread of random lengths
  std::optional<bool> ignore_eos;
};

}  // namespace corridor::profile
