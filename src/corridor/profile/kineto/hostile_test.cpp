// SPDX-License-Identifier: Apache-2.0
// Kineto traces that are damaged, cut off, packed in odd ways or made to exhaust the reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>

#include "corridor/base/file.h"
#include "corridor/profile/byte_source.h"
#include "corridor/profile/kineto/kineto_test.h"

namespace corridor::profile {
namespace {

using namespace kineto_test;
using ::testing::HasSubstr;

/// A file that never stands in memory: a beginning, one piece many times, an end.
class GeneratedBytes : public ByteSource {
 public:
  GeneratedBytes(std::string head, std::string piece, std::size_t times, std::string tail)
      : head_(std::move(head)), piece_(std::move(piece)), tail_(std::move(tail)), left_(times) {}
  Result<std::string_view> next(std::size_t most) override {
    if (text_.empty() && !head_.empty()) text_ = std::exchange(head_, {});
    while (given_ == text_.size() && (left_ > 0 || !tail_.empty())) {
      text_ = left_ > 0 ? piece_ : std::exchange(tail_, {});
      left_ -= left_ > 0 ? 1 : 0;
      given_ = 0;
    }
    const std::string_view piece = std::string_view(text_).substr(given_, most);
    given_ += piece.size();
    return piece;
  }

 private:
  std::string head_, piece_, tail_, text_;
  std::size_t left_, given_ = 0;
};

std::string zst(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string all_of(std::string_view bytes, std::size_t most_unpacked = std::size_t{1} << 30U,
                   std::size_t trusted_bytes = std::size_t{1} << 30U, std::size_t piece_bytes = 7) {
  const auto source = open_bytes(bytes, "f", most_unpacked, trusted_bytes);
  std::string out;
  while (true) {
    const Result<std::string_view> piece = source->next(piece_bytes);
    if (!piece) return out + "!" + piece.error().line();
    if (piece->empty()) return out;
    out += *piece;
  }
}

TEST(ByteSource, MembersAndFramesFollowEachOther) {
  EXPECT_EQ(all_of("plain"), "plain");
  EXPECT_EQ(all_of(""), "");
  EXPECT_EQ(all_of(packed("first, ") + packed("second")), "first, second");
  EXPECT_EQ(all_of(packed("first") + std::string(600, '\0')), "first");
  EXPECT_EQ(all_of(zst("first, ") + zst("second")), "first, second");
}

TEST(ByteSource, DamageIsToldBehindWhatCouldBeRead) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += std::to_string(i * 7919 % 4001) + " ";
  for (const std::string& whole : {packed(text), zst(text)}) {
    ASSERT_EQ(all_of(whole), text);
    for (const std::size_t cut : {whole.size() - 1, whole.size() / 2, std::size_t{12}}) {
      const std::string read = all_of(std::string_view(whole).substr(0, cut));
      EXPECT_THAT(read, HasSubstr("!f: the packed stream is cut off")) << cut;
      EXPECT_TRUE(text.starts_with(read.substr(0, read.find('!')))) << cut;
    }
    EXPECT_THAT(all_of(whole, 1000), HasSubstr("!f: unpacks to more than"));
  }
  EXPECT_THAT(all_of(packed("first") + "garbage"), HasSubstr("first!f: the gzip stream is damaged"));
}

TEST(ByteSource, BeyondTheTrustedBytesNothingUnpacksToMoreThan150TimesItsSize) {
  constexpr std::size_t size = std::size_t{1} << 20U, trusted = size / 2, piece = std::size_t{1} << 14U,
                        most = 2 * size;
  // One byte repeated packs about 1000 : 1; with a part of noise the whole file packs less than 150 : 1.
  const std::string flat(size, 'x');
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < size / 100; ++i)
    noise += static_cast<char>((x = x * 1664525U + 1013904223U) >> 24U);
  for (const bool zstd : {false, true}) {
    const std::string bomb = zstd ? zst(flat) : packed(flat), sound = zstd ? zst(noise + flat) : packed(noise + flat);
    ASSERT_GT(flat.size() / bomb.size(), 150U);
    ASSERT_LT((noise + flat).size() / sound.size(), 150U);
    const std::string stopped = all_of(bomb, most, trusted, piece);
    EXPECT_THAT(stopped.substr(stopped.find('!') + 1), HasSubstr("f: unpacks to more than 150 times its size"));
    EXPECT_LE(stopped.find('!'), trusted + piece);
    EXPECT_EQ(all_of(bomb, most, size, piece), flat) << "no more than the trusted bytes";
    EXPECT_EQ(all_of(sound, most, trusted, piece), noise + flat);
  }
}

TEST(KinetoHostile, AMissingQuoteCostsOneEvent) {
  for (const char* damage :
       {R"({"ph": "X", "cat": "kernel", "name": "broken, "ts": 150, "dur": 1})",
        R"({"ph": "X", "cat": "kernel", "name": "broken}{)", R"({"ph": "X", "args": {"a": [{"b": )"}) {
    std::vector<std::string> events = small_run();
    events.insert(events.begin() + 1, damage);
    events.insert(events.begin() + 4, damage);
    for (const std::size_t window : {std::size_t{0}, std::size_t{64}, std::size_t{700}}) {
      const Trace t = read_sound(around(joined(events)), window);
      EXPECT_EQ(t.gpu.size(), 3U) << damage << " in windows of " << window;
      EXPECT_NE(t.gpu[1].op, none) << damage;
      EXPECT_NE(losses(t), "") << damage;
      EXPECT_EQ(t.rank, 3) << damage;
    }
  }
}

TEST(KinetoHostile, EventsOfAnySizeAndTailsBeforeAndAfter) {
  const std::string large = event("cpu_op", "large", 90, 1, R"("x": ")" + std::string(300'000, 'x') + "\"");
  const Trace t = read_sound(around(large + "," + joined(small_run())), 64);
  EXPECT_EQ(t.gpu.size(), 3U);
  EXPECT_EQ(losses(t), "");
  EXPECT_EQ(t.rank, 3);
  GeneratedBytes huge(R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": ")", std::string(1U << 20U, 'x'), 40,
                      "\"}, " + kernel(100, 10, 1) + R"(], "with_stack": 1})");
  const Result<Trace> read = read_kineto(huge, "t.json");
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(read->gpu.size(), 1U);
  EXPECT_TRUE(read->with_stack);
  EXPECT_THAT(losses(*read), HasSubstr("events larger than 32 MiB (1)"));
}

TEST(KinetoHostile, EndlessNestingAndEndlessNothingAreAnswered) {
  const std::string many(1U << 16U, '[');
  const std::string objects = [] {
    std::string out;
    for (int i = 0; i < 10'000; ++i) out += R"({"a":)";
    return out;
  }();
  constexpr std::size_t times = 560;  // 35 MiB of brackets: beyond what an event or the fields around may have
  for (const std::string& head :
       {std::string(), std::string(R"({"traceEvents": [)"), R"({"traceEvents": [{"x": )" + many,
        R"({"traceEvents": [)" + kernel(100, 10, 1) + R"(], "x": )"}) {
    for (const std::string& piece : {many, objects, std::string(1U << 16U, '\0'), std::string(1U << 16U, ' ')}) {
      GeneratedBytes source(head, piece, times, "");
      const Result<Trace> t = read_kineto(source, "t.json");
      if (t) {
        EXPECT_FALSE(t->stats.dropped.empty()) << head.substr(0, 40) << piece.substr(0, 10);
      }
      if (!t) {
        EXPECT_THAT(t.error().line(), HasSubstr("has no list of trace events"));
      }
    }
  }
}

TEST(KinetoHostile, TimesOfZeroAmongAbsoluteOnesAreLeftOut) {
  const std::string early = kernel(0, 3, 1, "of 1970");
  const Trace absolute = read_sound(around(early + "," + kernel(1.7e15, 10, 2) + "," + kernel(1.7e15 + 20, 10, 3)));
  EXPECT_EQ(absolute.gpu.size(), 2U);
  EXPECT_NEAR(absolute.host_span_s, 30e-6, 1e-6);
  EXPECT_THAT(losses(absolute), HasSubstr("at time zero"));
  const Trace relative = read_sound(around(early + "," + kernel(20, 10, 2)));
  EXPECT_EQ(relative.gpu.size(), 2U);
  EXPECT_EQ(losses(relative), "");
  const Trace beyond = read_sound(around(kernel(1e300, 1, 1) + "," + kernel(-1e300, 1, 1) + "," + kernel(5, 1e300, 1)));
  EXPECT_THAT(losses(beyond), HasSubstr("without a time or a duration (3)"));
}

TEST(KinetoHostile, SevenInflatedCopiesAreCut) {
  // As reported of a trace of 55,423 events: 7 copies inflated until they filled most of it.
  std::vector<std::string> events;
  for (int i = 0; i < 500; ++i) {
    const bool inflated = i % 70 == 5 && i < 490;
    events.push_back(inflated ? event("gpu_memcpy", "Memcpy HtoD", 1000 + 10 * i, 1e6, R"("device": 0, "stream": 7)")
                              : kernel(1000 + 10 * i, 8, i + 1));
  }
  const Trace t = read_sound(around(joined(events)));
  ASSERT_EQ(t.stats.repaired.size(), 1U);
  EXPECT_EQ(t.stats.repaired[0].count, 7U);
  for (const GpuSpan& span : t.gpu) EXPECT_LE(span.duration_s, 10.01e-6);
}

TEST(KinetoHostile, WhatIsNotUsedIsNamed) {
  const Trace t = read_sound(around(joined(small_run()) + "," + event("overhead", "x", 1, 1, "") + "," +
                                    event("made_up", "y", 1, 1, "") + R"(, {"ph": "C", "name": "c", "ts": 1})" +
                                    R"(, {"ph": "Q", "name": "q", "ts": 1})"));
  std::string told;
  for (const ImportEvent& e : t.stats.dropped) {
    told += e.what + " " + std::to_string(e.count) + " " + std::string(name(e.severity)) + "\n";
  }
  for (const char* line : {"Python functions 1 note", "arrows between events 1 note", "overhead 1 note",
                           "names of processes and threads 1 note", "values of counters 1 note",
                           "events of category \"made_up\" 1 note", "events of phase \"Q\" 1 warning"}) {
    EXPECT_THAT(told, HasSubstr(line));
  }
}

TEST(ImportStatsOf, AnyFileStaysShortAndReadable) {
  ImportStats stats;
  for (int i = 0; i < 1000; ++i) {
    stats.drop("kind " + std::to_string(i) + "\x1b[31m\xff", Severity::note, std::string(500, 'x') + "\xc3");
  }
  EXPECT_LE(stats.dropped.size(), 100U);
  EXPECT_EQ(stats.dropped_count(), 1000U);
  EXPECT_EQ(stats.dropped[0].what, "kind 0[31m");
  EXPECT_LE(stats.dropped[0].example.size(), 120U);
}

TEST(KinetoHostile, ManyNestedRangesCostNoMoreThanTheirCount) {
  // Each operation and each annotation lies around all launches: walking them for each launch would take hours.
  constexpr int count = 20'000;
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += event("cpu_op", "outer", i, 1e6, "") + "," + event("user_annotation", "range", i, 1e6, "") + "," +
            event("gpu_user_annotation", "range", i, 1e6, "") + ",";
  }
  for (int i = 0; i < count; ++i) list += launch(count + i, i + 1) + "," + kernel(count + i, 1, i + 1) + ",";
  const Trace t = read_sound(around(list + kernel(3 * count, 1, 0)));
  EXPECT_EQ(t.gpu.size(), count + 1U);
  EXPECT_NE(t.gpu[5].op, none);
  EXPECT_NE(t.gpu[5].annotation, none);
}

TEST(KinetoHostile, CutAndDamagedSamplesGivePartialAnswers) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/torch_trace/";
  if (!is_folder(folder)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  for (const std::string& file : folder_entries(folder)) {
    if (!file.ends_with(".gz")) continue;
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const std::string_view bytes = mapped->text();
    constexpr std::size_t most_bytes = 150'000;  // the larger samples only cost time here
    if (bytes.size() > most_bytes) continue;
    for (const double part : {0.1, 0.5, 0.99}) {
      const auto cut = static_cast<std::size_t>(part * static_cast<double>(bytes.size()));
      const Result<Trace> t = read(bytes.substr(0, cut));
      if (t) {
        EXPECT_NE(losses(*t), "") << file << " cut at " << part;
      }
      if (!t) {
        EXPECT_THAT(t.error().line(), HasSubstr("has no list of trace events")) << file;
      }
      std::string damaged(bytes);
      damaged[cut] = static_cast<char>(~damaged[cut]);
      const Result<Trace> d = read(damaged);
      if (d) {
        EXPECT_NE(losses(*d), "") << file << " damaged at " << part;
      }
    }
  }
}

}  // namespace
}  // namespace corridor::profile
