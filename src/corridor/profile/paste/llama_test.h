// SPDX-License-Identifier: Apache-2.0
// The test names of llama-bench: "pp512", "tg128 @ d4096", "pp512+tg128".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {

struct LlamaTest {
  std::optional<std::int64_t> prompt, generated, depth;
};

[[nodiscard]] std::optional<LlamaTest> llama_test(std::string_view text);
/// Puts the rate where its test belongs: prefill, decode, or both together.
void set_llama_rate(ResultBlock& block, const LlamaTest& test, double tok_s);

}  // namespace corridor::profile
