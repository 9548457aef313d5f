// SPDX-License-Identifier: Apache-2.0
// Kineto traces: the same answer in windows of any size, every spelling, and what damage and hostile files cost.
#include "corridor/profile/kineto/read_kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corridor/base/file.h"
#include "corridor/profile/kineto/kineto_test.h"

namespace corridor::profile {
namespace {

using namespace kineto_test;
using ::testing::HasSubstr;

TEST(Kineto, JoinsKernelsToLaunchesOperationsAndDevices) {
  const Trace t = read_sound(around(joined(small_run())));
  ASSERT_EQ(t.gpu.size(), 3U);
  const GpuSpan& first = t.gpu[0];
  EXPECT_EQ(t.names.text(first.name), R"(k<A},{"ph":"X">)");
  ASSERT_NE(first.op, none);
  EXPECT_EQ(t.names.text(t.ops[first.op].name), "aten::mm");
  const OpInputs& inputs = t.inputs[t.ops[first.op].inputs];
  EXPECT_EQ(inputs.dims, (std::vector<std::vector<std::int64_t>>{{8, 16}, {16, 32}}));
  EXPECT_EQ(inputs.types, (std::vector<std::string>{"c10::Half", "c10::Half"}));
  EXPECT_NEAR(first.duration_s, 10e-6, 1e-12);
  EXPECT_EQ(t.shapes[first.shape].grid, (std::array<std::uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(t.names.text(t.annotations[first.annotation].name), "step},{");
  EXPECT_EQ(t.gpu[2].work, GpuWork::copy);
  EXPECT_EQ(t.gpu[2].bytes, 4096);
  EXPECT_EQ(t.gpu[2].launch, none);
  ASSERT_EQ(t.devices.size(), 1U);
  EXPECT_EQ(t.devices[0].sm_count, 108);
  EXPECT_EQ(t.rank, 3);
  EXPECT_EQ(t.world_size, 8);
  EXPECT_TRUE(t.with_stack);
  EXPECT_EQ(losses(t), "");
}

TEST(Kineto, WindowsOfAnySizeGiveTheSameTrace) {
  for (const char* between : {",", ",\n  ", " ,\r\n"}) {
    const std::string text = around(joined(small_run(), between));
    const std::string whole = words_of(read_sound(text));
    for (std::size_t window = 64; window < text.size() + 8; window += window < 400 ? 1 : 37) {
      ASSERT_EQ(words_of(read_sound(text, window)), whole) << "windows of " << window;
    }
  }
}

TEST(Kineto, ABareArrayIsATraceToo) {
  const Trace t = read_sound("\xEF\xBB\xBF [" + joined(small_run()) + "]\n");
  EXPECT_EQ(t.gpu.size(), 3U);
  EXPECT_EQ(losses(t), "");
  EXPECT_TRUE(t.with_stack);  // there are events of Python functions
  EXPECT_TRUE(looks_like_kineto("[" + small_run().front()));
  EXPECT_FALSE(looks_like_kineto(R"([{"name": "x"}])"));
  EXPECT_FALSE(looks_like_kineto(R"({"architectures": ["LlamaForCausalLM"]})"));
  EXPECT_FALSE(looks_like_kineto(""));
}

TEST(Kineto, ADamagedEventIsCountedAndLeftOut) {
  for (const char* damage :
       {R"({"ph": "X", "cat": "kernel", "name": "broken",, "ts": 150})", R"({"ph": "X" "cat": "kernel"})",
        R"({"ph": "X", "cat": "kernel", "name": "broken", "ts": 150, "dur": 1, "args": {"device": 0]}})"}) {
    std::vector<std::string> events = small_run();
    events.insert(events.begin() + 8, damage);
    for (const std::size_t window : {std::size_t{0}, std::size_t{64}, std::size_t{300}}) {
      const Trace t = read_sound(around(joined(events)), window);
      EXPECT_EQ(t.gpu.size(), 3U) << damage << " in windows of " << window;
      EXPECT_THAT(losses(t), HasSubstr("(1)")) << damage;
      EXPECT_EQ(t.rank, 3) << damage;
    }
  }
}

TEST(Kineto, ATruncatedFileGivesWhatIsThereAndSaysSo) {
  const std::string text = around(joined(small_run()));
  const std::size_t array_end = text.rfind("],");
  for (const std::size_t window : {std::size_t{0}, std::size_t{100}}) {
    std::size_t most = 0;
    for (std::size_t cut = 0; cut <= array_end; cut += 3) {
      const Result<Trace> t = read(std::string_view(text).substr(0, cut), window);
      if (!t) {
        EXPECT_THAT(t.error().line(), HasSubstr("t.json: has no list of trace events"));
        EXPECT_LT(cut, text.find('[', text.find("traceEvents")) + 1);
        continue;
      }
      EXPECT_NE(losses(*t), "") << "cut at " << cut << " in windows of " << window;
      EXPECT_GE(t->gpu.size(), most) << cut;
      most = t->gpu.size();
    }
    EXPECT_EQ(most, 3U);
  }
}

TEST(Kineto, PackedFilesAreReadAsTheyAre) {
  const std::string text = around(joined(small_run()));
  const std::string gz = packed(text);
  const Result<Trace> whole = read(gz);
  ASSERT_TRUE(whole);
  EXPECT_EQ(words_of(*whole), words_of(read_sound(text)));
  for (std::size_t cut = 20; cut < gz.size() - 8; cut += 25) {
    const Result<Trace> t = read(std::string_view(gz).substr(0, cut), 64);
    EXPECT_TRUE(!t || !losses(*t).empty() || t->gpu.size() == 3) << cut;
  }
  std::string damaged = gz;
  damaged[gz.size() / 2] = static_cast<char>(~damaged[gz.size() / 2]);
  const Result<Trace> part = read(damaged);
  EXPECT_TRUE(!part || !losses(*part).empty());
}

TEST(Kineto, ABombStopsAtItsLimit) {
  std::string events = joined(small_run());
  const std::string padding(std::size_t{1} << 22U, ' ');
  const std::string bomb = packed(around(events + padding + "," + kernel(500, 1, 99)));
  ASSERT_LT(bomb.size(), 20'000U);
  const Result<Trace> t = read(bomb, std::size_t{1} << 16U, std::size_t{1} << 20U);
  ASSERT_TRUE(t) << t.error().line();
  EXPECT_EQ(t->gpu.size(), 3U);
  EXPECT_THAT(losses(*t), HasSubstr("unpacks to more than"));
  EXPECT_EQ(read(bomb, std::size_t{1} << 16U, std::size_t{1} << 24U)->gpu.size(), 4U);
}

TEST(Kineto, SpellingsOf2021) {
  const std::string text =
      R"({"traceEvents": [
      {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 5, "tid": "12", "ts": 100, "dur": 40,
       "args": {"External id": "3", "Input dims": [[4, 4], [4, 4]], "Input type": ["float", "float"]}},
      {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": "12", "ts": 110, "dur": 5,
       "args": {"cbid": 211, "correlation": 77, "external id": 0}},
      {"ph": "X", "cat": "Kernel", "name": "sgemm", "pid": 0, "tid": "stream 7", "ts": 130, "dur": 9,
       "args": {"device": 0, "stream": 7, "correlation": 77, "external id": 3}},
      {"ph": "X", "cat": "Memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": "stream 7", "ts": 150, "dur": 1,
       "args": {"device": 0, "stream": 7, "correlation": 78, "bytes": 16}}]})";
  const Trace t = read_sound(text);
  ASSERT_EQ(t.gpu.size(), 2U);
  ASSERT_NE(t.gpu[0].op, none);
  EXPECT_EQ(t.names.text(t.ops[t.gpu[0].op].name), "aten::mm");
  EXPECT_NE(t.gpu[0].launch, none);
  EXPECT_EQ(t.gpu[1].work, GpuWork::copy);
  EXPECT_EQ(losses(t), "");
}

TEST(Kineto, ImpossibleTimesAreMendedOrLeftOutAndCounted) {
  const std::vector<std::string> events = {launch(100, 1),
                                           launch(110, 2),
                                           kernel(120, 5000, 1, "inflated"),
                                           kernel(140, 10, 2, "next"),
                                           kernel(0, 0, 3, "at zero"),
                                           kernel(160, -4, 4, "negative"),
                                           R"({"ph": "X", "cat": "kernel", "name": "no time", "dur": 3})",
                                           R"({"ph": "X", "cat": "kernel", "name": "huge", "ts": 1e999, "dur": 1})",
                                           R"({"ph": "X", "cat": "kernel", "name": "text", "ts": "soon", "dur": 1})"};
  const Trace t = read_sound(around(joined(events)));
  ASSERT_EQ(t.gpu.size(), 2U);
  EXPECT_NEAR(t.gpu[0].duration_s, 20e-6, 1e-12);
  ASSERT_EQ(t.stats.repaired.size(), 1U);
  EXPECT_EQ(t.stats.repaired[0].count, 1U);
  EXPECT_EQ(t.stats.repaired[0].example, "inflated");
  EXPECT_THAT(losses(t), HasSubstr("time zero or of negative duration (2)"));
  EXPECT_THAT(losses(t), HasSubstr("without a time or a duration (3)"));
}

TEST(Kineto, ReplayedGraphsOnRocm) {
  std::string events = launch(100, 5, 0, "hip_runtime");
  for (int i = 0; i < 4; ++i) events += "," + kernel(120 + 10 * i, 8, 5, "Cijk_" + std::to_string(i));
  const std::string text =
      R"({"deviceProperties": [{"id": 0, "name": "", "numSms": 304, "totalGlobalMem": 206141652992,)"
      R"( "computeMajor": 9, "computeMinor": 4}], "traceEvents": [)" +
      events + "]}";
  const Trace t = read_sound(text);
  ASSERT_EQ(t.gpu.size(), 4U);
  for (const GpuSpan& span : t.gpu) {
    EXPECT_TRUE(span.from_graph);
    EXPECT_EQ(span.launch, 0U);
  }
  EXPECT_EQ(t.devices.at(0).name, "");
  EXPECT_EQ(t.devices.at(0).memory_bytes, 206141652992.0);
}

TEST(Kineto, WithoutGpuWorkTheOperationsAreKept) {
  const Trace t = read_sound(around(op(100, 1) + "," + op(130, 2)));
  EXPECT_TRUE(t.gpu.empty());
  EXPECT_EQ(t.ops.size(), 2U);
}

TEST(Kineto, DeepNestingAndOddFilesAreAnswered) {
  const std::string deep(1'000'000, '[');
  const std::string closed = deep + std::string(deep.size(), ']');
  const std::string tail = "," + kernel(120, 10, 11);
  const std::string deep_dims =
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1, "args": {"Input Dims": )";
  const std::vector<std::string> texts = {around(deep_dims + closed + "}}" + tail),
                                          around(R"({"ph": "X", "cat": "other", "x": )" + closed + "}" + tail),
                                          R"({"x": )" + closed + R"(, "traceEvents": [)" + tail.substr(1) + "]}",
                                          R"({"traceEvents": )" + deep,
                                          deep,
                                          R"({"traceEvents": [)" + std::string(1'000'000, '{'),
                                          R"({"traceEvents": {}})",
                                          R"({"traceEvents")",
                                          "[1, 2, {}]",
                                          "[{}, {}]",
                                          R"({"traceEvents": [{"ph": "X"}, null, {"ph": "X"}]})"};
  for (const std::string& text : texts) {
    const Result<Trace> t = read(text, std::size_t{1} << 16U);
    if (t) continue;
    EXPECT_THAT(t.error().line(), HasSubstr("has no list of trace events"));
  }
  const Trace odd = read_sound(around(R"(7,)" + kernel(120, 10, 11)));
  EXPECT_THAT(losses(odd), HasSubstr("no event"));
}

TEST(Kineto, ManyStraysCostNoMoreThanTheirBytes) {
  std::string list;
  for (int i = 0; i < 20'000; ++i) list += R"({"ph": "M"}}, )";
  // Windows smaller than the file: a guess behind each stray would read one of them in vain.
  const Trace t = read_sound(around(list + kernel(120, 10, 11)), std::size_t{1} << 16U);
  EXPECT_EQ(t.gpu.size(), 1U);
  EXPECT_THAT(losses(t), HasSubstr("no event (20000)"));
}

TEST(Kineto, CorpusIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/kineto/";
  const std::vector<std::string> files = folder_entries(folder);
  ASSERT_GE(files.size(), 8U);
  std::size_t with_work = 0;
  for (const std::string& file : files) {
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const Result<Trace> whole = read(mapped->text()), pieces = read(mapped->text(), 64);
    ASSERT_EQ(whole.has_value(), pieces.has_value()) << file;
    if (!whole) continue;
    EXPECT_EQ(words_of(*whole), words_of(*pieces)) << file;
    with_work += whole->gpu.empty() ? 0 : 1;
  }
  EXPECT_GE(with_work, 4U);
}

TEST(Kineto, SamplesLoseNoGpuWork) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/torch_trace/";
  if (!is_folder(folder)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  struct Sample {
    const char* file;
    std::size_t kernels;  // counted with another JSON reader
  };
  for (const Sample& sample : {Sample{"b200_eager_trace.json.gz", 768}, Sample{"h100_qwen1.5-0.5b-chat.json.gz", 1465},
                               Sample{"hta_sampled_rank0.json.gz", 1154}, Sample{"hta_cpu_only.json.gz", 0},
                               Sample{"vllm_decode_full_graph_execution.json.gz", 425}}) {
    const Result<MappedFile> mapped = MappedFile::open(folder + sample.file);
    ASSERT_TRUE(mapped) << sample.file;
    const Result<Trace> t = read(mapped->text(), std::size_t{1} << 16U);
    ASSERT_TRUE(t) << t.error().line();
    const auto kernels =
        std::count_if(t->gpu.begin(), t->gpu.end(), [](const GpuSpan& s) { return s.work == GpuWork::kernel; });
    EXPECT_EQ(static_cast<std::size_t>(kernels), sample.kernels) << sample.file;
    EXPECT_EQ(losses(*t), "") << sample.file;
  }
}

}  // namespace
}  // namespace corridor::profile
