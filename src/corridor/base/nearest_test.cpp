// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelt words, and how a user's word is shown in a message.
#include "corridor/base/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearestWords, PutsTheClosestFirst) {
  const std::vector<std::string> known = {"--context", "--batch", "--math"};
  EXPECT_THAT(nearest_words("--bach", known, 1), ElementsAre("--batch"));
  EXPECT_THAT(nearest_words("--BATCH", known, 1), ElementsAre("--batch"));
  EXPECT_EQ(nearest_words("--bach", known, 2).front(), "--batch");
}

TEST(NearestWords, LeavesStrangersOutUnlessTold) {
  EXPECT_THAT(nearest_words("zzzzzzzzz", {"predict", "sweep"}, 2), IsEmpty());
  EXPECT_EQ(nearest_words("zzzzzzzzz", {"predict", "sweep"}, 2, true).size(), 2U);
  EXPECT_THAT(nearest_words(std::string(1'000'000, 'a'), {"predict"}, 1), IsEmpty());
}

TEST(ShownWord, IsShortAndOnOneLine) {
  EXPECT_EQ(shown_word("a\nb"), "a?b");
  EXPECT_EQ(shown_word("abcdef", 3), "abc...");
  EXPECT_EQ(shown_word("ab\xC3\xA9z", 3), "ab...");
}

}  // namespace
}  // namespace corridor
