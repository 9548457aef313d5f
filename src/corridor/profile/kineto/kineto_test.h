// SPDX-License-Identifier: Apache-2.0
// What the tests of the Kineto reader share: made-up events, reading in windows of any size, packing.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/kineto/events.h"
#include "corridor/profile/kineto/join.h"
#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/kineto/window.h"

namespace corridor::profile::kineto_test {

inline std::string event(const std::string& cat, const std::string& name, double ts, double dur,
                         const std::string& args) {
  return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 1, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
}

inline std::string op(double ts, int external, const std::string& name = "aten::mm") {
  return event("cpu_op", name, ts, 20,
               R"("External id": )" + std::to_string(external) +
                   R"(, "Input Dims": [[8, 16], [16, 32]], "Input type": ["c10::Half", "c10::Half"])");
}

inline std::string launch(double ts, int correlation, int external = 0, const std::string& cat = "cuda_runtime") {
  return event(cat, "cudaLaunchKernel", ts, 5,
               R"("correlation": )" + std::to_string(correlation) + R"(, "External id": )" + std::to_string(external));
}

inline std::string kernel(double ts, double dur, int correlation, const std::string& name = "gemm",
                          const std::string& cat = "kernel") {
  return event(cat, name, ts, dur,
               R"("device": 0, "stream": 7, "correlation": )" + std::to_string(correlation) +
                   R"(, "grid": [2, 3, 4], "block": [128, 1, 1])");
}

inline std::string joined(const std::vector<std::string>& events, const std::string& between = ",\n  ") {
  std::string out;
  for (const std::string& e : events) out += (out.empty() ? "" : between) + e;
  return out;
}

inline std::string around(const std::string& events) {
  return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100", "numSms": 108,)"
         R"( "totalGlobalMem": 85e9, "computeMajor": 8}], "record_shapes": 1, "traceEvents": [)" +
         events + R"(], "distributedInfo": {"rank": 3, "world_size": 8}, "with_stack": 1})";
}

/// Two operations with their launches and kernels; texts that look like borders of events.
inline std::vector<std::string> small_run() {
  return {op(100, 1),
          launch(105, 11, 1),
          op(130, 2, R"(user \"},{\" op}, {)"),
          event("python_function", R"(f.py(3): },{)", 100, 50, R"("Python id": 1)"),
          launch(135, 12, 2),
          R"({"ph": "s", "id": 12, "pid": 1, "tid": 7, "ts": 135, "cat": "ac2g", "name": "ac2g"})",
          event("user_annotation", "step},{", 99, 60, ""),
          kernel(120, 10, 11, R"(k<A},{\"ph\":\"X\">)"),
          kernel(140, 30, 12),
          event("gpu_memcpy", "Memcpy HtoD", 175, 2.5, R"("bytes": 4096, "device": 0, "stream": 7, "correlation": 13)"),
          R"({"name": "process_name", "ph": "M", "ts": 0, "pid": 1, "tid": 0, "args": {"name": "python"}})"};
}

/// Reads in windows of a given size (0: as the face does).
inline Result<Trace> read(std::string_view bytes, std::size_t window_bytes = 0,
                          std::size_t most_unpacked = std::size_t{1} << 30U) {
  const auto source = open_bytes(bytes, "t.json", most_unpacked);
  if (window_bytes == 0) return read_kineto(*source, "t.json");
  Trace trace;
  kineto::RawEvents events;
  kineto::EventParser parser(events, trace.stats);
  kineto::WindowReader reader(*source, trace.stats, window_bytes);
  const Result<int> done = reader.read([&](std::string_view window) { return parser.take(window); }, "t.json");
  if (!done) return tl::unexpected(done.error());
  kineto::read_surroundings(reader.surroundings(), trace);
  kineto::join(std::move(events), trace);
  return trace;
}

inline Trace read_sound(const std::string& text, std::size_t window_bytes = 0) {
  Result<Trace> trace = read(text, window_bytes);
  EXPECT_TRUE(trace) << trace.error().line();
  return trace ? std::move(*trace) : Trace{};
}

/// All that a trace says of its GPU work, as one text.
inline std::string words_of(const Trace& t) {
  std::string out;
  for (const GpuSpan& s : t.gpu) {
    out += std::string(t.names.text(s.name)) + " " + std::to_string(s.start_s * 1e6) + " " +
           std::to_string(s.duration_s * 1e6) + " " + std::to_string(s.bytes);
    if (s.launch != none) out += " launched " + std::to_string(t.calls[s.launch].start_s * 1e6);
    if (s.op != none) out += " by " + std::string(t.names.text(t.ops[s.op].name));
    if (s.annotation != none) out += " in " + std::string(t.names.text(t.annotations[s.annotation].name));
    if (s.shape != none) out += " grid " + std::to_string(t.shapes[s.shape].grid[2]);
    out += "\n";
  }
  for (const TraceDevice& d : t.devices) out += d.name + "\n";
  out += "rank " + std::to_string(t.rank.value_or(-1)) + " dropped " + std::to_string(t.stats.dropped_count());
  return out;
}

inline std::string losses(const Trace& t) {
  std::string out;
  for (const ImportEvent& e : t.stats.dropped) {
    if (e.severity == Severity::loss) out += e.what + " (" + std::to_string(e.count) + "); ";
  }
  return out;
}

inline std::string packed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(compressBound(text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace corridor::profile::kineto_test
