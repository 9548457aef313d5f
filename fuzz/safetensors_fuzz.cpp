// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a safetensors file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "corridor/model/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  (void)corridor::model::read_safetensors_header(file, "fuzz.safetensors");
  return 0;
}
