// SPDX-License-Identifier: Apache-2.0
// Opens the file, lets the writer fill it, and says what became of it.
#include "corridor/app/trace_output.h"

#include <memory>

#include <fmt/format.h>

#include "corridor/app/perfetto.h"
#include "corridor/base/file_writer.h"
#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/kineto/redact.h"
#include "corridor/profile/nsys/redact.h"

namespace corridor::app {
namespace {

Result<FileWriter> open_output(const char* flag, const std::string& out) {
  Result<FileWriter> file = FileWriter::open(out);
  if (!file) return fail(file.error().what, std::string(flag) + " " + out, file.error().fix);
  return file;
}

profile::ByteSink sink_to(FileWriter& file) {
  return [&file](std::string_view bytes) { return file.write(bytes); };
}

/// The copy by the kind of the file; the kinds are told by their first bytes.
Result<profile::Redaction> copy_without_names(const TraceFile& file, const profile::ByteSink& sink) {
  using namespace std::string_view_literals;
  if (file.bytes.starts_with("SQLite format 3\0"sv)) return profile::redact_nsys_sqlite(file.bytes, sink, file.name);
  const Result<std::string> head = profile::peek_bytes(file.bytes, file.name);
  if (!head) return tl::unexpected(head.error());
  if (!profile::looks_like_kineto(*head)) {
    return fail("is of a kind that cannot be copied without names", file.name,
                "give a trace of the PyTorch profiler or a SQLite export of Nsight Systems");
  }
  const std::unique_ptr<profile::ByteSource> source = profile::open_bytes(file.bytes, file.name);
  return profile::redact_kineto(*source, sink, file.name);
}

}  // namespace

Result<std::string> write_redacted(const TraceFile& file, const std::string& out) {
  Result<FileWriter> writer = open_output("--redact", out);
  if (!writer) return tl::unexpected(writer.error());
  const Result<profile::Redaction> done = copy_without_names(file, sink_to(*writer));
  if (!done) return tl::unexpected(done.error());
  if (Result<int> kept = writer->finish(); !kept) return tl::unexpected(kept.error());
  std::string words =
      fmt::format("{}: a copy with {} texts removed; look through it before you give it away", out, done->removed);
  for (const profile::ImportEvent& e : done->stats.dropped)
    words += fmt::format("; not copied: {} {}", e.count, e.what);
  return words;
}

Result<std::string> write_annotated(const TraceAnswer& answer, const std::string& out) {
  if (!answer.trace || answer.trace->gpu.empty()) {
    return fail("has no time-line to annotate", answer.file, "leave out --perfetto");
  }
  Result<FileWriter> writer = open_output("--perfetto", out);
  if (!writer) return tl::unexpected(writer.error());
  const Result<std::size_t> lines = write_perfetto(*answer.trace, answer.analysis, sink_to(*writer));
  if (!lines) return tl::unexpected(lines.error());
  if (Result<int> kept = writer->finish(); !kept) return tl::unexpected(kept.error());
  return fmt::format("{}: the annotated time-line, {} events; open it in ui.perfetto.dev", out, *lines);
}

}  // namespace corridor::app
