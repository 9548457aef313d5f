// SPDX-License-Identifier: Apache-2.0
// Texts that are no run at all, too large, broken or made to hurt: answered, bounded, nothing guessed.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "corridor/base/file.h"
#include "corridor/profile/paste/pasted_run.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The promises of PastedRun, whatever the text.
void expect_bounded(const PastedRun& run) {
  EXPECT_LE(run.results.size(), 200U);
  EXPECT_LE(run.log_facts.size(), 1000U);
  EXPECT_LE(run.ignored.size(), 50U);
  EXPECT_LE(run.notes.size(), 50U);
  for (const std::string& line : run.ignored) EXPECT_LE(line.size(), 80U) << line;
  for (const auto* lines : {&run.understood, &run.ignored, &run.notes}) {
    for (const std::string& line : *lines) EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

/// Ten thousand words in sentences; every fourth sentence speaks of the very things the reader looks for.
std::string novel() {
  const std::string sentences[] = {
      "The serving of tea began at 4:30, and by 5:15 the throughput of the kitchen was the talk of the town.",
      "She thought of the 27 letters: none of them, she said, had been answered in 1871.",
      "He had a mean temper - or so they said - and the model of his ship stood on the shelf.",
      "Running: that was all he did, and waiting was all that she could do.",
      "A vllm, whatever that is, would serve nobody here; nor would an ollama run through the fields.",
      "Their prompt reply came at a rate of 3 per week, with a total duration of nine winters."};
  std::string text;
  std::size_t words = 0;
  for (std::size_t i = 0; words < 10'000; ++i) {
    const std::string& sentence = sentences[i % std::size(sentences)];
    words += static_cast<std::size_t>(std::count(sentence.begin(), sentence.end(), ' ')) + 1;
    text += sentence + (i % 5 == 4 ? "\n\n" : i % 2 == 0 ? " " : "\n");
  }
  return text;
}

TEST(Hostile, ANovelIsNoRun) {
  const PastedRun run = read_paste(novel());
  EXPECT_TRUE(run.empty());
  EXPECT_THAT(run.understood, IsEmpty());
  EXPECT_THAT(run.notes, IsEmpty());
  expect_bounded(run);
}

// A text of the unit over and over, of at least so many bytes; by doubling, because sanitizers make every append dear.
std::string repeated(const std::string& unit, std::size_t bytes) {
  std::string text = unit;
  while (text.size() < bytes) text += text;
  return text;
}

TEST(Hostile, NothingAtAll) {
  for (const std::string_view text :
       {"", "\n", "\r\n\r\n", "   \t", "\xEF\xBB\xBF", "{", "[{", "\"", "'", "\x1b[", "\x1b]0;t", "|", "-", "--"}) {
    const PastedRun run = read_paste(text);
    EXPECT_TRUE(run.empty()) << text;
    EXPECT_THAT(run.understood, IsEmpty()) << text;
  }
}

TEST(Hostile, AHundredMegabytesOfLog) {
  constexpr std::size_t size = 100U << 20U;
  std::string text = "vllm serve acme/M-8B -tp 2\n";
  text.reserve(size + 1024);
  std::size_t i = 0;
  while (text.size() < size) {
    text += "INFO [loggers.py] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: ";
    text += std::to_string(100 + i++ % 50);
    text += ".0 tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 10.0%\n";
  }
  text += "Mean TTFT (ms): 77.0\n";
  const auto last_line = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const PastedRun run = read_paste(text);
  EXPECT_TRUE(run.cut);
  EXPECT_THAT(run.notes, Contains(HasSubstr("only its first and last")));
  ASSERT_TRUE(run.command) << "the head is read";
  ASSERT_EQ(run.results.size(), 1U) << "the end is read";
  EXPECT_EQ(run.results[0].line, last_line) << "lines are counted through the part that is not read";
  EXPECT_GT(run.windows.count, 10'000U);
  EXPECT_GE(run.windows.generation_tok_s_sum / static_cast<double>(run.windows.busy), 100);
  expect_bounded(run);
}

TEST(Hostile, OneEndlessLine) {
  for (const std::string& unit :
       {std::string("9"), std::string("a "), std::string("\""), std::string("{"), std::string("|")}) {
    const PastedRun run = read_paste(repeated(unit, 20U << 20U));
    EXPECT_TRUE(run.cut);
    EXPECT_TRUE(run.empty());
    expect_bounded(run);
  }
}

TEST(Hostile, TextsMadeToBeSlow) {
  const std::string units[] = {"{\n",
                               "vllm serve '\n",
                               "vllm serve x/1 \\\n",
                               "vllm serve vllm serve ",
                               "vllm serve -a vllm serve -b \\\n",
                               "docker run vllm-openai ",
                               "'\"\n",
                               "|\n",
                               "| a | b |\n",
                               "{\"a\":\n",
                               "[[[[{\n",
                               "a: 1\n",
                               "\x1b]\n",
                               "\x1b[0",
                               "Mean TTFT (ms): 1\n",
                               "Throughput: 1 requests/s,\n",
                               "OLLAMA_A=1 num_ctx PARAMETER \n",
                               "| pp1 | 1 \u00B1 1 |\n",
                               "--flag --\n"};
  for (const std::string& unit : units) {
    // Large enough that a reader quadratic in lines or nesting would not end before the runner's own limit.
    const PastedRun run = read_paste(repeated(unit, 256U << 10U));
    expect_bounded(run);
  }
}

TEST(Hostile, UnknownFactsAreNamedAndCounted) {
  std::string text = "Warp factor: 9.5 tok/s\n--overdrive 11\nMeeting at: 10:30\nHello there\n";
  for (int i = 0; i < 100; ++i) text += "Unknown figure " + std::to_string(i) + ": 5\n";
  const PastedRun run = read_paste(text);
  EXPECT_TRUE(run.empty());
  EXPECT_THAT(run.ignored, Contains("Warp factor: 9.5 tok/s"));
  EXPECT_THAT(run.ignored, Contains("--overdrive 11"));
  EXPECT_THAT(run.ignored, ::testing::Not(Contains(HasSubstr("Meeting"))));
  EXPECT_EQ(run.ignored.size(), 50U);
  EXPECT_EQ(run.ignored_more, 52U);
}

TEST(Hostile, EverythingThatComesOutIsValidUtf8) {
  const PastedRun run = read_paste(
      "vllm serve acme/M\xFF\xC3-8B --shiny \xE4\xB8\nModel\xF0\x9F: 3\nMean TTFT (ms): 5\xFF\n"
      "| bad\xC3 1B | 1.00 GiB | 1.00 B | X | 1 | tg8 | 5.0 \xC2\xB1 1 |\n");
  const auto valid = [](std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto lead = static_cast<unsigned char>(text[i]);
      const std::size_t follow = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : 9;
      if (follow == 9 || i + follow >= text.size()) return false;
      for (std::size_t k = 1; k <= follow; ++k) {
        if ((static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80U) return false;
      }
      i += follow;
    }
    return true;
  };
  EXPECT_FALSE(run.empty());
  for (const auto* lines : {&run.understood, &run.ignored, &run.notes}) {
    for (const std::string& line : *lines) EXPECT_TRUE(valid(line)) << line;
  }
}

RC_GTEST_PROP(HostileProperty, AnyBytesAreAnswered, (const std::string& text)) {
  expect_bounded(read_paste(text));
}

TEST(Corpus, EveryFileIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/paste";
  const auto files = folder_entries(folder);
  ASSERT_GE(files.size(), 15U);
  int understood = 0;
  for (const std::string& file : files) {
    const auto text = read_text_file(folder + "/" + file);
    ASSERT_TRUE(text) << file;
    const PastedRun run = read_paste(*text);
    expect_bounded(run);
    if (!run.empty()) ++understood;
    // Every beginning of a paste must be answered too.
    for (std::size_t cut = 0; cut < text->size(); cut += 1 + text->size() / 64) {
      expect_bounded(read_paste(std::string_view(*text).substr(0, cut)));
    }
  }
  EXPECT_GE(understood, 8);
}

TEST(TextScan, NumbersUnitsAndCuts) {
  EXPECT_FALSE(leading_number("-1"));
  EXPECT_FALSE(leading_number("nan"));
  EXPECT_FALSE(leading_number("."));
  EXPECT_FALSE(leading_number("1e99"));
  EXPECT_EQ(leading_number("1,234.5 x")->value, 1234.5);
  EXPECT_EQ(leading_number("1,23")->value, 1) << "no thousands separator";
  EXPECT_EQ(leading_number("2.5e3")->value, 2500);
  EXPECT_EQ(*seconds_of("1m2.5s"), 62.5);
  EXPECT_EQ(*seconds_of("250 us"), 250e-6);
  EXPECT_FALSE(seconds_of("5"));
  EXPECT_FALSE(seconds_of("2s1m"));
  EXPECT_EQ(*bytes_of("2GiB"), 2147483648.0);
  EXPECT_FALSE(bytes_of("2"));
  EXPECT_EQ(shortened("\u4f60\u597d\u4f60\u597d", 10), "\u4f60\u597d...");
}

}  // namespace
}  // namespace corridor::profile
