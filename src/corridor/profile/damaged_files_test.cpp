// SPDX-License-Identifier: Apache-2.0
// Copies of each kind of file, cut off and with damaged bytes: a part of the answer that tells what was lost, or one
// line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "corridor/base/file.h"
#include "corridor/profile/byte_source.h"
#include "corridor/profile/file_kind.h"
#include "corridor/profile/kineto/kineto_test.h"
#include "corridor/profile/metrics/server_metrics.h"
#include "corridor/profile/ncu/read_ncu.h"
#include "corridor/profile/nsys/read_nsys.h"
#include "corridor/profile/paste/result_file.h"
#include "corridor/profile/rocprof/read_rocprof.h"

namespace corridor::profile {
namespace {

/// What a reader made of a file: how many things it found, and what it says it lost.
struct Outcome {
  std::size_t things = 0;
  std::size_t told = 0;  ///< losses and warnings
};

Outcome outcome(std::size_t things, const ImportStats& stats) {
  Outcome out{things, 0};
  for (const ImportEvent& e : stats.dropped) out.told += e.severity == Severity::note ? 0 : e.count;
  return out;
}

Result<Outcome> of_trace(const Result<Trace>& trace) {
  if (!trace) return tl::unexpected(trace.error());
  const std::size_t things = trace->gpu.size() + trace->calls.size() + trace->counters.size() + trace->roofs.size() +
                             trace->devices.size() + trace->annotations.size() +
                             (trace->meters.empty() ? 0 : trace->meters.front().samples.size());
  return outcome(things, trace->stats);
}

/// Reads as the program does: the kind by the first bytes, then its reader.
Result<Outcome> read_any(std::string_view bytes, const std::string& file) {
  const Result<std::string> head = peek_bytes(bytes, file);
  if (!head) return tl::unexpected(head.error());
  constexpr std::size_t most = std::size_t{1} << 24U;
  const auto source = open_bytes(bytes, file, most);
  switch (kind_of(*head)) {
    case FileKind::kineto:
      return of_trace(read_kineto(*source, file));
    case FileKind::ncu_csv:
      return of_trace(read_ncu(*source, file));
    case FileKind::nsys_sqlite:
      return of_trace(read_nsys_sqlite(*source, file));
    case FileKind::nsys_stats_csv:
      return of_trace(read_nsys_stats(*source, file));
    case FileKind::nsys_trace_csv:
      return of_trace(read_nsys_gpu_trace(*source, file));
    case FileKind::rocprofv3_json:
      return of_trace(read_rocprofv3(*source, file));
    case FileKind::rocprof_compute_csv:
      return of_trace(read_rocprof_compute(*source, file));
    case FileKind::results: {
      const Result<PastedRun> run = read_result_file(*source, file);
      if (!run) return tl::unexpected(run.error());
      return Outcome{run->results.size(), run->notes.size() + run->ignored.size()};
    }
    case FileKind::metrics: {
      ImportStats stats;
      const Result<std::string> text = collect_bytes(*source, file, most, stats);
      if (!text) return tl::unexpected(text.error());
      MetricsPage page = read_metrics_page(*text);
      page.stats.merge(stats);
      return outcome(page.samples.size(), page.stats);
    }
    default:
      return fail("is of no kind that this test reads", file);
  }
}

struct Sample {
  const char* file;  ///< under tests/fixtures
  bool by_line;      ///< a cut between two lines leaves a whole, shorter file
};

class DamagedFile : public ::testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    const auto text = read_text_file(std::string(CORRIDOR_SOURCE_DIR "/tests/fixtures/") + GetParam().file);
    ASSERT_TRUE(text);
    bytes_ = *text;
    const Result<Outcome> whole = read_any(bytes_, GetParam().file);
    ASSERT_TRUE(whole) << whole.error().line();
    whole_ = *whole;
    ASSERT_GT(whole_.things, 0U);
  }
  /// Ten places, none of them at a border of anything on purpose.
  [[nodiscard]] std::size_t place(std::size_t i) const { return (2 * i + 1) * bytes_.size() / 20; }

  void expect_one_line(const Error& error) const {
    EXPECT_EQ(error.line().find('\n'), std::string::npos) << error.line();
    EXPECT_NE(error.line().find(GetParam().file), std::string::npos) << error.line();
  }

  std::string bytes_;
  Outcome whole_;
};

TEST_P(DamagedFile, CutOff) {
  for (std::size_t i = 0; i < 10; ++i) {
    const std::string cut = bytes_.substr(0, place(i));
    for (const std::string& copy : {cut, kineto_test::packed(bytes_).substr(0, 18 + place(i) / 20)}) {
      const Result<Outcome> part = read_any(copy, GetParam().file);
      if (!part) {
        expect_one_line(part.error());
        continue;
      }
      EXPECT_LE(part->things, whole_.things) << i;
      EXPECT_TRUE(part->told > whole_.told || part->things == whole_.things || GetParam().by_line)
          << "cut " << i << " is not told";
    }
  }
}

TEST_P(DamagedFile, FlippedBytes) {
  for (std::size_t i = 0; i < 10; ++i) {
    for (const int mask : {0xFF, 0x01}) {
      std::string damaged = bytes_;
      damaged[place(i)] = static_cast<char>(damaged[place(i)] ^ mask);
      const Result<Outcome> part = read_any(damaged, GetParam().file);
      if (!part) expect_one_line(part.error());
      // A flipped letter of a name loses nothing; whatever is missing must be told.
      if (part && part->things < whole_.things) {
        EXPECT_GT(part->told, whole_.told) << "byte " << place(i) << " of " << GetParam().file << ", mask " << mask;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, DamagedFile,
    ::testing::Values(Sample{"traces/h100_graph_decode.json", false}, Sample{"profiles/ncu_details.csv", true},
                      Sample{"profiles/nsys_export.sqlite", false}, Sample{"profiles/nsys_meters.sqlite", false},
                      Sample{"profiles/nsys_stats.csv", true}, Sample{"profiles/nsys_gpu_trace.csv", true},
                      Sample{"profiles/rocprofv3.json", false}, Sample{"profiles/pmc_perf.csv", true},
                      Sample{"profiles/roofline.csv", true}, Sample{"profiles/sysinfo.csv", true},
                      Sample{"results/vllm_serve.json", false}, Sample{"results/llama_bench_ladder.jsonl", true},
                      Sample{"metrics/vllm_full.prom", true}, Sample{"metrics/dcgm.prom", true}),
    [](const auto& sample) {
      std::string word = sample.param.file;
      for (char& c : word) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return word;
    });

}  // namespace
}  // namespace corridor::profile
