// SPDX-License-Identifier: Apache-2.0
// Windows → rows → trace.
#include "corridor/profile/kineto/read_kineto.h"

#include "corridor/profile/kineto/events.h"
#include "corridor/profile/kineto/join.h"
#include "corridor/profile/kineto/window.h"

namespace corridor::profile {

bool looks_like_kineto(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return false;
  const std::string_view text = head.substr(first);
  if (text.front() == '{') {
    return text.find("\"traceEvents\"") != std::string_view::npos ||
           (text.find("\"deviceProperties\"") != std::string_view::npos &&
            text.find("\"schemaVersion\"") != std::string_view::npos);
  }
  return text.front() == '[' && text.find("\"ph\"") != std::string_view::npos;
}

Result<Trace> read_kineto(ByteSource& source, const std::string& file) {
  Trace trace;
  trace.format = "Chrome trace (PyTorch profiler)";
  kineto::RawEvents events;
  kineto::EventParser parser(events, trace.stats);
  kineto::WindowReader reader(source, trace.stats);
  const Result<int> read = reader.read([&](std::string_view window) { return parser.take(window); }, file);
  if (!read) return tl::unexpected(read.error());
  kineto::read_surroundings(reader.surroundings(), trace);
  kineto::join(std::move(events), trace);
  return trace;
}

}  // namespace corridor::profile
