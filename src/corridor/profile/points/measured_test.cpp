// SPDX-License-Identifier: Apache-2.0
// Published tables of runs: what their free words mean, and the words for formats, engines and devices.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/profile/points/measured_point.h"
#include "corridor/profile/points/metric_word.h"
#include "corridor/profile/points/words.h"

namespace corridor::profile {
namespace {

using ::testing::HasSubstr;

PointTable table_of(const std::string& text) {
  const auto table = read_points(text, "table.csv");
  EXPECT_TRUE(table) << table.error().line();
  return table ? *table : PointTable{};
}

const char* const measured_header =
    "id,source,date,engine,model,params_b,weight_precision,kv_precision,gpu,n_gpu,parallelism,batch_or_concurrency,"
    "input_len,output_len_or_ctx,metric,value,notes\n";

/// One row of the published schema; `run` begins with the column gpu.
MeasuredPoint measured(const std::string& engine, const std::string& run) {
  const PointTable t = table_of(measured_header + ("i,s,2024," + engine + ",m,7,fp16,fp16," + run + "\n"));
  EXPECT_EQ(t.points.size(), 1U);
  return t.points.empty() ? MeasuredPoint{} : t.points[0];
}

TEST(Measured, DecodeContexts) {
  const auto from_empty =
      measured("llama.cpp", "RTX 4090,1,,1,0,512,decode_tok_s_per_user,70,llama-bench tg512; tg starts");
  EXPECT_EQ(from_empty.context, 256);
  EXPECT_EQ(from_empty.output, 512);
  const auto deep = measured("llama.cpp", "GB10,1,,1,4096,4096,decode_tok_s_per_user,70,tg32 at depth 4096");
  EXPECT_EQ(deep.context, 4112);
  const auto short_form = measured("llama.cpp", "GB10,1,,1,,,decode_tok_s_per_user,70,tg128 @ d4096");
  EXPECT_EQ(short_form.context, 4160);
  const auto end =
      measured("ExLlama", "RTX 4090,1,,1,,2048,decode_tok_s_per_user,96,last 128 tokens of a 2048-token run");
  EXPECT_EQ(end.context, 1984);
  const auto stated = measured("ExLlama", "RTX 4090,1,,1,,9032,decode_tok_s_per_user,96,decode at context ~9032");
  EXPECT_EQ(stated.context, 9032);
  const auto both = measured("gpt-fast", "A100,1,,1,5,200,decode_tok_s_per_user,96,");
  EXPECT_FALSE(both.context);
  EXPECT_EQ(both.input, 5);
  EXPECT_EQ(both.output, 200);
  const auto batched = measured(
      "llama.cpp", "GB10,1,,8,512,512,output_tok_s_total,240,llama-batched-bench S_TG: 8 sequences x 32 tokens");
  EXPECT_EQ(batched.metric, PointMetric::decode_per_user) << "no prompt is in that rate";
  EXPECT_DOUBLE_EQ(batched.value, 30);
  EXPECT_DOUBLE_EQ(batched.value / batched.unit, 240) << "as written";
  EXPECT_EQ(batched.context, 528);
  EXPECT_EQ(batched.sequences, 8);
  const auto named = measured("x", "GB10,1,,4,1000,200,decode_tok_s_total,100,");
  EXPECT_EQ(named.metric, PointMetric::decode_per_user);
  EXPECT_DOUBLE_EQ(named.value, 25);
  EXPECT_EQ(named.context, 1100);
}

TEST(Measured, PromptsAndLengths) {
  const auto deep = measured("llama.cpp", "GB10,1,,1,2048,4096,prefill_tok_s,5000,llama-bench pp2048 at depth 4096");
  EXPECT_EQ(deep.input, 2048);
  EXPECT_EQ(deep.context, 4096);
  const auto mean = measured("vLLM", "A100,1,TP1,32,avg 857,~653 (mean),output_tok_s_total,3000,");
  EXPECT_EQ(mean.input, 857);
  EXPECT_EQ(mean.output, 653);
  const auto unsure = measured("vLLM", "MI300X,1,TP1,16,1024,1024?,latency_ms,14616,");
  EXPECT_EQ(unsure.output, 1024);
  const auto mix = measured("LMDeploy", "A100,1,TP1,256,ShareGPT mix,ShareGPT mix,output_tok_s_total,3000,");
  EXPECT_THAT(mix.not_usable, HasSubstr("mix"));
  const auto prompt = measured("x", "A100,1,,1,~10 (short prompt),512,decode_tok_s_per_user,39.6,");
  EXPECT_EQ(prompt.input, 10);
  const auto thousand = measured("vLLM", "B200,1,TP1,64,8k,1k,total_tok_s,\"26,150\",");
  EXPECT_EQ(thousand.input, 8192);
  EXPECT_EQ(thousand.output, 1024);
  EXPECT_EQ(thousand.value, 26150);
  const auto bound = measured("vLLM", "B200,1,TP1,max batch 2048,128,128,output_tok_s_total,100,");
  EXPECT_THAT(bound.not_usable, HasSubstr("number of sequences"));
  const auto none = measured("x", "A100,1,,8,,,total_tok_s,100,");
  EXPECT_THAT(none.not_usable, HasSubstr("lengths are not stated"));
  const auto nobody = measured("x", "A100,1,,,128,128,output_tok_s_total,100,");
  EXPECT_THAT(nobody.not_usable, HasSubstr("number of sequences"));
}

TEST(Measured, LoadAndLayoutOfDevices) {
  const auto fixed =
      measured("TensorRT-LLM v0.6.1 (static batch)", "H100,2,TP2,64,128,128,output_tok_s_total,300,PER GPU");
  EXPECT_EQ(fixed.load, PointLoad::batch);
  EXPECT_EQ(fixed.tp, 2);
  EXPECT_DOUBLE_EQ(fixed.value, 600) << "the rate of one of two";
  EXPECT_DOUBLE_EQ(fixed.value / fixed.unit, 300);
  const auto unclear = measured("x", "A100,4,TP4,64,128,128,output_tok_s_total,300,per GPU - ambiguous for TP>1");
  EXPECT_THAT(unclear.not_usable, HasSubstr("one device or of all"));
  const auto closed = measured("vLLM", "H100,4,TP2 PP2,64,128,128,tpot_ms,30,max concurrency 64");
  EXPECT_EQ(closed.load, PointLoad::concurrency);
  EXPECT_EQ(closed.pp, 2);
  const auto word = measured("vLLM", "H100,,TP1 DP2 EP,c32,128,128,tpot_ms,30,static");
  EXPECT_EQ(word.sequences, 32);
  EXPECT_EQ(word.devices, 2);
  EXPECT_EQ(word.ep, 2);
  EXPECT_EQ(word.dp, 2);
  const auto short_form = measured("SGLang", "B200,8,DEP8,max concurrency 64,128,128,tpot_ms,30,");
  EXPECT_EQ(short_form.dp, 8);
  EXPECT_EQ(short_form.ep, 8);
  EXPECT_EQ(short_form.load, PointLoad::concurrency);
  EXPECT_EQ(short_form.sequences, 64);
  const auto split = measured("llama.cpp", "3090 24GB,4,layer-split,1,0,512,decode_tok_s_per_user,15,tg512");
  EXPECT_EQ(split.pp, 4);
  EXPECT_FALSE(split.tp);
  const auto arrivals = measured("vLLM", "H100,1,TP1,\"300 requests, 10 req/s\",128,128,tpot_ms,30,");
  EXPECT_EQ(arrivals.load, PointLoad::other);
  EXPECT_THAT(arrivals.not_usable, HasSubstr("arrive at a rate"));
  const auto pair = measured("ExLlama", "RTX 4090 + RTX 3070 Ti,2,,1,1920,,prefill_tok_s,800,");
  EXPECT_THAT(pair.not_usable, HasSubstr("differ"));
  const auto host = measured("llama.cpp", "Pi 5 - 16GB (AMD RX 7600),1,,1,512,,prefill_tok_s,800,pp512");
  EXPECT_EQ(host.device, "AMD RX 7600");
  const auto capped = measured("x", "A100 80GB SXM (power limited to 330 W),1,,1,5,200,decode_tok_s_per_user,100,");
  EXPECT_THAT(capped.notes, HasSubstr("power-capped"));
  EXPECT_EQ(capped.not_usable, "");
  const auto queued = measured("x", "A100,1,,32,128,128,ttft_ms,100,requests queue for prefill");
  EXPECT_THAT(queued.not_usable, HasSubstr("queue"));
}

TEST(Measured, SpeculationTakesTheAcceptanceOfItsEngineAndModel) {
  const std::string row = ",A100,1,,1,MT-bench,,";
  const PointTable t =
      table_of(measured_header + std::string("a,,,E + EAGLE,m1,7,fp16,") + row + "speedup,2.2,task x\n" +
               "b,,,E + EAGLE,m1,7,fp16," + row + "acceptance,3.5,\n" + "c,,,E + EAGLE,m2,7,fp16," + row +
               "speedup,2.2,\n" + "d,,,\"V EAGLE, 4 draft token(s)\",m1,7,fp16," + row + "decode_tok_s_per_user,90,\n");
  ASSERT_EQ(t.points.size(), 4U);
  EXPECT_EQ(t.points[0].tokens_per_step, 3.5);
  EXPECT_EQ(t.points[0].not_usable, "");
  EXPECT_THAT(t.points[1].not_usable, HasSubstr("input of predictions"));
  EXPECT_THAT(t.points[2].not_usable, HasSubstr("tokens a step"));
  EXPECT_EQ(t.points[3].draft_tokens, 4);
  EXPECT_THAT(t.points[3].not_usable, HasSubstr("tokens a step"));
}

TEST(Measured, BandwidthAndProducts) {
  const std::string empty = "i,s,2024,";
  const PointTable t =
      table_of(measured_header + empty + "gpu-stream,STREAM triad,,fp64,,A40,1,,,,,bandwidth_GBs,653,\n" + empty +
               "gpu-l2-cache,\"read, data set 4 MB\",,,,A40,1,,,,,bandwidth_GBs,5000,L2 read\n" + empty +
               "gpt-fast,Llama,7,bf16,,A40,1,,1,5,200,bandwidth_GBs,600,model bandwidth\n" + empty +
               "torch.mm,GEMM MxNxK=1024x2048x4096,,fp8,,H100,1,,,,,tflops,800,\n" + empty +
               "torch.mm,GEMM,,bf16,,H100,1,,,,,tflops,800,\n" + empty +
               "all_reduce_bench,payload 4GiB,,,,H100,8,,,,,bandwidth_GBs,92,busbw\n");
  ASSERT_EQ(t.points.size(), 6U);
  EXPECT_EQ(t.points[0].not_usable, "");
  EXPECT_DOUBLE_EQ(t.points[0].value, 653e9);
  EXPECT_THAT(t.points[1].not_usable, HasSubstr("cache"));
  EXPECT_THAT(t.points[2].not_usable, HasSubstr("derived"));
  ASSERT_TRUE(t.points[3].operation);
  EXPECT_EQ(t.points[3].operation->m, 1024);
  EXPECT_EQ(t.points[3].operation->n, 2048);
  EXPECT_EQ(t.points[3].operation->k, 4096);
  EXPECT_EQ(t.points[3].operation->type, "fp8");
  EXPECT_DOUBLE_EQ(t.points[3].value, 800e12);
  EXPECT_THAT(t.points[4].not_usable, HasSubstr("shape"));
  EXPECT_THAT(t.points[5].not_usable, HasSubstr("collective"));
}

TEST(Metric, UnitsAndKinds) {
  EXPECT_EQ(metric_word("itl_ms").metric, PointMetric::tpot);
  EXPECT_DOUBLE_EQ(metric_word("Median TTFT (ms)").unit, 1e-3);
  EXPECT_DOUBLE_EQ(metric_word("e2e_latency_s").unit, 1);
  EXPECT_EQ(metric_word("e2e_latency_us").metric, PointMetric::latency);
  EXPECT_TRUE(metric_word("output_tok_s_per_gpu").per_device);
  EXPECT_EQ(metric_word("output_tok_s_per_gpu").metric, PointMetric::output_total);
  EXPECT_EQ(metric_word("prompt_tokens_per_second").metric, PointMetric::prefill_rate);
  EXPECT_EQ(metric_word("bandwidth_TBs").unit, 1e12);
  EXPECT_THAT(metric_word("p99_tpot_ms").problem, HasSubstr("percentile"));
  EXPECT_THAT(metric_word("ttft").problem, HasSubstr("unit"));
  EXPECT_THAT(metric_word("watts").problem, HasSubstr("not known"));
}

TEST(Words, FormatsEnginesVersionsDevices) {
  const std::vector<std::pair<std::string, std::string>> formats{{"fp16", "fp16"},
                                                                 {"GPTQ 4-bit g128", "int4-g128"},
                                                                 {"Q4_0 (3.56 GiB)", "q4_0"},
                                                                 {"int4 g32", "int4-g32"},
                                                                 {"EXL2 4.0 bpw", "int4-channel"},
                                                                 {"EXL2 9.9 bpw", ""},
                                                                 {"MXFP4", "mxfp4"},
                                                                 {"float32", "fp32"},
                                                                 {"Q4_K - Medium", "q4_k_m"},
                                                                 {"UD-Q4_K_XL", "q4_k_m"},
                                                                 {"IQ4_XS", "iq4_xs"},
                                                                 {"AWQ", "int4-g128"},
                                                                 {"w8a8", "w8a8-int8"},
                                                                 {"GPTQ 8-bit", "int8-g128"},
                                                                 {"bnb 4bit", "nf4"},
                                                                 {"int4-sym-g128", "int4-sym-g128"},
                                                                 {"F16 (12.55 GiB)", "fp16"},
                                                                 {"mixed", ""},
                                                                 {"", ""}};
  for (const auto& [written, word] : formats) EXPECT_EQ(weight_format_word(written), word) << written;
  EXPECT_EQ(engine_word("TensorRT-LLM v0.6.1 (static batch)"), "tensorrt-llm");
  EXPECT_EQ(version_of("TensorRT-LLM v0.6.1 (static batch)"), "0.6.1");
  EXPECT_EQ(engine_word("vLLM-based (a paper)"), "vllm");
  EXPECT_EQ(engine_word("HF transformers (PyTorch 2.0.1) + EAGLE"), "transformers");
  EXPECT_EQ(version_of("HF transformers (PyTorch 2.0.1) + EAGLE"), "");
  EXPECT_EQ(version_of("llama.cpp b6918 CUDA"), "b6918");
  EXPECT_EQ(engine_word("Candle 0.3"), "candle");
  EXPECT_EQ(device_word("H100 SXM 80GB power-capped"), "H100 SXM 80GB");
  EXPECT_EQ(device_word("a100_dgx"), "a100 SXM");
  EXPECT_EQ(short_device_word("RTX 5080 16GB"), "RTX 5080");
  EXPECT_EQ(short_device_word("Apple M4 Max MacBook Pro (Metal)"), "Apple M4 Max");
  EXPECT_EQ(device_word("8x H100 SXM"), "H100 SXM");
  EXPECT_EQ(engine_word("NVIDIA NIM 1.8"), "nim");
  EXPECT_EQ(board_in_host("Intel 13900K (Nvidia 4090)"), "Nvidia 4090");
  EXPECT_EQ(board_in_host("H100 SXM (NVIDIA HGX H100)"), "");
  EXPECT_EQ(board_in_host("Arc 140V (Core Ultra 258V)"), "");
}

TEST(Measured, NumbersOutOfRangeAndBrokenTextStayOnTheRow) {
  const auto huge = measured("x", "A100,99999999999,TP99999999,1e18,-5,128,tpot_ms,1,");
  EXPECT_NE(huge.not_usable, "");
  const auto words = measured("x", "A100,two,,1,5,128,tpot_ms,1,");
  EXPECT_NE(words.not_usable, "");
  const auto dirty = measured("x\xff\x01y", "A100,1,,1,5,128,tpot_ms,1,");
  EXPECT_EQ(dirty.engine, "x? y");
  EXPECT_EQ(dirty.not_usable, "");
}

}  // namespace
}  // namespace corridor::profile
