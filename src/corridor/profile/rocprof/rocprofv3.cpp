// SPDX-License-Identifier: Apache-2.0
// rocprofv3: records one by one, joined at the end, because names of kernels may stand behind the dispatches.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "corridor/profile/points/cells.h"
#include "corridor/profile/rocprof/read_rocprof.h"
#include "corridor/profile/rocprof/record_scanner.h"

namespace corridor::profile {
namespace {

namespace dom = simdjson::dom;

const std::string tool = "rocprofiler-sdk-tool";
constexpr double seconds_of_ns = 1e-9;
constexpr std::size_t most_operations = 100'000;  // names of calls: some hundreds a kind

struct RawDispatch {
  std::int64_t start = 0, end = 0;
  std::uint64_t kernel = 0, agent = 0, correlation = 0;
  std::uint32_t shape = none, stream = 0, copy_name = none;
  double bytes = 0;
};

struct RawHipCall {
  std::int64_t start = 0, end = 0;
  std::uint64_t correlation = 0, thread = 0, kind = 0, operation = 0;
};

/// A whole number at this key; `otherwise` when absent or of another type.
std::uint64_t whole(const dom::object& object, std::string_view key, std::uint64_t otherwise = 0) {
  std::uint64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

/// The number in {"handle": 7} at this key.
std::uint64_t handle(const dom::object& object, std::string_view key) {
  std::uint64_t value = 0;
  return object[key]["handle"].get(value) == simdjson::SUCCESS ? value : 0;
}

std::string word(const dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? clean(text) : std::string();
}

class Rocprofv3Reader {
 public:
  explicit Rocprofv3Reader(Trace& trace) : trace_(trace) {}

  Result<int> read(ByteSource& source, const std::string& file) {
    rocprof::RecordScanner scanner({tool + "/agents", tool + "/kernel_symbols", tool + "/strings/buffer_records",
                                    tool + "/buffer_records/kernel_dispatch", tool + "/buffer_records/memory_copy",
                                    tool + "/buffer_records/hip_api", tool + "/callback_records/counter_collection"},
                                   [&](std::string_view path, std::string_view object) { take(path, object); });
    current_ = &scanner;
    constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
    bool any = false;
    while (true) {
      const Result<std::string_view> piece = source.next(piece_bytes);
      if (!piece) {
        if (!any) return tl::unexpected(piece.error());
        trace_.stats.drop("the end of the file: " + piece.error().what, Severity::loss, file);
        break;
      }
      if (piece->empty()) break;
      any = true;
      scanner.feed(*piece);
    }
    if (scanner.open()) trace_.stats.drop("the end of the file is missing", Severity::loss, file);
    if (scanner.passed_over() > 0) {
      trace_.stats.drop("records of more than 16 MiB", Severity::loss, {}, scanner.passed_over());
    }
    return 0;
  }

  void join() {
    find_start();
    join_devices();
    join_calls();
    join_spans();
  }

  [[nodiscard]] bool empty() const { return dispatches_.empty(); }

 private:
  void take(std::string_view path, std::string_view object) {
    // Kernel ids are numbers of one process: each element of the outer list is one.
    process_ = current_->element();
    // A whole parse, not an on-demand one: nothing of a damaged record is used.
    static_assert(rocprof::RecordScanner::padding >= simdjson::SIMDJSON_PADDING);
    dom::object record;
    if (parser_.parse(object.data(), object.size(), false).get(record) != simdjson::SUCCESS) {
      trace_.stats.drop("damaged records", Severity::loss, path);
      return;
    }
    const std::string_view list = path.substr(path.rfind('/') + 1);
    if (list == "kernel_dispatch") {
      take_dispatch(record);
    } else if (list == "kernel_symbols") {
      take_symbol(record);
    } else if (list == "agents") {
      take_agent(record);
    } else if (list == "memory_copy") {
      take_copy(record);
    } else if (list == "hip_api") {
      take_call(record);
    } else if (list == "counter_collection") {
      trace_.stats.drop("counter values (rocprof-compute's CSV files are read instead)", Severity::note);
    } else {
      take_names(record);
    }
  }

  [[nodiscard]] std::uint64_t own(std::uint64_t id) const {
    constexpr unsigned process_bits = 48;
    return id ^ (static_cast<std::uint64_t>(process_) << process_bits);
  }

  template <class Raw>
  bool take_times(const dom::object& record, Raw& raw, const char* what) {
    constexpr std::uint64_t latest_ns = std::uint64_t{1} << 62U, absent = ~std::uint64_t{0};
    const std::uint64_t start = whole(record, "start_timestamp", absent), end = whole(record, "end_timestamp", absent);
    if (start > end || end > latest_ns) {
      trace_.stats.drop(std::string(what) + " without a start or an end", Severity::loss);
      return false;
    }
    raw.start = static_cast<std::int64_t>(start);
    raw.end = static_cast<std::int64_t>(end);
    return true;
  }

  std::uint64_t correlation(const dom::object& record) const {
    std::uint64_t value = 0;
    if (record["correlation_id"]["internal"].get(value) != simdjson::SUCCESS || value == 0) return 0;
    return own(value);
  }

  void take_dispatch(const dom::object& record) {
    RawDispatch raw;
    if (!take_times(record, raw, "dispatches")) return;
    raw.correlation = correlation(record);
    raw.stream = static_cast<std::uint32_t>(std::min<std::uint64_t>(handle(record, "stream_id"), none - 1));
    dom::object info;
    if (record["dispatch_info"].get(info) != simdjson::SUCCESS) {
      trace_.stats.drop("dispatches without their kernel", Severity::loss);
      return;
    }
    raw.agent = own(handle(info, "agent_id"));
    raw.kernel = own(whole(info, "kernel_id"));
    raw.shape = take_shape(info);
    dispatches_.push_back(raw);
  }

  std::uint32_t take_shape(const dom::object& info) {
    LaunchShape shape;
    constexpr std::array<std::string_view, 3> axes = {"x", "y", "z"};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::uint64_t items = 0, group = 0;
      if (info["grid_size"][axes[i]].get(items) != simdjson::SUCCESS) return none;
      if (info["workgroup_size"][axes[i]].get(group) != simdjson::SUCCESS) return none;
      if (group == 0 || group > 0xFFFFFFFF) return none;
      // The tool counts work-items; a grid is of groups.
      shape.grid[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>((items / group) + (items % group != 0), none));
      shape.block[i] = static_cast<std::uint32_t>(group);
    }
    const auto [known, added] =
        shapes_.emplace(std::pair(shape.grid, shape.block), static_cast<std::uint32_t>(trace_.shapes.size()));
    if (added) trace_.shapes.push_back(shape);
    return known->second;
  }

  void take_copy(const dom::object& record) {
    RawDispatch raw;
    if (!take_times(record, raw, "copies")) return;
    raw.correlation = correlation(record);
    raw.bytes = static_cast<double>(whole(record, "bytes"));
    const std::uint64_t direction = whole(record, "operation");
    const std::uint64_t from = handle(record, "src_agent_id"), to = handle(record, "dst_agent_id");
    // The device of a copy is the one that it leaves, but for copies into it.
    constexpr std::uint64_t host_to_device = 2;
    raw.agent = own(direction == host_to_device ? to : from);
    constexpr std::array<const char*, 5> names = {"Memcpy", "Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD"};
    raw.copy_name = trace_.names.intern(names[direction < names.size() ? direction : 0]);
    dispatches_.push_back(raw);
  }

  void take_symbol(const dom::object& record) {
    std::string name;
    for (const std::string_view key : {"formatted_kernel_name", "demangled_kernel_name", "kernel_name"}) {
      if (name.empty()) name = word(record, key);
    }
    const std::size_t tail = name.rfind(".kd");
    if (tail != std::string::npos && tail + 3 == name.size()) name.erase(tail);
    if (!name.empty()) kernels_.emplace(own(whole(record, "kernel_id")), std::move(name));
  }

  void take_agent(const dom::object& record) {
    constexpr std::uint64_t gpu = 2;
    if (whole(record, "type") != gpu) return;
    TraceDevice device;
    device.name = word(record, "product_name").substr(0, 80);
    if (const auto units = whole(record, "cu_count"); units > 0) device.sm_count = static_cast<double>(units);
    if (const auto mhz = whole(record, "max_engine_clk_fcompute"); mhz > 0) {
      device.clock_hz = static_cast<double>(mhz) * 1e6;
    }
    dom::array banks;
    double bytes = 0;
    if (record["mem_banks"].get(banks) == simdjson::SUCCESS) {
      for (const dom::element bank : banks) {
        std::uint64_t size = 0;
        if (bank["size_in_bytes"].get(size) == simdjson::SUCCESS) bytes += static_cast<double>(size);
      }
    }
    if (bytes > 0) device.memory_bytes = bytes;
    const std::uint64_t id = own(handle(record, "id"));
    constexpr std::size_t most_agents = 4096;
    if (agents_.size() < most_agents) agents_.emplace(id, std::move(device));
  }

  void take_call(const dom::object& record) {
    RawHipCall raw;
    if (!take_times(record, raw, "HIP calls")) return;
    raw.correlation = correlation(record);
    raw.thread = own(whole(record, "thread_id"));
    raw.kind = whole(record, "kind");
    raw.operation = whole(record, "operation");
    calls_.push_back(raw);
  }

  /// Names of the calls of one kind; kinds are numbered by their place in the list.
  void take_names(const dom::object& record) {
    if (names_of_ == 0) names_of_ = process_;
    if (names_of_ != process_) return;  // each process writes the same lists
    std::vector<std::uint32_t>& names = call_names_.emplace_back();
    dom::array operations;
    if (record["operations"].get(operations) != simdjson::SUCCESS) return;
    for (const dom::element operation : operations) {
      std::string_view text;
      const bool read = operation.get(text) == simdjson::SUCCESS && names.size() < most_operations;
      if (!read) return;
      names.push_back(trace_.names.intern(clean(text)));
    }
  }

  void find_start() {
    first_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
    const auto see = [&](const auto& rows) {
      for (const auto& row : rows) {
        first_ = std::min(first_, row.start);
        last = std::max(last, row.end);
      }
    };
    see(dispatches_);
    see(calls_);
    trace_.host_span_s = last > first_ ? static_cast<double>(last - first_) * seconds_of_ns : 0;
  }

  [[nodiscard]] double from_start(std::int64_t ns) const { return static_cast<double>(ns - first_) * seconds_of_ns; }

  /// GPUs in the order of their handles: as the machine numbers them.
  void join_devices() {
    for (auto& [agent, device] : agents_) {
      device.id = static_cast<std::uint16_t>(device_ids_.size());
      device_ids_.emplace(agent, device.id);
      trace_.devices.push_back(std::move(device));
    }
  }

  std::uint16_t device_of(std::uint64_t agent) {
    constexpr std::size_t most_devices = 0xFFFF;
    const auto id = static_cast<std::uint16_t>(std::min(device_ids_.size(), most_devices));
    return device_ids_.emplace(agent, id).first->second;
  }

  void join_calls() {
    std::sort(calls_.begin(), calls_.end(), [](const RawHipCall& a, const RawHipCall& b) {
      return std::tuple(a.start, a.end, a.thread, a.correlation) < std::tuple(b.start, b.end, b.thread, b.correlation);
    });
    std::unordered_map<std::uint64_t, std::uint32_t> threads;
    for (const RawHipCall& raw : calls_) {
      HostCall call;
      call.start_s = from_start(raw.start);
      call.duration_s = static_cast<double>(raw.end - raw.start) * seconds_of_ns;
      call.thread = threads.emplace(raw.thread, static_cast<std::uint32_t>(threads.size())).first->second;
      if (raw.kind < call_names_.size() && raw.operation < call_names_[raw.kind].size()) {
        call.name = call_names_[raw.kind][raw.operation];
      }
      const auto index = static_cast<std::uint32_t>(trace_.calls.size());
      trace_.calls.push_back(call);
      if (raw.correlation != 0) launches_.emplace(raw.correlation, index);
    }
  }

  void join_spans() {
    for (const RawDispatch& raw : dispatches_) {
      GpuSpan span;
      span.start_s = from_start(raw.start);
      span.duration_s = static_cast<double>(raw.end - raw.start) * seconds_of_ns;
      span.device = device_of(raw.agent);
      span.stream = raw.stream;
      span.shape = raw.shape;
      span.bytes = raw.bytes;
      span.name = raw.copy_name;
      if (raw.copy_name != none) {
        span.work = GpuWork::copy;
      } else {
        const auto name = kernels_.find(raw.kernel);
        if (name == kernels_.end()) trace_.stats.drop("names of kernels", Severity::warning);
        span.name = trace_.names.intern(name == kernels_.end() ? "kernel without a name" : name->second);
      }
      const auto call = launches_.find(raw.correlation);
      if (raw.correlation != 0 && call != launches_.end()) span.launch = call->second;
      trace_.gpu.push_back(span);
    }
    std::stable_sort(trace_.gpu.begin(), trace_.gpu.end(), [](const GpuSpan& a, const GpuSpan& b) {
      return std::tuple(a.device, a.start_s) < std::tuple(b.device, b.start_s);
    });
  }

  Trace& trace_;
  dom::parser parser_;
  const rocprof::RecordScanner* current_ = nullptr;
  std::size_t process_ = 0, names_of_ = 0;
  std::vector<RawDispatch> dispatches_;
  std::vector<RawHipCall> calls_;
  std::map<std::uint64_t, TraceDevice> agents_;
  std::unordered_map<std::uint64_t, std::string> kernels_;
  std::vector<std::vector<std::uint32_t>> call_names_;
  std::map<std::uint64_t, std::uint16_t> device_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> launches_;
  std::map<std::pair<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>, std::uint32_t> shapes_;
  std::int64_t first_ = 0;
};

}  // namespace

bool looks_like_rocprofv3(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && head[first] == '{' &&
         head.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
}

Result<Trace> read_rocprofv3(ByteSource& source, const std::string& file) {
  Trace trace;
  trace.format = "rocprofv3 JSON";
  Rocprofv3Reader reader(trace);
  if (Result<int> ok = reader.read(source, file); !ok) return tl::unexpected(ok.error());
  if (reader.empty()) {
    const std::string lost = trace.stats.dropped.empty() ? "" : " (" + trace.stats.dropped.back().what + ")";
    return fail("holds no kernel dispatches and no copies" + lost, file,
                "record with: rocprofv3 --kernel-trace --hip-trace --memory-copy-trace --output-format json");
  }
  reader.join();
  return trace;
}

}  // namespace corridor::profile
