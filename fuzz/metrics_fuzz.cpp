// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as one metrics page, its two halves as two, and as the answer of a server that holds one.
// They are read or refused, within bounds.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/metrics/http_page.h"
#include "corridor/profile/metrics/server_metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace profile = corridor::profile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const profile::MetricsPage first = profile::read_metrics_page(text.substr(0, size / 2));
  const profile::MetricsPage second = profile::read_metrics_page(text.substr(size / 2));
  const profile::MetricsPage whole = profile::read_metrics_page(text);
  (void)profile::looks_like_metrics(text);
  (void)profile::read_server_metrics(whole, nullptr, std::nullopt, "page");
  for (const bool closed : {false, true}) {
    const auto answer = profile::parse_http_page(text, closed);
    if (answer && !*answer && closed) std::abort();  // after the last byte there is nothing to wait for
    if (answer && *answer && (*answer)->body.size() > size) std::abort();
  }
  const auto two = profile::read_server_metrics(first, &second, 10.0, "pages");
  if (!two) return 0;
  for (const auto& rate : {two->generation_tok_s, two->prompt_tok_s, two->request_per_s}) {
    if (rate && !(*rate >= 0)) std::abort();
  }
  for (const auto& share : {two->kv_usage, two->prefix_hit_rate, two->acceptance}) {
    if (share && !(*share >= 0 && *share <= 1)) std::abort();
  }
  return 0;
}
