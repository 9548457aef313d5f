// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as pasted text. It is always answered, within its bounds, and never crashes or hangs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/paste/pasted_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto run = corridor::profile::read_paste(text);
  const bool bounded = run.results.size() <= 200 && run.log_facts.size() <= 1000 && run.ignored.size() <= 50;
  if (!bounded) std::abort();
  return 0;
}
