// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a table of measured points. It is read or refused in one line; usable rows are sound.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/points/measured_point.h"
#include "corridor/profile/points/words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = corridor::profile::read_points(text, "a100_sxm_vllm0.14.0_gemm_fp8.csv");
  if (!table) return table.error().line().empty() ? (std::abort(), 1) : 0;
  for (const corridor::profile::MeasuredPoint& point : table->points) {
    const bool sound = std::isfinite(point.value) && point.value > 0 && point.unit > 0;
    if (point.id.empty() || (point.not_usable.empty() && !sound)) std::abort();
    (void)corridor::profile::weight_format_word(point.weights);
    (void)corridor::profile::version_of(point.engine);
    (void)corridor::profile::engine_word(point.engine);
    (void)corridor::profile::short_device_word(point.device);
  }
  return 0;
}
