// SPDX-License-Identifier: Apache-2.0
// One line an event, in order of time; work that overlaps on a stream gets lanes of its own, as viewers drop it else.
#include "corridor/app/perfetto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace corridor::app {
namespace {

using diagnose::ShapeRow;
using profile::GpuSpan;
using profile::none;

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
constexpr std::size_t longest_span_name = 512;  // bytes; template arguments go on for pages
constexpr std::size_t most_lanes = 32;          // of one stream
constexpr int steps_track = 0;                  // the streams follow

/// A JSON string: quotes and control characters escaped, bytes that are no UTF-8 replaced by "?".
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size() && i < longest_span_name; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20U || c == 0x7FU) {
      out += fmt::format("\\u{:04x}", c);
    } else if (c < 0x80U) {
      out += text[i];
    } else {
      const std::size_t more = c >= 0xF0U && c < 0xF5U ? 3 : c >= 0xE0U ? 2 : c >= 0xC2U ? 1 : 0;
      bool whole = more > 0 && c < 0xF5U && i + more < text.size();
      for (std::size_t j = 1; whole && j <= more; ++j) {
        whole = (static_cast<unsigned char>(text[i + j]) & 0xC0U) == 0x80U;
      }
      out += whole ? text.substr(i, more + 1) : std::string_view("?");
      i += whole ? more : 0;
    }
  }
  return out + '"';
}

long long nanoseconds(double seconds) {
  constexpr double largest = 9e18;
  return std::llround(std::clamp(seconds * 1e9, -largest, largest));
}

std::string microseconds(long long ns) {
  return fmt::format("{:.3f}", static_cast<double>(ns) * 1e-3);
}

class PerfettoWriter {
 public:
  PerfettoWriter(const profile::Trace& trace, const diagnose::TraceAnalysis& analysis, const profile::ByteSink& sink)
      : trace_(trace), analysis_(analysis), sink_(sink) {}

  Result<std::size_t> run() {
    text_ = "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"otherData\":{\"written_by\":\"corridor\",\"verdict\":" +
            quoted(analysis_.sentence) + "},\"traceEvents\":[\n";
    steps();
    std::vector<std::uint32_t> row_of(trace_.gpu.size(), none);
    for (std::size_t i = 0; i < std::min(analysis_.spans.size(), analysis_.row_of_span.size()); ++i) {
      if (analysis_.spans[i] < row_of.size()) row_of[analysis_.spans[i]] = analysis_.row_of_span[i];
    }
    for (std::size_t i = 0; i < trace_.gpu.size() && !failed_; ++i) {
      span(trace_.gpu[i], row_of[i] < analysis_.shapes.size() ? &analysis_.shapes[row_of[i]] : nullptr);
    }
    end_rates_until(std::numeric_limits<long long>::max());
    text_ += "\n]}\n";
    flush(0);
    if (failed_) return tl::unexpected(*failed_);
    return lines_;
  }

 private:
  struct EndOfRate {
    long long end_ns = 0;
    double bytes_per_s = 0, flop_per_s = 0;
    bool operator>(const EndOfRate& other) const { return end_ns > other.end_ns; }
  };

  void line(const std::string& event) {
    if (lines_++ > 0) text_ += ",\n";
    text_ += event;
    flush(piece_bytes);
  }

  void flush(std::size_t beyond) {
    if (failed_ || text_.size() <= beyond) return;
    const Result<int> kept = sink_(text_);
    if (!kept) failed_ = kept.error();
    text_.clear();
  }

  void name_track(int process, int track, const std::string& name) {
    line(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process, track,
                     quoted(name)));
    line(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", process,
                     track, track));
  }

  void name_process(int process) {
    if (!named_.insert({process, 1}).second) return;
    line(fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":"GPU {}"}}}})", process,
                     process));
  }

  void steps() {
    name_process(analysis_.device);
    if (analysis_.steps.empty()) return;
    name_track(analysis_.device, steps_track, "steps");
    long long end_ns = std::numeric_limits<long long>::min();
    for (const diagnose::StepRow& step : analysis_.steps) {
      const long long start = std::max(nanoseconds(step.start_s), end_ns);
      const long long end = nanoseconds(step.start_s + step.span_s);
      if (step.span_s <= 0 || end <= start) continue;
      end_ns = end;
      line(fmt::format(
          R"({{"ph":"X","cat":"step","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"args":{{"busy":{:.4g},"kernels":{:.0f},"launches":{:.0f}}}}})",
          analysis_.device, steps_track, microseconds(start), microseconds(end - start), quoted(step.name),
          step.busy_s / step.span_s, step.kernels, step.launches));
    }
  }

  /// The track of a span: the first lane of its stream that is free.
  int track_of(const GpuSpan& span, long long start_ns, long long end_ns) {
    std::vector<Lane>& lanes = lanes_[std::pair(span.device, span.stream)];
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.end_ns <= start_ns; });
    if (lane == lanes.end() && lanes.size() < most_lanes) {
      int& tracks = named_.at(span.device);
      const std::string more = lanes.empty() ? "" : fmt::format(" ({})", lanes.size() + 1);
      name_track(span.device, tracks, fmt::format("stream {}{}", span.stream, more));
      lane = lanes.insert(lanes.end(), Lane{0, tracks++});
    }
    if (lane == lanes.end()) --lane;
    lane->end_ns = std::max(lane->end_ns, end_ns);
    return lane->track;
  }

  void span(const GpuSpan& span, const ShapeRow* row) {
    const long long start = nanoseconds(span.start_s);
    const long long end = std::max(start, nanoseconds(span.start_s + span.duration_s));
    name_process(span.device);
    const int track = track_of(span, start, end);
    const char* cat = span.work == profile::GpuWork::kernel ? "kernel"
                      : span.work == profile::GpuWork::copy ? "gpu_memcpy"
                                                            : "gpu_memset";
    if (row != nullptr) begin_rate(start, end, *row);
    line(fmt::format(
        R"({{"ph":"X","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"args":{{"device":{},"stream":{}{}}}}})",
        cat, span.device, track, microseconds(start), microseconds(end - start), quoted(trace_.names.text(span.name)),
        span.device, span.stream, row == nullptr ? "" : arguments(*row)));
  }

  /// ,"operation":…: the same for all spans of a row, so each text is made once.
  const std::string& arguments(const ShapeRow& row) {
    std::string& text = arguments_[&row];
    if (!text.empty()) return text;
    text = fmt::format(R"(,"operation":{},"class":"{}","bound":"{}")", quoted(row.operation), name(row.kernel_class),
                       name(row.bound));
    if (!row.shape.empty()) text += ",\"shape\":" + quoted(row.shape);
    const auto add = [&](const char* key, const std::optional<double>& value) {
      if (value && std::isfinite(*value)) text += fmt::format(R"(,"{}":{:.4g})", key, *value);
    };
    add("fraction_of_roof", row.fraction_of_roof);
    add("flop_per_s", row.flop_per_s());
    add("bytes_per_s", row.bytes_per_s());
    if (!row.remark.empty()) text += ",\"remark\":" + quoted(row.remark);
    return text;
  }

  void begin_rate(long long start, long long end, const ShapeRow& row) {
    end_rates_until(start);
    EndOfRate rate{end, row.bytes_per_s().value_or(0), row.flop_per_s().value_or(0)};
    if (!row.remark.empty()) rate = {};  // rates beyond the chip's: a track has no place for the cause
    if ((rate.bytes_per_s <= 0 && rate.flop_per_s <= 0) || end <= start) return tell_rates(start);
    ends_.push(rate);
    bytes_per_s_ += rate.bytes_per_s;
    flop_per_s_ += rate.flop_per_s;
    tell_rates(start);
  }

  /// Takes away the rates that end before `time`, and tells what then remains; what ends just then is told by the next.
  void end_rates_until(long long time) {
    while (!ends_.empty() && ends_.top().end_ns <= time) {
      const long long end = ends_.top().end_ns;
      while (!ends_.empty() && ends_.top().end_ns == end) {
        bytes_per_s_ -= ends_.top().bytes_per_s;
        flop_per_s_ -= ends_.top().flop_per_s;
        ends_.pop();
      }
      if (ends_.empty()) bytes_per_s_ = flop_per_s_ = 0;  // sums of rounded numbers do not end at zero
      if (end < time) tell_rates(end);
    }
  }

  void tell_rates(long long time) {
    counter(time, "bytes/s", bytes_per_s_, told_bytes_per_s_);
    counter(time, "FLOP/s", flop_per_s_, told_flop_per_s_);
  }

  void counter(long long time, const char* name, double value, double& told) {
    if (value == told || !std::isfinite(value)) return;
    told = value;
    line(fmt::format(R"({{"ph":"C","pid":{},"tid":0,"ts":{},"name":"{}","args":{{"{}":{:.4g}}}}})", analysis_.device,
                     microseconds(time), name, name, std::max(0.0, value)));
  }

  struct Lane {
    long long end_ns = 0;
    int track = 0;
  };

  const profile::Trace& trace_;
  const diagnose::TraceAnalysis& analysis_;
  const profile::ByteSink& sink_;
  std::string text_;
  std::size_t lines_ = 0;
  std::optional<Error> failed_;
  std::map<int, int> named_;  ///< processes named so far → their next track
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<Lane>> lanes_;
  std::map<const ShapeRow*, std::string> arguments_;
  std::priority_queue<EndOfRate, std::vector<EndOfRate>, std::greater<>> ends_;
  double bytes_per_s_ = 0, flop_per_s_ = 0, told_bytes_per_s_ = 0, told_flop_per_s_ = 0;
};

}  // namespace

Result<std::size_t> write_perfetto(const profile::Trace& trace, const diagnose::TraceAnalysis& analysis,
                                   const profile::ByteSink& sink) {
  return PerfettoWriter(trace, analysis, sink).run();
}

}  // namespace corridor::app
