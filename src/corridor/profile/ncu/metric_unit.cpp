// SPDX-License-Identifier: Apache-2.0
// A unit is a prefix and a word, or two of them with a slash between.
#include "corridor/profile/ncu/metric_unit.h"

#include <array>
#include <string>
#include <utility>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile::ncu {
namespace {

using Named = std::pair<std::string_view, double>;

// As the tool writes them: long words until 2022, short ones ("us", "Ghz") since.
constexpr std::array<Named, 9> whole_words{{{"%", 0.01},
                                            {"s", 1},
                                            {"ms", 1e-3},
                                            {"us", 1e-6},
                                            {"ns", 1e-9},
                                            {"second", 1},
                                            {"msecond", 1e-3},
                                            {"usecond", 1e-6},
                                            {"nsecond", 1e-9}}};
constexpr std::array<Named, 8> prefixes{{{"kib", 1024.0},
                                         {"mib", 1048576.0},
                                         {"gib", 1073741824.0},
                                         {"k", 1e3},
                                         {"m", 1e6},
                                         {"g", 1e9},
                                         {"t", 1e12},
                                         {"p", 1e15}}};

double factor_of_word(std::string_view word) {
  for (const Named& named : whole_words) {
    if (word == named.first) return named.second;
  }
  const std::string_view stems[] = {"byte", "hz", "b", "bit"};
  for (const Named& prefix : prefixes) {
    if (word.substr(0, prefix.first.size()) != prefix.first) continue;
    const std::string_view rest = word.substr(prefix.first.size());
    // "KiB" holds its stem already.
    if (rest.empty() && prefix.first.size() == 3) return prefix.second;
    for (const std::string_view stem : stems) {
      if (rest == stem) return prefix.second;
    }
  }
  return 1;
}

}  // namespace

double unit_factor(std::string_view unit) {
  constexpr std::size_t longest_unit = 64;
  if (unit.size() > longest_unit) return 1;
  const std::string plain = lower(trim(unit));
  const std::size_t slash = plain.find('/');
  if (slash == std::string::npos) return factor_of_word(plain);
  const std::string_view text = plain;
  return factor_of_word(text.substr(0, slash)) / factor_of_word(text.substr(slash + 1));
}

}  // namespace corridor::profile::ncu
