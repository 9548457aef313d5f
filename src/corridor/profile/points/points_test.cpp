// SPDX-License-Identifier: Apache-2.0
// Tables of measured points: every layout, the traps of published numbers, and text that is no table.
#include "corridor/profile/points/measured_point.h"

#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "corridor/base/file.h"
#include "corridor/profile/points/csv.h"

namespace corridor::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::vector<std::string>> rows_of(std::string_view text) {
  CsvReader reader(text);
  CsvRow row;
  std::vector<std::vector<std::string>> out;
  while (reader.next(row)) out.emplace_back(row.fields.begin(), row.fields.end());
  return out;
}

PointTable table_of(const std::string& text, const std::string& file = "table.csv") {
  const auto table = read_points(text, file);
  EXPECT_TRUE(table) << table.error().line();
  return table ? *table : PointTable{};
}

std::string in_folder(std::string folder, const std::string& file) {
  folder += '/';
  folder += file;
  return folder;
}

/// What must hold of every point, however odd its row is.
bool is_sound(const MeasuredPoint& p) {
  if (p.id.empty()) return false;
  if (!p.not_usable.empty()) return true;
  for (const auto& length : {p.sequences, p.input, p.output, p.context}) {
    if (length && !(*length >= 0 && *length <= 1e9)) return false;
  }
  return std::isfinite(p.value) && p.value > 0 && p.unit > 0 && p.metric != PointMetric::acceptance;
}

void expect_sound(const PointTable& table) {
  for (const MeasuredPoint& p : table.points) {
    if (!is_sound(p)) ADD_FAILURE() << p.id << ": " << p.metric_name << " " << p.value << " line " << p.line;
  }
}

TEST(Csv, QuotesLineEndsAndBlanks) {
  EXPECT_THAT(rows_of("\xEF\xBB\xBF"
                      "a,b\r\n1, x y \r\n\r\n\"p, q\",\"he said \"\"no\"\"\"\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "x y"), ElementsAre("p, q", "he said \"no\"")));
  EXPECT_THAT(rows_of("a,\"two\nlines\",\nb"), ElementsAre(ElementsAre("a", "two\nlines", ""), ElementsAre("b")));
  EXPECT_THAT(rows_of("a;b,c;d\r1;2;3"), ElementsAre(ElementsAre("a", "b,c", "d"), ElementsAre("1", "2", "3")));
  EXPECT_THAT(rows_of("5\" disk,\"q\"x,"), ElementsAre(ElementsAre("5\" disk", "q", "")));
  CsvReader reader("a,b\n\"x\ny\",2\n\n3,\"open");
  CsvRow row;
  ASSERT_TRUE(reader.next(row));
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(row.line, 2);
  EXPECT_FALSE(reader.next(row));
  EXPECT_EQ(reader.open_quote_line(), 5);
}

RC_GTEST_PROP(CsvProperty, WhatIsQuotedComesBack, (const std::vector<std::string>& fields)) {
  std::string text = "first";
  for (const std::string& field : fields) {
    text += ",\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += '"';
  }
  const auto rows = rows_of(text);
  RC_ASSERT(rows.size() == 1U);
  RC_ASSERT(std::vector<std::string>(rows[0].begin() + 1, rows[0].end()) == fields);
}

TEST(Layouts, Runs) {
  const PointTable t = table_of(
      "value,metric,sequences,load,id,device,engine,model,weights,kv,devices,tp,input,output,context,tokens_per_step,"
      "mine\n"
      "24.1,tpot_ms,16,concurrency,r1,h100-sxm,vllm 0.19,some/model,fp8,bf16,2,2,1024,256,,,x\n"
      "2.5,speedup,1,batch,r2,a100,transformers,m,fp16,,,,,,,3.1,x\n"
      "90,output_tok_s_total,4,batch,r3,a100,e,m,fp16,,,,,,512,,x\n"
      "9,tpot_ms,4,poisson,r4,a100,e,m,fp16,,two,,,,,,x\n");
  EXPECT_EQ(t.layout, "corridor runs");
  EXPECT_THAT(t.ignored_columns, ElementsAre("mine"));
  ASSERT_EQ(t.points.size(), 4U);
  EXPECT_DOUBLE_EQ(t.points[0].value, 0.0241);
  EXPECT_DOUBLE_EQ(t.points[0].unit, 1e-3);
  EXPECT_EQ(t.points[0].load, PointLoad::concurrency);
  EXPECT_EQ(t.points[0].tp, 2);
  EXPECT_EQ(t.points[0].input, 1024);
  EXPECT_EQ(t.points[1].tokens_per_step, 3.1);
  EXPECT_EQ(t.points[2].not_usable, "");
  EXPECT_FALSE(t.points[2].output) << "the decode phase alone";
  EXPECT_NE(t.points[3].not_usable, "");
}

TEST(Layouts, Operations) {
  const PointTable t = table_of(
      "id,source,date,device,engine,op,type,kv,m,n,k,batch,heads,kv_heads,head_dim,window,length,latency_us,ranks,"
      "payload_bytes,collective,implementation\n"
      "a,,,h100-sxm,,product,fp8,,16,4096,8192,,,,,,,12.5,,,,\n"
      "b,,,h100-sxm,,attention_decode,bf16,fp8,,,,8,32,8,128,0,4096,20,,,,\n"
      "c,,,h100-sxm,,collective,bf16,,,,,,,,,,,9,8,32768,all_reduce,graph\n"
      "d,,,h100-sxm,,product,bf16,,16,,8192,,,,,,,12.5,,,,\n"
      "e,,,h100-sxm,,convolution,bf16,,16,1,8192,,,,,,,12.5,,,,\n");
  EXPECT_EQ(t.layout, "corridor operations");
  ASSERT_EQ(t.points.size(), 5U);
  EXPECT_DOUBLE_EQ(t.points[0].value, 12.5e-6);
  EXPECT_EQ(t.points[0].operation->k, 8192);
  EXPECT_EQ(t.points[1].operation->kind, PointOperation::Kind::attention_decode);
  EXPECT_EQ(t.points[1].operation->kv, "fp8");
  EXPECT_EQ(t.points[2].operation->payload_bytes, 32768);
  EXPECT_THAT(t.points[3].not_usable, HasSubstr("size of the operation"));
  EXPECT_THAT(t.points[4].not_usable, HasSubstr("operation is not known"));
}

TEST(Layouts, OneRowWithTwoTimes) {
  const PointTable t = table_of(
      "id,silicon_data_source,backend,backend_version,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_"
      "size,"
      "attention_dp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n"
      "x,a; measured=2025-10-29T00:00,trtllm,1.0.0rc3,org/m,h200_sxm,fp8,agg,1024,512,64,4,1,2,0,800,16.5\n"
      "y,,vllm,,org/m,h200_sxm,,disagg,1024,512,64,4,1,,,800,16.5\n");
  EXPECT_EQ(t.layout, "silicon sample");
  ASSERT_EQ(t.points.size(), 4U);
  EXPECT_EQ(t.points[0].metric_name, "tpot_ms");
  EXPECT_DOUBLE_EQ(t.points[0].value, 0.0165);
  EXPECT_EQ(t.points[1].id, "x");
  EXPECT_EQ(t.points[1].metric, PointMetric::ttft);
  EXPECT_EQ(t.points[1].sequences, 64);
  EXPECT_EQ(t.points[1].load, PointLoad::concurrency);
  EXPECT_EQ(t.points[1].devices, 8);
  EXPECT_FALSE(t.points[1].ep) << "0 means that experts are not spread";
  EXPECT_EQ(t.points[1].date, "2025-10-29");
  EXPECT_EQ(t.points[1].engine, "trtllm 1.0.0rc3");
  EXPECT_THAT(t.points[2].not_usable, HasSubstr("different devices"));
}

TEST(Layouts, KernelTables) {
  const auto gemm = table_of("m,n,k,latency\n8,4096,512,0.02\n", "dir/l40s_vllm0.24.0_gemm_fp8.csv");
  ASSERT_EQ(gemm.points.size(), 1U);
  EXPECT_EQ(gemm.points[0].device, "l40s");
  EXPECT_EQ(gemm.points[0].engine, "vllm 0.24.0");
  EXPECT_EQ(gemm.points[0].id, "l40s_vllm0.24.0_gemm_fp8.csv:2");
  EXPECT_EQ(gemm.points[0].operation->type, "fp8");
  EXPECT_DOUBLE_EQ(gemm.points[0].value, 20e-6);

  const auto types = table_of(
      "device,dtype,m,n,k,latency_us\nX,int8_wo,1,2,3,4\nX,sq,1,2,3,4\nX,w4a16_mxfp4,1,2,3,4\nX,fp8_block,1,2,3,4\n");
  ASSERT_EQ(types.points.size(), 4U);
  EXPECT_EQ(types.points[0].operation->type, "int8-weight-only");
  EXPECT_EQ(types.points[1].operation->type, "w8a8-int8");
  EXPECT_EQ(types.points[2].operation->type, "mxfp4-a16");
  EXPECT_EQ(types.points[3].operation->type, "fp8-block");
  EXPECT_DOUBLE_EQ(types.points[3].value, 4e-6);

  const auto decode = table_of("batch_size,num_heads,num_key_value_heads,step,latency\n4,32,0,1023,0.1\n");
  ASSERT_EQ(decode.points.size(), 1U);
  EXPECT_EQ(decode.points[0].operation->kind, PointOperation::Kind::attention_decode);
  EXPECT_EQ(decode.points[0].operation->kv_heads, 32) << "0 is as many as heads";
  EXPECT_EQ(decode.points[0].operation->length, 1024) << "the cached tokens and the new one";
  EXPECT_THAT(decode.points[0].notes, HasSubstr("head_dim 128 assumed"));

  const auto prefill = table_of(
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,window_size,latency\n1,512,8,2,64,fp8,128,"
      "1\n");
  ASSERT_EQ(prefill.points.size(), 1U);
  EXPECT_EQ(prefill.points[0].operation->kind, PointOperation::Kind::attention_prefill);
  EXPECT_EQ(prefill.points[0].operation->window, 128);
  EXPECT_EQ(prefill.points[0].operation->kv, "fp8");

  const auto moe = table_of(
      "num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n"
      "8,2048,768,8,128,1,4,power_law_1.2,0.06\n");
  ASSERT_EQ(moe.points.size(), 1U);
  EXPECT_EQ(moe.points[0].operation->experts, 128);
  EXPECT_EQ(moe.points[0].operation->ep, 4);
  EXPECT_EQ(moe.points[0].operation->routing, "power_law_1.2");
}

TEST(Layouts, Collectives) {
  const auto nccl = table_of(
      "op_name,nccl_dtype,num_gpus,message_size,latency\nall_gather,half,2,256,0.009\nalltoall,int8,8,256,0.009\n",
      "b200_nccl2.27.csv");
  ASSERT_EQ(nccl.points.size(), 2U);
  EXPECT_EQ(nccl.points[0].operation->payload_bytes, 512);
  EXPECT_EQ(nccl.points[0].operation->implementation, "nccl");
  EXPECT_EQ(nccl.points[0].device, "b200");
  EXPECT_EQ(nccl.points[1].operation->payload_bytes, 256);
  EXPECT_EQ(nccl.points[1].operation->collective, "all_to_all");

  const auto custom =
      table_of("kernel_source,num_gpus,message_size,latency,backend\nvLLM_custom,4,128,0.02,vllm_graph\n",
               "h100_sxm_vllm0.24.0_custom_allreduce.csv");
  ASSERT_EQ(custom.points.size(), 1U);
  EXPECT_EQ(custom.points[0].operation->collective, "all_reduce");
  EXPECT_EQ(custom.points[0].operation->implementation, "graph");

  const auto nodes = table_of(
      "system,collective,num_workers,devices_per_node,size_field,ms_median_over_ranks\n"
      "a100_dgx,all_reduce,8,8,2048,0.1\na100_dgx,all_reduce,8,4,2048,0.1\n");
  ASSERT_EQ(nodes.points.size(), 2U);
  EXPECT_EQ(nodes.points[0].not_usable, "");
  EXPECT_EQ(nodes.points[0].operation->payload_bytes, 2048);
  EXPECT_THAT(nodes.points[1].not_usable, HasSubstr("across nodes"));
}

TEST(Layouts, LinearLayersGiveOneProductAColumn) {
  const auto t = table_of(
      "gpu,model,n_head,n_kv_head,n_embd,n_expanded_embd,gated_mlp,tp,num_tokens,attn_pre_proj_ms_median,"
      "attn_post_proj_ms_median,mlp_up_proj_ms_median,mlp_down_proj_ms_median,emb_ms_median\n"
      "a40,org/m,64,8,8192,28672,True,2,16,0.1,0.2,0.3,0.4,9\n");
  ASSERT_EQ(t.points.size(), 4U);
  // 32 query heads and twice 4 key and value heads of 128 on one of two ranks; gate and up together.
  const std::vector<std::pair<double, double>> sizes{{5120, 8192}, {8192, 4096}, {28672, 8192}, {8192, 14336}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(t.points[i].operation->m, 16);
    EXPECT_EQ(t.points[i].operation->n, sizes[i].first) << i;
    EXPECT_EQ(t.points[i].operation->k, sizes[i].second) << i;
  }
  EXPECT_DOUBLE_EQ(t.points[3].value, 0.4e-3);
  EXPECT_THAT(t.ignored_columns, ElementsAre("emb_ms_median"));
}

TEST(Hostile, BadFilesFailInOneLineAndBadRowsStay) {
  for (const std::string& text :
       {std::string(), std::string("\n\n"), std::string("a,b\n1,2\n"), std::string("m,n,k\n1,2,3\n"),
        std::string("m,n,k,latency\n1,2,3,\"4\n"), std::string("m,\0n", 4), std::string(5000, ',')}) {
    const auto table = read_points(text, "t.csv");
    ASSERT_FALSE(table) << text.substr(0, 20);
    EXPECT_THAT(table.error().line(), HasSubstr("t.csv"));
    EXPECT_EQ(table.error().line().find('\n'), std::string::npos);
  }
  const PointTable t = table_of(
      "m,n,k,latency\n1,1,1,nan\n1,1,1,-3\n1,1,1,0\n1,1,1\n1,1,1,1e400\n1,x,1,2\n1,1,1,0x10\n1,1e300,1,2\n1,1,1,"
      "fast\n");
  ASSERT_EQ(t.points.size(), 9U);
  for (const MeasuredPoint& p : t.points) EXPECT_NE(p.not_usable, "") << p.id;
}

RC_GTEST_PROP(HostileProperty, AnyCellsAreAnswered, (const std::vector<std::string>& cells)) {
  std::string text =
      "id,engine,model,params_b,weight_precision,gpu,n_gpu,parallelism,batch,input_len,output_len_or_ctx,metric,value,"
      "notes,kv,tokens_per_step,draft_tokens\n";
  std::size_t column = 0;
  for (const std::string& cell : cells) {
    for (const char c : cell) text += c == '"' || c == '\0' ? ' ' : c;
    text += ++column % 17 == 0 ? '\n' : ',';
  }
  const auto table = read_points(text, "t.csv");
  RC_ASSERT(table.has_value());
  for (const MeasuredPoint& p : table->points) {
    RC_ASSERT(!p.not_usable.empty() || (std::isfinite(p.value) && p.value > 0));
  }
}

TEST(Corpus, EveryFileOfPointsIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/points";
  const auto files = folder_entries(folder);
  ASSERT_GE(files.size(), 12U);
  int understood = 0;
  for (const std::string& file : files) {
    const auto text = read_text_file(in_folder(folder, file));
    ASSERT_TRUE(text) << file;
    const auto table = read_points(*text, file);
    if (table) expect_sound(*table);
    understood += table && !table->points.empty() ? 1 : 0;
    for (std::size_t cut = 0; cut < text->size(); cut += 1 + text->size() / 32) {
      const auto part = read_points(std::string_view(*text).substr(0, cut), file);
      if (part) expect_sound(*part);
    }
  }
  EXPECT_GE(understood, 9);
}

/// Reads every table of a folder; prints points, usable ones and the reasons with their counts.
void expect_folder_loads(const std::string& folder, double least_usable) {
  double points = 0;
  double usable = 0;
  std::map<std::string, int> reasons;
  for (const std::string& file : folder_entries(folder)) {
    if (file == "gpu_aliases.csv") continue;  // no table of points
    const auto text = MappedFile::open(in_folder(folder, file));
    ASSERT_TRUE(text) << file;
    // The beginning of a large table tells as much as all of it, and sanitizers are slow.
    constexpr std::size_t enough = 400'000;
    std::string_view all = text->text();
    if (all.size() > enough) all = all.substr(0, all.find('\n', enough));
    const auto table = read_points(all, file);
    ASSERT_TRUE(table) << table.error().line();
    EXPECT_FALSE(table->points.empty()) << file;
    expect_sound(*table);
    for (const MeasuredPoint& p : table->points) {
      points += 1;
      usable += p.not_usable.empty() ? 1 : 0;
      if (!p.not_usable.empty()) ++reasons[p.not_usable];
      if (p.device.empty()) ADD_FAILURE() << p.id << " has no device";
    }
  }
  for (const auto& [reason, count] : reasons) std::cout << "  " << count << "  " << reason << '\n';
  EXPECT_LT(reasons.size(), 25U) << "reasons are counted by their text: few";
  EXPECT_GE(usable / points, least_usable) << usable << " of " << points;
}

TEST(SharedData, MeasuredTablesLoad) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/measured";
  if (!is_folder(folder)) GTEST_SKIP() << "no shared data beside this checkout";
  expect_folder_loads(folder, 0.94);
}

TEST(SharedData, OperationTablesLoad) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/operations";
  if (!is_folder(folder)) GTEST_SKIP() << "no shared data beside this checkout";
  expect_folder_loads(folder, 0.99);
}

TEST(ShippedTables, EveryRowIsUsable) {
  for (const std::string& file : folder_entries(CORRIDOR_SOURCE_DIR "/data/validation")) {
    if (file.find("runs") == std::string::npos && file.find("operations") == std::string::npos) continue;
    const auto text = read_text_file(CORRIDOR_SOURCE_DIR "/data/validation/" + file);
    ASSERT_TRUE(text) << file;
    const PointTable table = table_of(*text, file);
    EXPECT_THAT(table.ignored_columns, ElementsAre()) << file;
    for (const MeasuredPoint& p : table.points) EXPECT_EQ(p.not_usable, "") << file << " " << p.id;
  }
}

}  // namespace
}  // namespace corridor::profile
