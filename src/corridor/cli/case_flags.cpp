// SPDX-License-Identifier: Apache-2.0
// Flags of a case, in the order help lists them.
#include "corridor/cli/case_flags.h"

#include "corridor/cli/number_flags.h"

namespace corridor::cli {
namespace {

constexpr const char* whole_example = "a whole number, for example 4";
constexpr const char* tokens_example = "a number of tokens, for example 1024 or 8k";
constexpr const char* sequences_example = "how many sequences run at once";

void add_scenario_flags(CLI::App& command, app::PredictRequest& r) {
  add_whole(command, "--devices", r.devices, "devices in all", whole_example);
  add_whole(command, "--tp", r.tp, "tensor parallel ranks", whole_example);
  add_whole(command, "--pp", r.pp, "pipeline stages", whole_example);
  add_whole(command, "--ep", r.ep, "devices the experts are spread over", whole_example);
  add_whole(command, "--dp", r.dp, "replicas; batch and concurrency count all of them", whole_example);
  command.add_option("--weights", r.weights, "weight format: bf16, fp8, int8, int4, awq, nvfp4, q4_k_m …")
      ->type_name("FORMAT");
  command.add_option("--kv", r.kv, "KV cache format: bf16, fp8, int8 …")->type_name("FORMAT");
  command.add_option("--math", r.math, "arithmetic of the matrix products: bf16, fp16, fp8 …")->type_name("TYPE");
  auto* batch =
      add_whole(command, "--batch", r.batch, "sequences that decode together, static (default 1)", sequences_example);
  add_whole(command, "--concurrency", r.concurrency, "closed loop of this many users, prompts mixed into the steps",
            sequences_example)
      ->excludes(batch);
  add_whole(command, "--input", r.input, "prompt tokens (default 1024; 8k is 8000)", tokens_example);
  add_whole(command, "--output", r.output, "generated tokens (default 256)", tokens_example);
  add_whole(command, "--context", r.context, "tokens in the cache during decode (default input + output / 2)",
            tokens_example);
  command.add_option("--engine", r.engine, "ideal, vllm, sglang, tensorrt-llm or llama.cpp")->type_name("NAME");
  command.add_option("--routing", r.routing, "how tokens choose experts: balanced, uniform or skewed")
      ->type_name("KIND");
  add_whole(command, "--spec-tokens", r.spec_tokens, "speculative decoding: tokens drafted a round", whole_example);
  add_number(command, "--spec-acceptance", r.spec_acceptance, "chance that one drafted token is right, 0 to 1",
             "a share from 0 to 1, for example 0.7");
  add_number(command, "--spec-tokens-per-round", r.spec_tokens_per_round, "instead: mean tokens a round yields",
             "a number of tokens, for example 2.5");
  command.add_option("--spec-draft", r.spec_draft, "draft model, its size (1B), or ngram")->type_name("MODEL");
  command.add_flag("--no-graphs", r.no_graphs, "kernels launched one by one");
  command.add_flag("--no-flash-attention", r.no_flash_attention, "scores written to main memory");
  command.add_flag("--no-fusion", r.no_fusion, "element-wise operations apart");
}

}  // namespace

void add_case_flags(CLI::App& command, app::PredictRequest& r, NeedsDevice needs_device) {
  command.add_option("model", r.model, "a folder, config.json, *.safetensors, *.gguf or a known id")
      ->type_name("MODEL");
  command.add_option("--params", r.params, "instead: a plain dense model of this many parameters, e.g. 70B")
      ->type_name("N");
  auto* device =
      command.add_option("--device", r.device, "as nvidia-smi prints it, an alias (h100-sxm, 4090) or a device file")
          ->type_name("DEVICE");
  if (needs_device == NeedsDevice::yes) device->required();
  add_scenario_flags(command, r);
}

}  // namespace corridor::cli
