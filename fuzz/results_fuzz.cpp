// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a file of results, and as a file whose kind is asked. It is read or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/file_kind.h"
#include "corridor/profile/paste/result_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace profile = corridor::profile;
  constexpr std::size_t most_unpacked = std::size_t{1} << 24U;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)profile::kind_of(bytes.substr(0, std::size_t{64} << 10U));
  const auto source = profile::open_bytes(bytes, "input", most_unpacked);
  const auto run = profile::read_result_file(*source, "input");
  if (run && (run->results.empty() || run->results.size() > 200 || run->notes.size() > 60)) std::abort();
  return 0;
}
