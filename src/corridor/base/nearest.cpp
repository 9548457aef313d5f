// SPDX-License-Identifier: Apache-2.0
// Edit distance over short words.
#include "corridor/base/nearest.h"

#include <algorithm>
#include <utility>

#include "corridor/base/lower.h"

namespace corridor {
namespace {

constexpr std::size_t longest_compared = 64;  // longer words are no misspelling of a name, and cost time

std::string folded(std::string_view text) {
  return lower(text.substr(0, longest_compared));
}

}  // namespace

std::size_t letters_apart(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known, std::size_t most,
                                       bool far_too) {
  const std::string wanted = folded(word);
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& each : known) {
    const std::string other = folded(each);
    const std::size_t apart = letters_apart(wanted, other);
    if (far_too || 2 * apart <= std::max(wanted.size(), other.size())) scored.emplace_back(apart, each);
  }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, scored.size()); ++i) out.push_back(scored[i].second);
  return out;
}

std::string shown_word(std::string_view word, std::size_t most) {
  std::string out(word.substr(0, most));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = '?';
  }
  if (word.size() <= most) return out;
  // A cut inside a UTF-8 character would leave half of it behind.
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
  if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0U) out.pop_back();
  return out + "...";
}

}  // namespace corridor
