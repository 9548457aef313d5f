// SPDX-License-Identifier: Apache-2.0
// Serve and benchmark commands as people paste them: each flag goes to its field, and prose stays prose.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;

ServeCommand command_of(std::string_view text) {
  const PastedRun run = read_paste(text);
  EXPECT_TRUE(run.command) << text;
  return run.command.value_or(ServeCommand{});
}

TEST(VllmCommand, EveryFlagHasItsField) {
  const PastedRun run = read_paste(
      "$ CUDA_VISIBLE_DEVICES=0,1,2,3 VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve acme/Big-7B --tensor-parallel-size "
      "4 "
      "--pipeline-parallel-size=2 -dp 3 --enable-expert-parallel --max-model-len 8192 --max-num-seqs 64 "
      "--max-num-batched-tokens 4096 --gpu-memory-utilization 0.92 --dtype bfloat16 -q fp8 --kv-cache-dtype fp8_e4m3 "
      "--enforce-eager --cpu-offload-gb 12.5 --no-enable-prefix-caching --disable-custom-all-reduce "
      "--speculative-config '{\"method\": \"eagle3\", \"model\": \"acme/Draft\", \"num_speculative_tokens\": 3}' "
      "--port 8000 --trust-remote-code --api-key hunter2");
  ASSERT_TRUE(run.command);
  const ServeCommand& c = *run.command;
  EXPECT_EQ(c.engine, Engine::vllm);
  EXPECT_THAT(c.model, Optional(std::string("acme/Big-7B")));
  EXPECT_THAT(c.tp, Optional(4));
  EXPECT_THAT(c.pp, Optional(2));
  EXPECT_THAT(c.dp, Optional(3));
  EXPECT_THAT(c.expert_parallel, Optional(true));
  EXPECT_THAT(c.max_model_len, Optional(8192));
  EXPECT_THAT(c.max_num_seqs, Optional(64));
  EXPECT_THAT(c.max_num_batched_tokens, Optional(4096));
  EXPECT_THAT(c.gpu_memory_utilization, Optional(0.92));
  EXPECT_THAT(c.dtype, Optional(std::string("bfloat16")));
  EXPECT_THAT(c.quantization, Optional(std::string("fp8")));
  EXPECT_THAT(c.kv_cache_dtype, Optional(std::string("fp8_e4m3")));
  EXPECT_THAT(c.enforce_eager, Optional(true));
  EXPECT_THAT(c.cpu_offload_gb, Optional(12.5));
  EXPECT_THAT(c.prefix_caching, Optional(false));
  EXPECT_THAT(c.disable_custom_all_reduce, Optional(true));
  EXPECT_THAT(c.speculative.method, Optional(std::string("eagle3")));
  EXPECT_THAT(c.speculative.model, Optional(std::string("acme/Draft")));
  EXPECT_THAT(c.speculative.num_tokens, Optional(3));
  EXPECT_THAT(c.visible_gpus, Optional(4));
  EXPECT_THAT(c.attention_backend, Optional(std::string("FLASHINFER")));
  EXPECT_THAT(run.ignored, IsEmpty());
  EXPECT_THAT(run.understood, ElementsAre(HasSubstr("vllm serve command: model acme/Big-7B, tp 4")));
  for (const std::string& line : run.understood) EXPECT_THAT(line, Not(HasSubstr("hunter2")));
}

TEST(VllmCommand, ContinuationLinesOfEveryShell) {
  for (const std::string mark : {" \\\n", " \\\r\n", " ^\r\n", "  \\  \n", " `\n"}) {
    const PastedRun run = read_paste("vllm serve acme/M-8B" + mark + "  --tensor-parallel-size 2" + mark +
                                     "  --max-num-seqs 7" + mark + "\nDone in 3 seconds, thanks.\n");
    ASSERT_TRUE(run.command) << mark;
    EXPECT_THAT(run.command->tp, Optional(2)) << mark;
    EXPECT_THAT(run.command->max_num_seqs, Optional(7)) << mark;
    EXPECT_THAT(run.ignored, IsEmpty()) << mark;
  }
}

TEST(VllmCommand, ShortFormsAndUnderscores) {
  EXPECT_THAT(command_of("vllm serve acme/M -tp2").tp, Optional(2));
  EXPECT_THAT(command_of("vllm serve acme/M -tp=8").tp, Optional(8));
  EXPECT_THAT(command_of("vllm serve acme/M --tensor_parallel_size 4").tp, Optional(4));
  EXPECT_THAT(command_of("vllm serve acme/M --max-model-len 32k").max_model_len, Optional(32000));
  EXPECT_THAT(command_of("vllm serve acme/M --max-model-len 32K").max_model_len, Optional(32768));
  EXPECT_THAT(command_of("vllm serve acme/M \u2013\u2013tp 4 \u2014tensor-parallel-size 2").tp, Optional(2));
}

TEST(VllmCommand, ModuleAndContainer) {
  const ServeCommand module =
      command_of("nohup python3 -m vllm.entrypoints.openai.api_server --model /data/m-7b -tp 2 &");
  EXPECT_THAT(module.model, Optional(std::string("/data/m-7b")));
  EXPECT_THAT(module.tp, Optional(2));
  const ServeCommand container = command_of(
      "docker run --runtime nvidia --gpus '\"device=2,3\"' -e VLLM_USE_V1=1 -e HF_TOKEN=secret -p 8000:8000 --ipc=host "
      "\\\n"
      "  vllm/vllm-openai:latest --model acme/Mix-12B --enforce-eager");
  EXPECT_EQ(container.engine, Engine::vllm);
  EXPECT_THAT(container.model, Optional(std::string("acme/Mix-12B")));
  EXPECT_THAT(container.enforce_eager, Optional(true));
  EXPECT_THAT(container.visible_gpus, Optional(2));
  EXPECT_THAT(container.environment, ElementsAre(std::pair<std::string, std::string>("VLLM_USE_V1", "1")));
}

TEST(VllmCommand, UnknownFlagsAndBadValuesAreNamed) {
  const PastedRun run = read_paste(
      "vllm serve acme/M-1B --shiny-new-flag 3 --max-num-seqs many --gpu-memory-utilization 92 --my-api-token abc");
  ASSERT_TRUE(run.command);
  EXPECT_FALSE(run.command->max_num_seqs);
  EXPECT_FALSE(run.command->gpu_memory_utilization);
  EXPECT_THAT(run.ignored, ElementsAre("--shiny-new-flag 3", HasSubstr("--max-num-seqs many"),
                                       HasSubstr("--gpu-memory-utilization 92"), "--my-api-token"));
}

TEST(VllmCommand, TheLastOfTwoContradictionsIsKeptAndSaid) {
  const PastedRun run = read_paste("vllm serve acme/M-1B -tp 2 --tensor-parallel-size 4");
  ASSERT_TRUE(run.command);
  EXPECT_THAT(run.command->tp, Optional(4));
  EXPECT_THAT(run.notes, Contains(HasSubstr("given twice")));
  const PastedRun two = read_paste("vllm serve acme/A-1B -tp 2\n\nvllm serve acme/B-1B -tp 1\n");
  ASSERT_TRUE(two.command);
  EXPECT_THAT(two.command->model, Optional(std::string("acme/B-1B")));
  EXPECT_THAT(two.notes, Contains(HasSubstr("two serve commands")));
}

TEST(SglangCommand, EveryFlagHasItsField) {
  const ServeCommand c = command_of(
      "(venv) me@box:~$ python -m sglang.launch_server --model-path acme/Moe-100B --tp 16 --dp 8 --ep-size 4 "
      "--enable-dp-attention --mem-fraction-static 0.85 --chunked-prefill-size -1 --max-running-requests 512 "
      "--cuda-graph-max-bs 160 --disable-cuda-graph --nnodes 2 --node-rank 0 --quantization fp8 "
      "--kv-cache-dtype fp8_e5m2 --speculative-algorithm EAGLE --speculative-num-draft-tokens 4 --disable-radix-cache");
  EXPECT_EQ(c.engine, Engine::sglang);
  EXPECT_THAT(c.model, Optional(std::string("acme/Moe-100B")));
  EXPECT_THAT(c.tp, Optional(16));
  EXPECT_THAT(c.dp, Optional(8));
  EXPECT_THAT(c.ep, Optional(4));
  EXPECT_THAT(c.dp_attention, Optional(true));
  EXPECT_THAT(c.mem_fraction_static, Optional(0.85));
  EXPECT_THAT(c.chunked_prefill_size, Optional(-1));
  EXPECT_THAT(c.max_num_seqs, Optional(512));
  EXPECT_THAT(c.cuda_graph_max_bs, Optional(160));
  EXPECT_THAT(c.enforce_eager, Optional(true));
  EXPECT_THAT(c.nnodes, Optional(2));
  EXPECT_THAT(c.quantization, Optional(std::string("fp8")));
  EXPECT_THAT(c.kv_cache_dtype, Optional(std::string("fp8_e5m2")));
  EXPECT_THAT(c.speculative.method, Optional(std::string("EAGLE")));
  EXPECT_THAT(c.prefix_caching, Optional(false));
}

TEST(TensorRtCommand, ServeAndBench) {
  const ServeCommand c = command_of(
      "trtllm-serve acme/L-8B --tp_size 2 --pp_size 1 --ep_size 2 --max_batch_size 256 --max_num_tokens 8192 "
      "--kv_cache_free_gpu_mem_fraction 0.8 --backend pytorch");
  EXPECT_EQ(c.engine, Engine::tensorrt_llm);
  EXPECT_THAT(c.model, Optional(std::string("acme/L-8B")));
  EXPECT_THAT(c.tp, Optional(2));
  EXPECT_THAT(c.ep, Optional(2));
  EXPECT_THAT(c.max_num_seqs, Optional(256));
  EXPECT_THAT(c.max_num_batched_tokens, Optional(8192));
  EXPECT_THAT(c.kv_free_fraction, Optional(0.8));
  const PastedRun bench =
      read_paste("trtllm-bench --model acme/L-8B throughput --dataset /tmp/d.txt --concurrency 64 --tp 4");
  ASSERT_TRUE(bench.command && bench.client);
  EXPECT_THAT(bench.command->tp, Optional(4));
  EXPECT_THAT(bench.client->max_concurrency, Optional(64));
  EXPECT_THAT(bench.client->model, Optional(std::string("acme/L-8B")));
}

TEST(LlamaCommand, EveryFlagHasItsField) {
  const ServeCommand c = command_of(
      "C:\\tools\\llama-server.exe -m C:\\models\\big-Q4_K_M.gguf -ngl 99 -c 32768 -b 2048 -ub 512 -t 16 -fa on -ctk "
      "q8_0 "
      "-ctv q4_0 -sm row -ts 3,1 -ot \"exps=CPU\" --n-cpu-moe 12 -np 4 -md draft.gguf --draft-max 16");
  EXPECT_EQ(c.engine, Engine::llama_cpp);
  EXPECT_THAT(c.model, Optional(std::string("C:\\models\\big-Q4_K_M.gguf")));
  EXPECT_THAT(c.gpu_layers, Optional(99));
  EXPECT_THAT(c.context_all_slots, Optional(32768));
  EXPECT_THAT(c.batch_tokens, Optional(2048));
  EXPECT_THAT(c.ubatch_tokens, Optional(512));
  EXPECT_THAT(c.threads, Optional(16));
  EXPECT_THAT(c.flash_attention, Optional(true));
  EXPECT_THAT(c.kv_cache_dtype, Optional(std::string("q8_0")));
  EXPECT_THAT(c.kv_cache_dtype_v, Optional(std::string("q4_0")));
  EXPECT_THAT(c.split_mode, Optional(std::string("row")));
  EXPECT_THAT(c.tensor_split, Optional(std::string("3,1")));
  EXPECT_THAT(c.override_tensor, ElementsAre("exps=CPU"));
  EXPECT_THAT(c.n_cpu_moe, Optional(12));
  EXPECT_THAT(c.max_num_seqs, Optional(4));
  EXPECT_THAT(c.speculative.model, Optional(std::string("draft.gguf")));
  EXPECT_THAT(c.speculative.num_tokens, Optional(16));
  const ServeCommand moe = command_of("./build/bin/llama-cli -hf acme/Moe-GGUF:Q8_0 -ngl all --cpu-moe -fa -c 4096");
  EXPECT_THAT(moe.model, Optional(std::string("acme/Moe-GGUF:Q8_0")));
  EXPECT_THAT(moe.gpu_layers, Optional(all_gpu_layers));
  EXPECT_THAT(moe.cpu_moe, Optional(true));
  EXPECT_THAT(moe.flash_attention, Optional(true));
  EXPECT_THAT(moe.context_all_slots, Optional(4096));
  EXPECT_FALSE(command_of("llama-cli -m a.gguf -ngl -1").gpu_layers) << "-1 is the engine's own choice";
}

TEST(OllamaCommand, EnvironmentAndParameters) {
  const PastedRun run = read_paste(
      "OLLAMA_NUM_PARALLEL=4 OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve\n"
      "ollama run llama9:70b --verbose \"why is the sky blue\"\n"
      ">>> /set parameter num_ctx 16384\n"
      "PARAMETER num_gpu 40\n");
  ASSERT_TRUE(run.command);
  EXPECT_EQ(run.command->engine, Engine::ollama);
  EXPECT_THAT(run.command->model, Optional(std::string("llama9:70b")));
  EXPECT_THAT(run.command->max_model_len, Optional(16384));
  EXPECT_THAT(run.command->gpu_layers, Optional(40));
  EXPECT_THAT(run.command->max_num_seqs, Optional(4)) << "two commands of one ollama belong together";
  const PastedRun service = read_paste("[Service]\nEnvironment=\"OLLAMA_NUM_PARALLEL=2\"\n");
  ASSERT_TRUE(service.command);
  EXPECT_THAT(service.command->max_num_seqs, Optional(2));
}

TEST(ClientCommand, LoadOfEachTool) {
  const PastedRun vllm = read_paste(
      "vllm bench serve --backend vllm --model acme/M-8B --dataset-name random --random-input-len 1000 "
      "--random-output-len 200 --num-prompts 300 --max-concurrency 32 --request-rate inf --ignore-eos");
  ASSERT_TRUE(vllm.client);
  EXPECT_FALSE(vllm.command) << "a client says nothing about how the server was started";
  EXPECT_THAT(vllm.client->input_len, Optional(1000));
  EXPECT_THAT(vllm.client->output_len, Optional(200));
  EXPECT_THAT(vllm.client->num_prompts, Optional(300));
  EXPECT_THAT(vllm.client->max_concurrency, Optional(32));
  EXPECT_TRUE(vllm.client->request_rate_unlimited);
  const PastedRun sglang = read_paste(
      "python3 -m sglang.bench_serving --backend sglang --random-input 512 --num-prompt 40 --request-rate 2.5");
  ASSERT_TRUE(sglang.client);
  EXPECT_THAT(sglang.client->input_len, Optional(512));
  EXPECT_THAT(sglang.client->request_rate, Optional(2.5));
  const PastedRun llama = read_paste("./llama-bench -m m.gguf -ngl 99 -p 512 -n 128 -d 4096 -fa 1");
  ASSERT_TRUE(llama.client && llama.command);
  EXPECT_THAT(llama.client->input_len, Optional(512));
  EXPECT_THAT(llama.client->output_len, Optional(128));
  EXPECT_THAT(llama.client->depth, Optional(4096));
  EXPECT_THAT(llama.command->gpu_layers, Optional(99));
  const PastedRun offline = read_paste("vllm bench throughput --model acme/M-8B --input-len 100 --output-len 50 -tp 2");
  ASSERT_TRUE(offline.client && offline.command);
  EXPECT_THAT(offline.command->tp, Optional(2));
  EXPECT_THAT(offline.client->input_len, Optional(100));
  const PastedRun aiperf = read_paste("aiperf profile -m acme/M-8B --isl 550 --osl 150 --concurrency 8 --streaming");
  ASSERT_TRUE(aiperf.client);
  EXPECT_THAT(aiperf.client->input_len, Optional(550));
  EXPECT_THAT(aiperf.client->max_concurrency, Optional(8));
}

TEST(Prose, CommandsInsideSentencesOfOtherLanguages) {
  const PastedRun chinese = read_paste(
      "\u6211\u7528 `vllm serve acme/Qw-8B --tensor-parallel-size 2` "
      "\u542f\u52a8\u670d\u52a1\uff0c\u901f\u5ea6\u5f88\u6162\u3002\n"
      "\u542f\u52a8\u547d\u4ee4\uff1avllm serve acme/Qw-14B -tp 4\uff0c\u6bcf\u79d2\u53ea\u6709 20 \u4e2a token\n");
  ASSERT_TRUE(chinese.command);
  EXPECT_THAT(chinese.command->model, Optional(std::string("acme/Qw-14B")));
  EXPECT_THAT(chinese.command->tp, Optional(4));
  const ServeCommand english =
      command_of("I start it with vllm serve acme/M-8B -tp 2 and get 30 tok/s, is that right?");
  EXPECT_THAT(english.model, Optional(std::string("acme/M-8B")));
  EXPECT_THAT(english.tp, Optional(2));
}

TEST(Prose, AMentionIsNoCommand) {
  for (const std::string_view text :
       {"I ran vllm serve and it was slow", "vllm serve is slow on my machine.", "Does ollama run faster?",
        "Use llama-server instead.", "the docs of vllm bench serve say so", "vllm serve --help me please",
        "ollama run is what I use", "we moved from sglang.launch_server to something else"}) {
    const PastedRun run = read_paste(text);
    EXPECT_FALSE(run.command) << text << " -> " << run.command->model.value_or("?");
    EXPECT_FALSE(run.client) << text;
    EXPECT_THAT(run.understood, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace corridor::profile
