// SPDX-License-Identifier: Apache-2.0
// Tables → trace: times from the first event, each span with the call that started it and the NVTX range around that.
#include "corridor/profile/nsys/read_nsys.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "corridor/profile/nsys/gpu_meters.h"
#include "corridor/profile/nsys/nsys_tables.h"

namespace corridor::profile {
namespace {

using nsys::RawCall;
using nsys::RawRange;
using nsys::RawSpan;
using nsys::RawTables;

constexpr double seconds_a_ns = 1e-9;
constexpr std::size_t most_database_bytes = std::size_t{4} << 30U;

struct CallKey {
  std::uint64_t process = 0, correlation = 0;
  bool operator==(const CallKey& other) const { return process == other.process && correlation == other.correlation; }
};
struct CallKeyHash {
  std::size_t operator()(const CallKey& key) const {
    constexpr std::uint64_t mixer = 0x9E3779B97F4A7C15;
    return std::hash<std::uint64_t>()((key.process >> 24U) ^ ((key.correlation ^ (key.correlation << 31U)) & mixer));
  }
};

class NsysJoin {
 public:
  NsysJoin(RawTables&& raw, Trace& trace) : raw_(std::move(raw)), trace_(trace) {}

  /// Returns the time that the trace counts from, in ns of the export's clock.
  std::int64_t run() {
    find_ends();
    take_calls();
    take_ranges();
    take_spans();
    annotate();
    return first_;
  }

 private:
  void find_ends() {
    first_ = std::numeric_limits<std::int64_t>::max();
    last_ = 0;
    const auto see = [&](const auto& rows) {
      for (const auto& row : rows) {
        first_ = std::min(first_, row.start);
        last_ = std::max(last_, row.end);
      }
    };
    see(raw_.spans);
    see(raw_.calls);
    see(raw_.ranges);
    trace_.host_span_s = last_ > first_ ? static_cast<double>(last_ - first_) * seconds_a_ns : 0;
  }

  [[nodiscard]] double from_start(std::int64_t ns) const { return static_cast<double>(ns - first_) * seconds_a_ns; }
  static double length(std::int64_t start, std::int64_t end) { return static_cast<double>(end - start) * seconds_a_ns; }

  std::uint32_t thread_index(std::uint64_t thread) {
    return threads_.emplace(thread, static_cast<std::uint32_t>(threads_.size())).first->second;
  }

  void take_calls() {
    std::sort(raw_.calls.begin(), raw_.calls.end(), [](const RawCall& a, const RawCall& b) {
      return std::tuple(a.start, a.end, a.thread, a.correlation) < std::tuple(b.start, b.end, b.thread, b.correlation);
    });
    trace_.calls.reserve(raw_.calls.size());
    for (const RawCall& call : raw_.calls) {
      const auto index = static_cast<std::uint32_t>(trace_.calls.size());
      trace_.calls.push_back(
          {from_start(call.start), length(call.start, call.end), call.name, thread_index(call.thread)});
      if (call.correlation != 0) by_correlation_.emplace(CallKey{call.process, call.correlation}, index);
    }
  }

  void take_ranges() {
    // By thread, then start, the outer one first: what `annotate` walks.
    std::sort(raw_.ranges.begin(), raw_.ranges.end(), [](const RawRange& a, const RawRange& b) {
      return std::tuple(a.thread, a.start, -a.end, a.name) < std::tuple(b.thread, b.start, -b.end, b.name);
    });
    trace_.annotations.reserve(raw_.ranges.size());
    for (const RawRange& range : raw_.ranges) {
      trace_.annotations.push_back({from_start(range.start), length(range.start, range.end), range.name, false});
      range_threads_.push_back(thread_index(range.thread));
    }
  }

  void take_spans() {
    std::sort(raw_.spans.begin(), raw_.spans.end(), [](const RawSpan& a, const RawSpan& b) {
      return std::tuple(a.device, a.start, a.end, a.stream, a.name) <
             std::tuple(b.device, b.start, b.end, b.stream, b.name);
    });
    trace_.gpu.reserve(raw_.spans.size());
    for (const RawSpan& raw : raw_.spans) {
      GpuSpan span;
      span.start_s = from_start(raw.start);
      span.duration_s = length(raw.start, raw.end);
      span.name = raw.name;
      span.shape = raw.shape;
      span.stream = raw.stream;
      span.device = raw.device;
      span.work = raw.work;
      span.from_graph = raw.from_graph;
      span.bytes = raw.bytes;
      const auto call = by_correlation_.find(CallKey{raw.process, raw.correlation});
      if (call != by_correlation_.end()) span.launch = call->second;
      trace_.gpu.push_back(span);
    }
  }

  /// The innermost NVTX range around the launch, on the thread of the launch.
  void annotate() {
    constexpr std::size_t most_looked_at = 64;  // ranges nest a few deep
    std::vector<std::uint32_t> order(trace_.annotations.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key_of = [&](std::uint32_t a) { return std::pair(range_threads_[a], trace_.annotations[a].start_s); };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key_of(a) < key_of(b); });
    for (GpuSpan& span : trace_.gpu) {
      if (span.launch == none) continue;
      const HostCall& call = trace_.calls[span.launch];
      auto after = std::upper_bound(order.begin(), order.end(), std::pair(call.thread, call.start_s),
                                    [&](const auto& key, std::uint32_t a) { return key < key_of(a); });
      for (std::size_t looked = 0; after != order.begin() && looked < most_looked_at; ++looked) {
        --after;
        if (range_threads_[*after] != call.thread) break;
        const Annotation& range = trace_.annotations[*after];
        if (range.start_s + range.duration_s < call.start_s) continue;
        span.annotation = *after;
        break;
      }
    }
  }

  RawTables raw_;
  Trace& trace_;
  std::int64_t first_ = 0, last_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;
  std::vector<std::uint32_t> range_threads_;
  std::unordered_map<CallKey, std::uint32_t, CallKeyHash> by_correlation_;
};

/// Why an export has no GPU work, as far as its tables tell.
tl::unexpected<Error> no_work(const nsys::Database& database, const RawTables& raw, const std::string& file) {
  if (!raw.calls.empty()) {
    return fail("holds " + std::to_string(raw.calls.size()) + " CUDA calls and no kernel", file,
                "most often the driver is newer than this nsys: record again with a newer nsys and --trace=cuda");
  }
  const bool of_nsys = database.has("StringIds") ||
                       !database.first_of({"META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_SYSTEM_ENV"}).empty();
  if (!of_nsys) {
    return fail("is a SQLite database, but no export of Nsight Systems", file,
                "make one with: nsys export --type sqlite report.nsys-rep");
  }
  return fail("holds no CUDA kernels, copies or calls", file, "record with: nsys profile --trace=cuda,nvtx");
}

}  // namespace

bool looks_like_nsys_sqlite(std::string_view head) {
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  return head.substr(0, magic.size()) == magic;
}

Result<Trace> read_nsys_sqlite(std::string_view bytes, const std::string& file) {
  const Result<nsys::Database> database = nsys::Database::open(bytes, file);
  if (!database) return tl::unexpected(database.error());
  Trace trace;
  trace.format = "Nsight Systems SQLite";
  if (database->is_cut_off()) {
    trace.stats.drop("the end of the database: the file is cut off", Severity::loss);
  }
  RawTables raw = nsys::read_tables(*database, trace);
  if (raw.spans.empty()) {
    if (!trace.stats.dropped.empty() && raw.calls.empty()) {
      const ImportEvent& lost = trace.stats.dropped.front();
      return fail("no GPU work could be read; lost: " + lost.what + (lost.example.empty() ? "" : ", " + lost.example),
                  file, "export the report again");
    }
    return no_work(*database, raw, file);
  }
  const std::map<std::int64_t, std::uint16_t> cuda_of_gpu = raw.cuda_of_gpu;
  const std::int64_t first_ns = NsysJoin(std::move(raw), trace).run();
  nsys::read_meters(*database, cuda_of_gpu, first_ns, trace);
  return trace;
}

Result<Trace> read_nsys_sqlite(ByteSource& source, const std::string& file) {
  ImportStats stats;
  const Result<std::string> bytes = collect_bytes(source, file, most_database_bytes, stats);
  if (!bytes) return tl::unexpected(bytes.error());
  Result<Trace> trace = read_nsys_sqlite(std::string_view(*bytes), file);
  if (trace) trace->stats.merge(stats);
  return trace;
}

}  // namespace corridor::profile
