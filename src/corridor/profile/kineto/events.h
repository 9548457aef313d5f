// SPDX-License-Identifier: Apache-2.0
// The events of a Kineto trace as they stand in the file, before they are joined: one flat row each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "corridor/profile/trace.h"

namespace corridor::profile::kineto {

// Times are microseconds as written; correlation and external ids are 0 when absent.
struct RawGpu {
  double ts = 0, dur = 0;
  std::uint64_t correlation = 0, external = 0;
  std::uint32_t name = none, shape = none, stream = 0;
  std::uint16_t device = 0;
  GpuWork work = GpuWork::kernel;
  bool from_graph = false;
  double bytes = 0;
};

struct RawCall {
  double ts = 0, dur = 0;
  std::uint64_t correlation = 0, external = 0;
  std::uint32_t name = none, thread = 0;
};

struct RawOp {
  double ts = 0, dur = 0;
  std::uint64_t external = 0;
  std::uint32_t name = none, inputs = none, thread = 0;  ///< inputs: an index into input_texts
};

struct RawAnnotation {
  double ts = 0, dur = 0;
  std::uint64_t external = 0;
  std::uint32_t name = none, thread = 0;
  std::uint16_t device = 0;
  bool on_gpu = false;
};

/// Stands between the parts of a kept text; JSON allows no such byte.
inline constexpr char part_separator = '\x1f';

struct RawEvents {
  std::vector<RawGpu> gpu;
  std::vector<RawCall> calls;
  std::vector<RawOp> ops;
  std::vector<RawAnnotation> annotations;
  NamePool names;         ///< of everything that has a name
  NamePool input_texts;   ///< dims, types and values as written, once each
  NamePool launch_texts;  ///< grid and block as written, once each
  double first_ts = 0, last_ts = 0;
  double first_positive_ts = 1e300;  ///< first_ts without the events at time zero or before
  bool any = false, python_stacks = false;
};

/// Parses windows of events and keeps what matters of them. One parser a trace.
class EventParser {
 public:
  EventParser(RawEvents& events, ImportStats& stats);
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;
  ~EventParser();

  /// Parses "[{…},…]" (readable `window_padding` bytes beyond). On `false` nothing of it is kept.
  [[nodiscard]] bool take(std::string_view window);

 private:
  struct State;
  State* state_;
};

/// Turns "[[16, 559], []]", "[\"float\"]", "[\"1\"]" into inputs; what is malformed is left empty.
[[nodiscard]] OpInputs parse_inputs(std::string_view dims, std::string_view types, std::string_view concrete);

}  // namespace corridor::profile::kineto
