// SPDX-License-Identifier: Apache-2.0
// Texts that the TOML parser must never see, and ordinary ones that it must.
#include "corridor/hardware/toml_guard.h"

#include <gtest/gtest.h>

namespace corridor::hardware {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(TomlGuard, RefusesDeepNestingOfEveryKind) {
  for (const std::string& text : {
           "[a" + repeated(".a", 50000) + "]\n",                // a header
           "a" + repeated(".a", 50000) + " = 1\n",              // a dotted key
           "x = " + repeated("[", 50000) + "\n",                // lists
           "x = " + repeated("{a=", 50000) + "\n",              // inline tables
           "x = [\n" + repeated("1, [\n", 50000),               // lists over lines
           "x = { a" + repeated(" . 'a'", 50000) + " = 1 }\n",  // quoted parts of a key
           "x = [\"#\", " + repeated("[", 50000) + "\n",        // behind a string with a comment sign
       }) {
    const auto fault = toml_fault(text);
    ASSERT_TRUE(fault) << text.substr(0, 40);
    EXPECT_NE(fault->what.find("deep"), std::string::npos) << fault->what;
  }
}

TEST(TomlGuard, RefusesLongTextsBehindWhichAnythingCouldHide) {
  const auto fault = toml_fault("a = 1\nx = [\"\"\"\n\"\"\", " + repeated("[", 50000));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->line, 2U);
}

TEST(TomlGuard, RefusesWhatIsTooLarge) {
  EXPECT_TRUE(toml_fault(repeated("# comment\n", 200000)));
}

TEST(TomlGuard, PassesOrdinaryText) {
  EXPECT_FALSE(toml_fault("[a.b]\nx = { value = 1.5, unit = \"a.b.c\" }\n[[ladder]]\ny = [1.0, 2.0]\nz = \"\"\n" +
                          repeated("[t]\nk = [ [1.5], [2.5] ]\n", 100) + "v = [" + repeated("0.5, ", 100) + "1.0]\n" +
                          "s = \"" + repeated("[.", 100) + "\" # " + repeated("{.", 100) + "\n"));
}

}  // namespace
}  // namespace corridor::hardware
