// SPDX-License-Identifier: Apache-2.0
// Joins by correlation and external id with sorted lists, which stay small where hash tables would not.
#include "corridor/profile/kineto/join.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "corridor/base/sorting.h"

namespace corridor::profile::kineto {
namespace {

constexpr double seconds_per_us = 1e-6;
constexpr std::ptrdiff_t most_looked_at = 64;  // annotations around one event: they nest a few deep
constexpr std::size_t most_nesting = 1024;     // operations around one launch
// Absolute times (microseconds since 1970) are above this, relative ones below.
constexpr double absolute_us = 1e14;

/// (id, index) pairs, sorted; ids of 0 are left out.
class IdIndex {
 public:
  template <class Rows, class IdOf>
  IdIndex(const Rows& rows, IdOf id_of) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (id_of(rows[i]) != 0) pairs_.emplace_back(id_of(rows[i]), static_cast<std::uint32_t>(i));
    }
    sort_if_needed(pairs_);
  }
  /// The first row of this id. Ids are asked for in about the order in which they were given, so the pair behind the
  /// last answer is looked at first.
  [[nodiscard]] std::uint32_t find(std::uint64_t id) {
    if (id == 0) return none;
    const auto begins = [&](std::size_t i) {
      return i < pairs_.size() && pairs_[i].first == id && (i == 0 || pairs_[i - 1].first != id);
    };
    if (!begins(last_) && !begins(++last_)) {
      const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), std::pair{id, std::uint32_t{0}});
      last_ = static_cast<std::size_t>(at - pairs_.begin());
    }
    return last_ < pairs_.size() && pairs_[last_].first == id ? pairs_[last_].second : none;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs_;
  std::size_t last_ = 0;
};

LaunchShape parse_shape(std::string_view text) {
  LaunchShape shape;
  std::array<std::uint32_t, 6> numbers{};
  std::size_t n = 0;
  for (const char* p = text.data(); p < text.data() + text.size() && n < 6;) {
    const auto [end, error] = std::from_chars(p, text.data() + text.size(), numbers[n]);
    if (error == std::errc{}) {
      p = end;
      ++n;
    } else {
      ++p;
    }
  }
  std::copy_n(numbers.begin(), 3, shape.grid.begin());
  std::copy_n(numbers.begin() + 3, 3, shape.block.begin());
  return shape;
}

/// For each span of a device in time order, the innermost annotation around its start.
void annotate_on_gpu(const std::vector<RawAnnotation>& raw, std::vector<GpuSpan>& gpu,
                     const std::vector<Annotation>& annotations) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < annotations.size(); ++i) {
    if (annotations[i].on_gpu) order.push_back(i);
  }
  sort_if_needed(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(raw[a].device, annotations[a].start_s, -annotations[a].duration_s) <
           std::tuple(raw[b].device, annotations[b].start_s, -annotations[b].duration_s);
  });
  std::size_t next = 0;
  std::vector<std::uint32_t> open;
  std::uint16_t device = 0;
  for (GpuSpan& span : gpu) {
    if (span.device != device) {
      device = span.device;
      open.clear();
      while (next < order.size() && raw[order[next]].device < device) ++next;
    }
    constexpr double slack_s = 2e-9;  // annotations begin a rounded nanosecond before their first kernel
    while (next < order.size() && raw[order[next]].device == device &&
           annotations[order[next]].start_s <= span.start_s + slack_s) {
      open.push_back(order[next++]);
    }
    // Annotations nest a few deep; of more than this only the latest can be the innermost.
    if (std::ssize(open) > most_looked_at) open.erase(open.begin(), open.end() - most_looked_at);
    const auto over = [&](std::uint32_t a) {
      return annotations[a].start_s + annotations[a].duration_s + slack_s < span.start_s;
    };
    open.erase(std::remove_if(open.begin(), open.end(), over), open.end());
    if (!open.empty()) span.annotation = open.back();
  }
}

/// Spans that no GPU annotation covers take the host annotation around their launch.
void annotate_by_launch(const std::vector<RawAnnotation>& raw, Trace& trace) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < trace.annotations.size(); ++i) {
    if (!trace.annotations[i].on_gpu) order.push_back(i);
  }
  if (order.empty()) return;
  sort_if_needed(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(raw[a].thread, trace.annotations[a].start_s) <
           std::pair(raw[b].thread, trace.annotations[b].start_s);
  });
  for (GpuSpan& span : trace.gpu) {
    if (span.annotation != none || span.launch == none) continue;
    const HostCall& call = trace.calls[span.launch];
    auto after = std::upper_bound(
        order.begin(), order.end(), std::pair(call.thread, call.start_s),
        [&](const auto& key, std::uint32_t a) { return key < std::pair(raw[a].thread, trace.annotations[a].start_s); });
    for (std::ptrdiff_t looked = 0; after != order.begin() && looked < most_looked_at; ++looked) {
      --after;
      if (raw[*after].thread != call.thread) break;
      const Annotation& a = trace.annotations[*after];
      if (a.start_s + a.duration_s < call.start_s) continue;
      span.annotation = *after;
      break;
    }
  }
}

/// On one stream work runs in order: a span that still runs when a later one has ended was not timed right.
void mend_durations(Trace& trace) {
  std::vector<std::uint32_t> order(trace.gpu.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_if_needed(order, [&](std::uint32_t a, std::uint32_t b) {
    const GpuSpan &x = trace.gpu[a], &y = trace.gpu[b];
    return std::tuple(x.device, x.stream, x.start_s) < std::tuple(y.device, y.stream, y.start_s);
  });
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    GpuSpan& span = trace.gpu[order[i]];
    const GpuSpan& next = trace.gpu[order[i + 1]];
    if (span.device != next.device || span.stream != next.stream || span.from_graph || next.from_graph) continue;
    if (span.launch != none && span.launch == next.launch) continue;  // branches of one graph share a stream
    constexpr double rounding_s = 2e-6;
    if (span.start_s + span.duration_s <= next.start_s + next.duration_s + rounding_s) continue;
    if (next.start_s <= span.start_s + rounding_s) continue;
    span.duration_s = next.start_s - span.start_s;
    trace.stats.repair("GPU spans that ran past the end of the next one on their stream: cut at its start",
                       Severity::warning, trace.names.text(span.name));
  }
}

/// Old traces give launches ids of their own: the innermost operation around the launch on its thread asked for it.
void find_ops_by_time(const RawEvents& events, const std::vector<std::uint32_t>& order,
                      const std::vector<std::uint32_t>& parent, const Trace& trace,
                      std::vector<std::uint32_t>& op_of_gpu) {
  for (std::size_t i = 0; i < trace.gpu.size(); ++i) {
    if (op_of_gpu[i] != none || trace.gpu[i].launch == none) continue;
    const RawCall& call = events.calls[trace.gpu[i].launch];
    auto after = std::upper_bound(
        order.begin(), order.end(), std::pair(call.thread, call.ts),
        [&](const auto& key, std::uint32_t o) { return key < std::pair(events.ops[o].thread, events.ops[o].ts); });
    if (after == order.begin()) continue;
    std::uint32_t op = *--after;
    if (events.ops[op].thread != call.thread) continue;
    for (std::size_t n = 0; op != none && events.ops[op].ts + events.ops[op].dur < call.ts; ++n) {
      op = n < most_nesting ? parent[op] : none;
    }
    op_of_gpu[i] = op;
  }
}

/// Keeps the operations that GPU work belongs to, and the ones around them; links each to the one around it.
void keep_ops(const RawEvents& events, std::vector<std::uint32_t>& op_of_gpu, Trace& trace) {
  const std::vector<RawOp>& raw = events.ops;
  std::vector<std::uint32_t> order(raw.size()), parent(raw.size(), none);
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_if_needed(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(raw[a].thread, raw[a].ts, -raw[a].dur) < std::tuple(raw[b].thread, raw[b].ts, -raw[b].dur);
  });
  std::vector<std::uint32_t> open;
  std::uint32_t thread = none;
  for (const std::uint32_t i : order) {
    if (raw[i].thread != thread) open.clear();
    thread = raw[i].thread;
    while (!open.empty() && raw[open.back()].ts + raw[open.back()].dur < raw[i].ts + raw[i].dur) open.pop_back();
    if (!open.empty()) parent[i] = open.back();
    open.push_back(i);
  }
  find_ops_by_time(events, order, parent, trace, op_of_gpu);
  std::vector<std::uint32_t> place(raw.size(), trace.gpu.empty() ? 0 : none);
  for (std::uint32_t op : op_of_gpu) {
    for (; op != none && place[op] == none; op = parent[op]) place[op] = 0;
  }
  for (const std::uint32_t i : order) {
    if (place[i] == none) continue;
    place[i] = static_cast<std::uint32_t>(trace.ops.size());
    const std::uint32_t around = parent[i] == none ? none : place[parent[i]];
    trace.ops.push_back({(raw[i].ts - events.first_ts) * seconds_per_us, std::max(0.0, raw[i].dur) * seconds_per_us,
                         raw[i].name, raw[i].inputs, raw[i].thread, around});
  }
  for (std::uint32_t& op : op_of_gpu) {
    if (op != none) op = place[op];
  }
}

void take_texts(const RawEvents& events, Trace& trace) {
  for (std::uint32_t i = 0; i < events.input_texts.size(); ++i) {
    const std::string_view text = events.input_texts.text(i);
    const std::size_t first = text.find(part_separator);
    const std::size_t second = first == std::string_view::npos ? first : text.find(part_separator, first + 1);
    if (second == std::string_view::npos) {
      trace.inputs.emplace_back();
      continue;
    }
    trace.inputs.push_back(
        parse_inputs(text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)));
  }
  for (std::uint32_t i = 0; i < events.launch_texts.size(); ++i) {
    trace.shapes.push_back(parse_shape(events.launch_texts.text(i)));
  }
}

/// Some recorders leave times at zero in a trace of absolute times: such work would seem to be of 1970.
void drop_zero_times(RawEvents& events, ImportStats& stats) {
  if (events.last_ts < absolute_us || events.first_ts > 0) return;
  const auto no_time = [](const RawGpu& gpu) { return gpu.ts <= 0; };
  const std::size_t lost = std::erase_if(events.gpu, no_time);
  if (lost > 0) stats.drop("GPU events at time zero or of negative duration", Severity::loss, {}, lost);
  events.first_ts = events.first_positive_ts;
}

}  // namespace

void join(RawEvents events, Trace& trace) {
  drop_zero_times(events, trace.stats);
  const double first = events.first_ts;
  trace.host_span_s = events.any ? (events.last_ts - first) * seconds_per_us : 0;
  trace.with_stack = trace.with_stack || events.python_stacks;
  trace.names = std::move(events.names);
  stable_sort_if_needed(events.gpu, [](const RawGpu& a, const RawGpu& b) {
    return std::pair(a.device, a.ts) < std::pair(b.device, b.ts);
  });
  IdIndex calls(events.calls, [](const RawCall& c) { return c.correlation; });
  IdIndex ops(events.ops, [](const RawOp& o) { return o.external; });
  std::vector<std::uint32_t> op_of_gpu;
  trace.gpu.reserve(events.gpu.size());
  op_of_gpu.reserve(events.gpu.size());
  for (const RawGpu& raw : events.gpu) {
    GpuSpan span;
    span.start_s = (raw.ts - first) * seconds_per_us;
    span.duration_s = raw.dur * seconds_per_us;
    span.name = raw.name;
    span.launch = calls.find(raw.correlation);
    span.shape = raw.shape;
    span.stream = raw.stream;
    span.device = raw.device;
    span.work = raw.work;
    span.from_graph = raw.from_graph;
    span.bytes = raw.bytes;
    const std::uint64_t called = span.launch == none ? 0 : events.calls[span.launch].external;
    op_of_gpu.push_back(ops.find(called != 0 ? called : raw.external));
    trace.gpu.push_back(span);
  }
  for (const RawCall& raw : events.calls) {
    trace.calls.push_back(
        {(raw.ts - first) * seconds_per_us, std::max(0.0, raw.dur) * seconds_per_us, raw.name, raw.thread});
  }
  for (const RawAnnotation& raw : events.annotations) {
    trace.annotations.push_back(
        {(raw.ts - first) * seconds_per_us, std::max(0.0, raw.dur) * seconds_per_us, raw.name, raw.on_gpu});
  }
  keep_ops(events, op_of_gpu, trace);
  std::vector<std::uint32_t> spans_of_call(trace.calls.size(), 0);
  for (std::size_t i = 0; i < trace.gpu.size(); ++i) {
    trace.gpu[i].op = op_of_gpu[i];
    if (trace.gpu[i].launch != none) ++spans_of_call[trace.gpu[i].launch];
  }
  for (GpuSpan& span : trace.gpu) {
    if (span.launch != none && spans_of_call[span.launch] > 1) span.from_graph = true;
  }
  take_texts(events, trace);
  annotate_on_gpu(events.annotations, trace.gpu, trace.annotations);
  annotate_by_launch(events.annotations, trace);
  mend_durations(trace);
}

}  // namespace corridor::profile::kineto
