// SPDX-License-Identifier: Apache-2.0
// The known words closest to a misspelt one, for error messages: "--bach" → "--batch".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corridor {

/// Letters to change, add or drop to get from one word to the other; case counts. Cost: product of the lengths.
[[nodiscard]] std::size_t letters_apart(const std::string& a, const std::string& b);

/// At most `most` of `known`, closest first by the number of letters to change, add or drop (case does not count);
/// words that share fewer than half of their letters with `word` are left out unless `far_too`.
[[nodiscard]] std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known,
                                                     std::size_t most, bool far_too = false);

/// The first `most` bytes of a user's word, on one line, cut at a whole character: what may stand in a message.
[[nodiscard]] std::string shown_word(std::string_view word, std::size_t most = 80);

}  // namespace corridor
