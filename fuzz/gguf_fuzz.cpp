// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a GGUF file. A spec that comes out must also count without trouble.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto model = corridor::model::read_gguf(file, "fuzz.gguf");
  if (model) (void)corridor::model::weight_bytes(*model);
  return 0;
}
