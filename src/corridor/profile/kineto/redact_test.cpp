// SPDX-License-Identifier: Apache-2.0
// The copy that can be given away: what stays, what goes, and that the copy reads like the original.
#include "corridor/profile/kineto/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "corridor/base/file.h"
#include "corridor/profile/kineto/kineto_test.h"
#include "corridor/profile/private_words.h"

namespace corridor::profile {
namespace {

using namespace kineto_test;
using ::testing::HasSubstr;
using ::testing::Not;

struct Copy {
  std::string text;
  Redaction told;
};

Copy copy_of(std::string_view bytes) {
  Copy copy;
  const auto source = open_bytes(bytes, "t.json");
  const Result<Redaction> done = redact_kineto(
      *source,
      [&](std::string_view piece) -> Result<int> {
        copy.text += piece;
        return 0;
      },
      "t.json");
  EXPECT_TRUE(done) << done.error().line();
  if (done) copy.told = *done;
  return copy;
}

TEST(PrivateWords, PathsAndAddressesAreSeen) {
  for (const char* text : {"/home/ann/x", "~/x", "models/llama", "C:\\\\Users\\\\ann", "\\u002fhome", "\\/home\\/ann",
                           "https://host", "serve.py", "serve.py(42): run", "ann@example.org", "a:/b"}) {
    EXPECT_TRUE(looks_private(text)) << text;
  }
  for (const char* text : {"aten::mm", "Torch-Compiled Region: 0/1", "void f<4, a::b>(int)",
                           "Memcpy HtoD (Pinned -> Device)", "operator/ (x)", "k@", "", "NVIDIA H100 80GB HBM3"}) {
    EXPECT_FALSE(looks_private(text)) << text;
  }
  EXPECT_TRUE(is_plain_value("[1, -2.5e-3]"));
  EXPECT_TRUE(is_plain_value("0x7f00deadbeef"));
  EXPECT_FALSE(is_plain_value("deadbeefdeadbeef"));
  EXPECT_TRUE(is_step_name("execute_context_1(888_788544)_generation_0(0)"));
  EXPECT_TRUE(is_step_name("step[DECODE bs=32]"));
  EXPECT_FALSE(is_step_name("execute_my secret plan"));
  EXPECT_FALSE(is_step_name("ProfilerStep#7 of Ann"));
  EXPECT_TRUE(is_track_name("thread 42 (python)"));
  EXPECT_FALSE(is_track_name("thread of Ann"));
}

TEST(Redact, NamesPathsAndPromptsGo) {
  const std::vector<std::string> events = {
      event("user_annotation", "secret prompt", 1, 90, ""),
      event("user_annotation", "ProfilerStep#3", 1, 90, ""),
      event("python_function", "secret.py(3): secret", 2, 80, R"("Python id": 7, "Call stack": "secret")"),
      event(
          "cpu_op", "aten::mm", 3, 5,
          R"("External id": 1, "Input Dims": [[8, 16], [16, 32]], "Input type": ["c10::Half", "c10::Half"],)"
          R"( "Concrete Inputs": ["secret", "1", "[2, 3]", "True"], "kernel_file": "\/secret\/k", "deep": {"secret/key": ["secret"]})"),
      event("cpu_op", "tell me the secret of it all", 3, 5, ""),
      launch(4, 11, 1),
      kernel(6, 5, 11, "void gemm<a::b>(int)"),
      R"({"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "secret --token secret", "labels": "GPU 0"}})",
      R"({"ph": "X", "name": "secret", "args": {"x": "secret"}, "cat": "made_up", "ts": 1, "dur": 1, "pid": "secret", "tid": "stream 7"})",
      R"({"ph": "X", "cat": "kernel", "name": "\u002fsecret", "ts": 50, "dur": 1})"};
  const std::string text =
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100", "numSms": 108}],)"
      R"( "username": "secret", "tw_job": 12345678, "INFO": {"HOSTNAME": "secret", "n": 87654321},)"
      R"( "displayTimeUnit": "ms", "cuda_driver_version": 12080, "traceEvents": [)" +
      joined(events) + R"(], "distributedInfo": {"rank": 3, "pg_config": [{"pg_desc": "secret", "ranks": [0, 1]}]}, )" +
      R"("traceName": "\/tmp\/secret.json"})";
  const Copy copy = copy_of(text);
  EXPECT_THAT(copy.text, Not(HasSubstr("secret")));
  EXPECT_THAT(copy.text, Not(HasSubstr("12345678")));
  EXPECT_THAT(copy.text, Not(HasSubstr("87654321")));
  EXPECT_THAT(copy.text, Not(HasSubstr("HOSTNAME")));
  for (const char* kept :
       {"\"ProfilerStep#3\"", "\"aten::mm\"", "\"void gemm<a::b>(int)\"", "\"NVIDIA A100\"", "\"GPU 0\"",
        "[[8,16],[16,32]]", "\"[2, 3]\"", "\"stream 7\"", "\"ms\"", "12080", "\"ranks\":[0,1]"}) {
    EXPECT_THAT(copy.text, HasSubstr(kept));
  }
  const nlohmann::json document = nlohmann::json::parse(copy.text, nullptr, false);
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document["traceEvents"].size(), events.size());
  EXPECT_EQ(copy.told.removed, 18U);
  EXPECT_EQ(copy.told.stats.dropped_count(), 0U);
}

TEST(Redact, TheCopyReadsLikeTheOriginal) {
  const std::vector<std::string> plain = {op(100, 1), launch(105, 11, 1), kernel(120, 10, 11)};
  const std::string run = around(joined(plain));
  EXPECT_EQ(words_of(read_sound(copy_of(run).text)), words_of(read_sound(run)));
  const std::string bare = "[" + joined(plain) + "]";
  EXPECT_EQ(words_of(read_sound(copy_of(bare).text)), words_of(read_sound(bare)));
  const Copy none_there = copy_of(R"({"traceEvents": [], "with_stack": 1})");
  EXPECT_TRUE(nlohmann::json::parse(none_there.text, nullptr, false).is_object()) << none_there.text;
  EXPECT_EQ(copy_of(run).text, copy_of(copy_of(run).text).text);
}

TEST(Redact, WhatIsNoJsonIsNotCopied) {
  std::vector<std::string> events = small_run();
  events.insert(events.begin() + 3, R"({"ph": "X", "cat": "kernel", "name": "secret",, "ts": 150})");
  const Copy copy = copy_of(around(joined(events)));
  EXPECT_THAT(copy.text, Not(HasSubstr("secret")));
  EXPECT_EQ(copy.told.stats.dropped_count(), 1U);
  EXPECT_TRUE(nlohmann::json::parse(copy.text, nullptr, false).is_object());
  const std::string deep = R"({"ph": "X", "x": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(copy_of(around(deep + "," + kernel(1, 1, 1))).told.stats.dropped_count(), 1U);
  EXPECT_THAT(copy_of(R"({"traceEvents": [], "x": secret})").text, Not(HasSubstr("secret")));
  const std::string run = around(kernel(1, 1, 1));  // the source keeps a view of it
  const auto source = open_bytes(run, "t.json");
  const auto full = [](std::string_view) -> Result<int> { return fail("the disk is full"); };
  EXPECT_EQ(redact_kineto(*source, full, "t.json").error().what, "the disk is full");
}

TEST(Redact, SamplesKeepTheirGpuWorkAndLoseTheirPaths) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/torch_trace/";
  if (!is_folder(folder)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  for (const char* file : {"b200_eager_trace.json.gz", "h100_qwen1.5-0.5b-chat.json.gz", "hta_sampled_rank0.json.gz",
                           "hta_triton_example.json.gz", "vllm_decode_full_graph_execution.json.gz"}) {
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const Copy copy = copy_of(mapped->text());
    for (const char* path : {"/home", "/usr", "/opt", "/root", "/tmp", ".py", "site-packages"}) {
      EXPECT_EQ(copy.text.find(path), std::string::npos) << file << ": " << path;
    }
    const Trace before = read_sound(std::string(mapped->text())), after = read_sound(copy.text);
    ASSERT_EQ(after.gpu.size(), before.gpu.size()) << file;
    ASSERT_EQ(after.ops.size(), before.ops.size()) << file;
    for (std::size_t i = 0; i < after.gpu.size(); ++i) {
      ASSERT_EQ(after.names.text(after.gpu[i].name), before.names.text(before.gpu[i].name)) << file;
      ASSERT_EQ(after.gpu[i].start_s, before.gpu[i].start_s) << file;
      ASSERT_EQ(after.gpu[i].duration_s, before.gpu[i].duration_s) << file;
      ASSERT_EQ(after.gpu[i].op, before.gpu[i].op) << file;
    }
  }
}

}  // namespace
}  // namespace corridor::profile
