// SPDX-License-Identifier: Apache-2.0
// Replays the fuzzing corpus of the three readers: each file gives a spec or one clear line, never a crash.
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/base/file.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

using Reader = std::function<std::optional<Error>(std::string_view, const std::string&)>;

/// Runs `reader` over every file of a corpus; returns how many it accepted.
int replay(const std::string& corpus, const Reader& reader) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/" + corpus;
  const std::vector<std::string> files = folder_entries(folder);
  EXPECT_GE(files.size(), 15U) << folder;
  int accepted = 0;
  for (const std::string& file : files) {
    const auto text = read_text_file(folder + "/" + file);
    EXPECT_TRUE(text) << file;
    const std::optional<Error> error = text ? reader(*text, file) : std::nullopt;
    if (!error) {
      ++accepted;
      continue;
    }
    EXPECT_THAT(error->line(), ::testing::HasSubstr(file));
    EXPECT_THAT(error->line(), ::testing::Not(::testing::HasSubstr("\n"))) << file;
    EXPECT_FALSE(error->fix.empty()) << file;
    EXPECT_LT(error->line().size(), 400U) << file;
  }
  return accepted;
}

template <class T>
std::optional<Error> error_of(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error();
}

TEST(Corpus, HfConfig) {
  const int accepted = replay("hf_config", [](std::string_view text, const std::string& where) {
    const auto model = read_hf_config(text, where);
    EXPECT_TRUE(!model || weight_bytes(*model) > 0) << where;
    return error_of(model);
  });
  EXPECT_GE(accepted, 1);
}

TEST(Corpus, Safetensors) {
  const int accepted = replay("safetensors", [](std::string_view text, const std::string& where) {
    return error_of(read_safetensors_header(text, where));
  });
  EXPECT_GE(accepted, 1);
}

TEST(Corpus, Gguf) {
  const int accepted =
      replay("gguf", [](std::string_view text, const std::string& where) { return error_of(read_gguf(text, where)); });
  EXPECT_GE(accepted, 1);
}

}  // namespace
}  // namespace corridor::model
