// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a Kineto trace, in small windows. It is read or refused, and its indices stay inside;
// the copy without names is a trace, too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "corridor/profile/kineto/events.h"
#include "corridor/profile/kineto/join.h"
#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/kineto/redact.h"
#include "corridor/profile/kineto/window.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace profile = corridor::profile;
  constexpr std::size_t most_unpacked = std::size_t{1} << 24U, window_bytes = 256;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = profile::open_bytes(bytes, "input", most_unpacked);
  profile::Trace trace;
  profile::kineto::RawEvents events;
  profile::kineto::EventParser parser(events, trace.stats);
  profile::kineto::WindowReader reader(*source, trace.stats, window_bytes);
  if (!reader.read([&](std::string_view window) { return parser.take(window); }, "input")) return 0;
  profile::kineto::read_surroundings(reader.surroundings(), trace);
  profile::kineto::join(std::move(events), trace);
  const auto inside = [](std::uint32_t index, std::size_t size_of) {
    return index == profile::none || index < size_of;
  };
  for (const profile::GpuSpan& span : trace.gpu) {
    const bool sound = inside(span.launch, trace.calls.size()) && inside(span.op, trace.ops.size()) &&
                       inside(span.annotation, trace.annotations.size()) && inside(span.shape, trace.shapes.size()) &&
                       inside(span.name, trace.names.size()) && span.duration_s >= 0;
    if (!sound) std::abort();
  }
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    if (!inside(trace.ops[i].parent, i)) std::abort();  // the one around it comes first
  }
  std::string copy;
  const auto keep = [&](std::string_view piece) -> corridor::Result<int> {
    copy += piece;
    return 0;
  };
  const auto again = profile::open_bytes(bytes, "input", most_unpacked);
  if (!profile::redact_kineto(*again, keep, "input")) return 0;
  const auto copied = profile::open_bytes(copy, "copy");
  const auto read = profile::read_kineto(*copied, "copy");
  if (!read) std::abort();
  for (const profile::ImportEvent& event : read->stats.dropped) {
    if (event.what == "events that are not well-formed JSON") std::abort();
  }
  return 0;
}
