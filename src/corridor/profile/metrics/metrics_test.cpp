// SPDX-License-Identifier: Apache-2.0
// Metrics pages: the text format, every known server, two pages, resets, blank values, damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/base/file.h"
#include "corridor/profile/file_kind.h"
#include "corridor/profile/metrics/http_page.h"
#include "corridor/profile/metrics/server_metrics.h"

namespace corridor::profile {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

auto near(double x) {
  return Optional(DoubleNear(x, 1e-9 * x));
}

std::string text_of(const std::string& path) {
  const auto text = read_text_file(std::string(CORRIDOR_SOURCE_DIR) + path);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

ServerMetrics metrics_of(const std::string& text) {
  const auto out = read_server_metrics(read_metrics_page(text), nullptr, std::nullopt, "page");
  EXPECT_TRUE(out) << (out ? "" : out.error().line());
  return out.value_or(ServerMetrics{});
}

ServerMetrics metrics_between(const std::string& first, const std::string& second, std::optional<double> seconds) {
  const MetricsPage a = read_metrics_page(first), b = read_metrics_page(second);
  const auto out = read_server_metrics(a, &b, seconds, "pages");
  EXPECT_TRUE(out) << (out ? "" : out.error().line());
  return out.value_or(ServerMetrics{});
}

TEST(MetricsPage, LabelsEscapesTimesAndWhatIsNoSample) {
  const MetricsPage page = read_metrics_page(
      "# TYPE a_total counter\r\na_total{x=\"1,}\",y=\"q\\\"u\\\\o\\n\"} 2.5e3 1700000000500\r\n"
      "b 1 # {trace=\"t\"} 0.5 1\nc{le=\"+Inf\",} 3 1700000000.5\nd NaN\n9e 1\nf{open=\"x 1\nvllm_running 4\n# EOF\n");
  ASSERT_EQ(page.samples.size(), 4U);
  EXPECT_EQ(page.samples[0].label("x"), "1,}");
  EXPECT_EQ(page.samples[0].label("y"), "q\"u\\o ");
  EXPECT_EQ(page.samples[0].value, 2500);
  EXPECT_THAT(page.samples[0].time_s, near(1700000000.5)) << "Prometheus: milliseconds";
  EXPECT_EQ(page.samples[1].value, 1) << "an exemplar is no part of the value";
  EXPECT_THAT(page.samples[2].time_s, near(1700000000.5)) << "OpenMetrics: seconds";
  EXPECT_EQ(page.samples[3].name, "vllm:running");
  EXPECT_EQ(page.types.at("a_total"), MetricType::counter);
  EXPECT_EQ(page.stats.dropped_count(), 3U);
}

// Of the fixtures (written by hand): 10 s apart, 20 requests of 512 and 400 tokens, 8,000 gaps of 80 s in all.
TEST(VllmMetrics, TwoPagesGiveTheRunBetweenThem) {
  const ServerMetrics m = metrics_between(text_of("/tests/fixtures/metrics/vllm_before.prom"),
                                          text_of("/tests/fixtures/metrics/vllm_after.prom"), 10);
  EXPECT_EQ(m.server, "vLLM");
  EXPECT_THAT(m.models, ElementsAre("meta-llama/Llama-3.1-8B-Instruct"));
  EXPECT_THAT(m.running, near(8));
  EXPECT_THAT(m.kv_usage, near(0.12));
  EXPECT_THAT(m.generation_tok_s, near(800));
  EXPECT_THAT(m.prompt_tok_s, near(1024));
  EXPECT_THAT(m.request_per_s, near(2));
  EXPECT_THAT(m.steps_per_s, near(100));
  EXPECT_THAT(m.preemptions, Optional(0.0)) << "the three came before the first page";
  EXPECT_THAT(m.prefix_hit_rate, near(0.25));
  EXPECT_THAT(m.kv_pool_tokens, near(16 * 27000));
  EXPECT_THAT(m.itl_s.mean, near(0.01));
  EXPECT_THAT(m.itl_s.p50, near(0.01)) << "half of the gaps lie below the bound 0.01";
  EXPECT_THAT(m.itl_s.p90, near(0.014)) << "four fifths of the way from 0.01 to 0.015";
  EXPECT_THAT(m.ttft_s.mean, near(0.05));
  EXPECT_THAT(m.ttft_s.p50, near(0.05)) << "4 below 0.04, 12 more up to 0.06: the 10th is half way";
  EXPECT_THAT(m.queue_s.mean, near(0.01));
  EXPECT_THAT(m.queue_s.p50, near(0.02))
      << "one wide bucket: half of the requests cannot wait more than twice the mean";
  EXPECT_THAT(m.output_tokens.mean, near(400));
  EXPECT_EQ(m.step_tokens.count, 1000);
}

TEST(VllmMetrics, OnePageHasNoRates) {
  const ServerMetrics m = metrics_of(text_of("/tests/fixtures/metrics/vllm_before.prom"));
  EXPECT_FALSE(m.generation_tok_s);
  EXPECT_THAT(m.generation_tokens, near(8000));
  EXPECT_THAT(m.notes, Contains(HasSubstr("since the server's start")));
}

TEST(VllmMetrics, ARestartIsNamedAndPagesInTheWrongOrderAreTurned) {
  const std::string before = text_of("/tests/fixtures/metrics/vllm_before.prom");
  const std::string after = text_of("/tests/fixtures/metrics/vllm_after.prom");
  const ServerMetrics turned = metrics_between(after, before, 10);
  EXPECT_THAT(turned.generation_tok_s, near(800));
  EXPECT_THAT(turned.notes, Contains(HasSubstr("taken as the earlier one")));
  const std::string start = "process_start_time_seconds ";
  const ServerMetrics restarted = metrics_between(after + start + "100\n", before + start + "200\n", 10);
  EXPECT_THAT(restarted.generation_tok_s, near(800)) << "8,000 tokens since the new start";
  EXPECT_THAT(restarted.notes, Contains(AllOf(HasSubstr("generation_tokens_total"), HasSubstr("started anew"))));
}

TEST(VllmMetrics, EnginesAreSummedOldNamesReadAndSpeculationCounted) {
  const ServerMetrics m =
      metrics_between("vllm:generation_tokens_total{engine=\"0\"} 0\nvllm:generation_tokens_total{engine=\"1\"} 0\n",
                      "vllm:num_requests_running{engine=\"0\"} 3\nvllm:num_requests_running{engine=\"1\"} 4\n"
                      "vllm:gpu_cache_usage_perc{engine=\"0\"} 0.2\nvllm:gpu_cache_usage_perc{engine=\"1\"} 0.6\n"
                      "vllm:generation_tokens_total{engine=\"0\"} 100\nvllm:generation_tokens_total{engine=\"1\"} 300\n"
                      "vllm:time_per_output_token_seconds_sum 4\nvllm:time_per_output_token_seconds_count 100\n"
                      "vllm:spec_decode_num_drafts_total 100\nvllm:spec_decode_num_draft_tokens_total 300\n"
                      "vllm:spec_decode_num_accepted_tokens_total 150\nvllm:num_requests_waiting 2\n"
                      "vllm:num_requests_waiting_by_reason{reason=\"capacity\"} 2\n"
                      "vllm:estimated_read_bytes_per_gpu_total{engine=\"0\"} 4e12\n"
                      "vllm:estimated_read_bytes_per_gpu_total{engine=\"1\"} 6e12\n",
                      4);
  EXPECT_THAT(m.replicas, ElementsAre("0", "1"));
  EXPECT_THAT(m.running, near(7));
  EXPECT_THAT(m.waiting, near(2)) << "the reasons are parts of it";
  EXPECT_THAT(m.kv_usage, near(0.6));
  EXPECT_THAT(m.generation_tok_s, near(100));
  EXPECT_THAT(m.itl_s.mean, near(0.04));
  EXPECT_THAT(m.accept_length, near(2.5));
  EXPECT_THAT(m.acceptance, near(0.5));
  EXPECT_THAT(m.read_bytes_per_s, near(1.25e12)) << "a mean: the number is per GPU";
}

TEST(OtherServers, SglangTgiAndLlama) {
  const ServerMetrics sglang = metrics_of(text_of("/fuzz/corpus/metrics/sglang"));
  EXPECT_EQ(sglang.server, "SGLang");
  EXPECT_THAT(sglang.running, near(12)) << "tensor-parallel ranks repeat the same requests";
  EXPECT_THAT(sglang.decode_kv_tokens, near(24000));
  EXPECT_THAT(sglang.accept_length, near(2.5));
  EXPECT_THAT(sglang.graph, Optional(true));
  EXPECT_THAT(sglang.generation_tok_s, near(640.5));
  const ServerMetrics tgi = metrics_of(text_of("/fuzz/corpus/metrics/tgi"));
  EXPECT_EQ(tgi.server, "TGI");
  EXPECT_THAT(tgi.waiting, near(3));
  EXPECT_THAT(tgi.decode_step_s.mean, near(0.025));
  EXPECT_THAT(tgi.output_tokens.mean, near(100));
  const ServerMetrics llama = metrics_of(text_of("/fuzz/corpus/metrics/llama"));
  EXPECT_EQ(llama.engine, "llama.cpp");
  EXPECT_THAT(llama.tpot_s.mean, near(0.02));
  EXPECT_FALSE(llama.kv_usage);
}

TEST(Dcgm, OldAndNewNamesBlankValuesAndSlices) {
  const ServerMetrics m = metrics_of(
      "DCGM_FI_PROF_DRAM_UTIL_RATIO{gpu=\"1\",UUID=\"b\",GPU_I_PROFILE=\"1g.10gb\",GPU_I_ID=\"7\"} 0.5\n"
      "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu=\"0\",UUID=\"a\",modelName=\"NVIDIA A100\"} 25\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"a\"} 99\nDCGM_FI_DEV_SM_CLOCK{gpu=\"0\",UUID=\"a\"} 1410\n"
      "DCGM_FI_PROF_DRAM_ACTIVE{gpu=\"0\",UUID=\"a\"} 9223372036854775794\n");
  ASSERT_EQ(m.gpus.size(), 2U);
  EXPECT_EQ(m.gpus[0].name, "NVIDIA A100");
  EXPECT_FALSE(m.gpus[0].dram_active);
  EXPECT_THAT(m.gpus[0].tensor_active, near(0.25)) << "some versions print percent";
  EXPECT_THAT(m.gpus[0].utilization, near(0.99));
  EXPECT_THAT(m.gpus[0].sm_clock_hz, near(1.41e9));
  EXPECT_EQ(m.gpus[1].gpu, "1, 1g.10gb");
  EXPECT_THAT(m.gpus[1].dram_active, near(0.5));
  EXPECT_THAT(m.notes, Contains(HasSubstr("MIG slice")));
  EXPECT_EQ(m.stats.dropped_count(), 1U);
}

TEST(MetricsRefused, NoServerTwoServersNoTime) {
  EXPECT_FALSE(read_server_metrics(read_metrics_page("up 1\n"), nullptr, std::nullopt, "p"));
  EXPECT_FALSE(read_server_metrics(read_metrics_page(""), nullptr, std::nullopt, "p"));
  const MetricsPage vllm = read_metrics_page("vllm:num_requests_running 1\n"), tgi = read_metrics_page("tgi_x 1\n");
  EXPECT_FALSE(read_server_metrics(vllm, &tgi, std::nullopt, "p"));
  EXPECT_FALSE(read_server_metrics(vllm, &vllm, 0.0, "p"));
}

TEST(MetricsSamples, RealPages) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/";
  const auto vllm = read_text_file(folder + "prometheus/vllm_v1_startup_excerpt.prom");
  const auto dcgm = read_text_file(folder + "dcgm/readme_sample_metrics.prom");
  if (!vllm || !dcgm) GTEST_SKIP() << "no shared sample files here";
  EXPECT_EQ(kind_of(*vllm), FileKind::metrics);
  EXPECT_EQ(kind_of(*dcgm), FileKind::metrics);
  const ServerMetrics server = metrics_of(*vllm);
  EXPECT_THAT(server.models, ElementsAre("Qwen/Qwen1.5-0.5B-Chat"));
  EXPECT_THAT(server.running, Optional(0.0));
  const ServerMetrics gpus = metrics_of(*dcgm);
  ASSERT_EQ(gpus.gpus.size(), 1U);
  EXPECT_THAT(gpus.gpus[0].sm_clock_hz, near(139e6));
}

/// The body when whole, "later" while more must come, or what is wrong.
std::string body_of(std::string_view bytes, bool closed = false) {
  const auto page = parse_http_page(bytes, closed);
  if (!page) return page.error().line();
  return *page ? std::to_string((*page)->status) + " " + (*page)->body : "later";
}

TEST(HttpPage, CountedChunkedAndUntilTheEnd) {
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"), "200 abc");
  EXPECT_EQ(body_of("HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nabc"), "later");
  EXPECT_EQ(body_of("HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nabc", true), "200 abc");
  EXPECT_EQ(
      body_of("HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\n4;x=1\r\nabcd\r\na\r\n0123456789\r\n0\r\n\r\n"),
      "200 abcd0123456789");
  EXPECT_EQ(parse_http_page("HTTP/1.1 307 Moved\r\nLocation: /metrics/\r\nContent-Length: 0\r\n\r\n", false)
                .value()
                .value()
                .location,
            "/metrics/");
}

TEST(HttpPage, EveryBeginningWaitsOrFailsButNeverAnswersLess) {
  const std::string whole = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (std::size_t cut = 0; cut + 4 < whole.size(); ++cut) {
    EXPECT_EQ(body_of(whole.substr(0, cut)), "later") << cut;
    EXPECT_THAT(body_of(whole.substr(0, cut), true), HasSubstr("ends in the middle")) << cut;
  }
  EXPECT_THAT(body_of("SSH-2.0-OpenSSH"), HasSubstr("not HTTP"));
  EXPECT_THAT(body_of("HTTP/1.1 2x0 OK\r\n\r\n"), HasSubstr("not HTTP"));
  EXPECT_THAT(body_of("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), HasSubstr("not HTTP"));
  EXPECT_THAT(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), HasSubstr("no length"));
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nab"), "later");
  EXPECT_THAT(body_of("HTTP/1.1 200 OK\r\n" + std::string(70000, 'x')), HasSubstr("does not end"));
}

TEST(MetricsCorpus, EveryFileAndEveryBeginningIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/metrics";
  const auto files = folder_entries(folder);
  ASSERT_GE(files.size(), 5U);
  for (const std::string& file : files) {
    const auto text = read_text_file(folder + "/" + file);
    ASSERT_TRUE(text) << file;
    for (std::size_t cut = 0; cut <= text->size(); cut += 1 + text->size() / 64) {
      const MetricsPage page = read_metrics_page(std::string_view(*text).substr(0, cut));
      const auto alone = read_server_metrics(page, nullptr, std::nullopt, file);
      EXPECT_THAT(alone ? "" : alone.error().line(), Not(HasSubstr("\n")));
      (void)read_server_metrics(read_metrics_page(*text), &page, 1.0, file);
    }
  }
}

}  // namespace
}  // namespace corridor::profile
