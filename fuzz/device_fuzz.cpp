// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a device file. Nothing may crash, hang or read out of bounds.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "corridor/hardware/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto device = corridor::hardware::parse_device(text, "fuzz.toml");
  if (device) (void)corridor::hardware::executed_type(*device, corridor::hardware::ComputeType::bf16);
  return 0;
}
