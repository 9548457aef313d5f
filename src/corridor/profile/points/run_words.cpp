// SPDX-License-Identifier: Apache-2.0
// Rules on words, never on the names of files or sources, so that tables of strangers are read alike.
#include "corridor/profile/points/run_words.h"

#include <algorithm>
#include <cmath>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/layout.h"
#include "corridor/profile/points/reasons.h"

namespace corridor::profile {
namespace {

bool is_decode(PointMetric metric) {
  return metric == PointMetric::tpot || metric == PointMetric::decode_per_user;
}
bool is_prompt(PointMetric metric) {
  return metric == PointMetric::ttft || metric == PointMetric::prefill_rate;
}

/// The only number of a cell: "c32", "bs=8", "batch 16"; nothing when there are several or none.
std::optional<double> only_number(std::string_view text) {
  std::optional<double> found;
  while (!text.empty()) {
    if (!is_digit(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const auto next = leading_number(text);
    if (found || !next) return std::nullopt;
    found = next->value;
    text = next->rest;
  }
  return found;
}

bool says_closed_loop(std::string_view text) {
  return contains_any(text, {"concurren",
                             "closed loop",
                             "closed-loop",
                             "in-flight",
                             "in flight",
                             "inflight",
                             "clients",
                             "simultaneous",
                             " users",
                             "parallel requests",
                             "continuous batching",
                             "bench serve",
                             "benchmark_serving",
                             "bench_serving",
                             "serving benchmark",
                             "genai-perf",
                             "aiperf",
                             "guidellm",
                             "request throughput",
                             "max_num_seqs",
                             "max-num-seqs"});
}

std::optional<std::int64_t> cut(std::string_view text, std::string_view word) {
  const auto value = number_at_word(text, word);
  if (!value || *value < 1 || *value > 1e6) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

void set_device_count(MeasuredPoint& point) {
  if (point.devices || (!point.tp && !point.pp && !point.dp)) return;
  const double all = static_cast<double>(point.tp.value_or(1)) * static_cast<double>(point.pp.value_or(1)) *
                     static_cast<double>(point.dp.value_or(1));
  if (all <= 1e6) point.devices = static_cast<std::int64_t>(all);
}

/// llama-bench: "tg128" generates 128 tokens after an empty start, or after "depth 4096" ("@ d4096").
std::optional<double> depth_of(std::string_view notes) {
  if (const auto depth = number_at_word(notes, "depth")) return depth;
  if (const auto at = notes.find("@ d"); at != std::string_view::npos) return number_at_word(notes.substr(at), "d");
  return std::nullopt;
}

/// Sequences that decode a few tokens after a prompt, timed alone: a rate of decode only.
bool is_batched_decode(const RunWords& words, const MeasuredPoint& point) {
  if (contains(lower(point.metric_name), "decode")) return true;
  return contains_any(words.notes, {"s_tg", "decode phase only", "decode only", "batched-bench"});
}

/// The sum over sequences becomes the rate of one: both mean the same, and the second says that no prompt is in it.
void as_decode_rate(const RunWords& words, const Length& input, const Length& output, MeasuredPoint& point) {
  // Batched benchmarks name the generated tokens in words; their other column repeats the context.
  const bool in_words = contains_any(words.notes, {"s_tg", "batched-bench"});
  const double generated = number_at_word(words.notes, "sequences x").value_or(in_words ? 0 : output.value.value_or(0));
  point.metric = PointMetric::decode_per_user;
  point.unit /= *point.sequences;
  point.value /= *point.sequences;
  point.input = input.value;
  point.context = *input.value + generated / 2;
  if (generated > 0) point.output = generated;
}

void set_decode_lengths(const RunWords& words, const Length& input, const Length& output, MeasuredPoint& point) {
  if (const auto generated = number_at_word(words.notes, "tg")) {
    const double before = depth_of(words.notes).value_or(input.value.value_or(0));
    point.input = before;
    point.output = *generated;
    point.context = before + *generated / 2;
    return;
  }
  const bool end_of_sequence = contains_any(words.notes, {"last ", "final "}) && contains(words.notes, "tokens of");
  if (end_of_sequence && output.value) {
    const auto last = number_at_word(words.notes, contains(words.notes, "last ") ? "last" : "final");
    point.output = last;
    point.context = std::max(0.0, *output.value - last.value_or(0) / 2);
    return;
  }
  point.input = input.value;
  // A column "output_len_or_ctx" without a prompt beside it states the context.
  (input.value || words.output_only ? point.output : point.context) = output.value;
  if (point.input && *point.input <= 0 && !point.output) point.input.reset();
}

void set_prompt_lengths(const RunWords& words, const Length& input, const Length& output, MeasuredPoint& point) {
  const auto prompt = number_at_word(words.notes, "pp");
  point.input = prompt ? prompt : input.value;
  if (const auto depth = depth_of(words.notes); depth && *depth > 0) point.context = *depth;
  if (!point.context && output.value && *output.value > 0) point.output = output.value;
}

}  // namespace

void set_load(const RunWords& words, MeasuredPoint& point) {
  if (contains_any(words.batch, {"poisson", "req/s", "requests/s", "arriv", "qps", "rps"})) {
    point.load = PointLoad::other;
    set_aside(point, reason::arrival_rate);
    return;
  }
  // "max batch 2048" bounds the batch and does not state it; "max concurrency 64" states the requests in flight.
  const bool bound_only = contains(words.batch, "max") && !contains(words.batch, "concurren");
  if (!bound_only) point.sequences = only_number(words.batch);
  const bool arrivals = contains_any(words.notes, {"poisson", "arrival"});
  if (arrivals && !point.sequences) {
    point.load = PointLoad::other;
    set_aside(point, reason::arrival_rate);
    return;
  }
  if (!words.batch.empty() && !point.sequences) {
    point.load = PointLoad::other;
    set_aside(point, reason::no_sequences);
    return;
  }
  const bool fixed = contains_any(words.notes, {"static"}) || contains_any(words.engine, {"static"});
  const bool closed = words.closed || says_closed_loop(words.batch) ||
                      (!fixed && (says_closed_loop(words.notes) || says_closed_loop(words.engine)));
  point.load = closed ? PointLoad::concurrency : PointLoad::batch;
  const bool queues = point.sequences.value_or(1) > 1 && contains(words.notes, "queue");
  if (point.metric == PointMetric::ttft && queues) set_aside(point, reason::queued_ttft);
}

void set_parallelism(std::string_view written, MeasuredPoint& point) {
  const std::string text = lower(written.substr(0, 200));
  point.tp = cut(text, "tp");
  point.pp = cut(text, "pp");
  point.ep = cut(text, "ep");
  point.dp = cut(text, "dp");
  if (!point.tp) point.tp = cut(text, "tensor parallel");
  if (!point.pp) point.pp = cut(text, "pipeline parallel");
  if (const auto both = cut(text, "tep")) point.tp = point.ep = both;
  if (const auto both = cut(text, "dep")) point.dp = point.ep = both;
  set_device_count(point);
  const std::int64_t devices = point.devices.value_or(1);
  if (contains_any(text, {"layer-split", "layer split", "multi-gpu split", "pipeline"}) && !point.pp)
    point.pp = devices;
  const bool bare_tp = text == "tp" || contains_any(text, {"row-split", "row split", "tensor"});
  if (bare_tp && !point.tp) point.tp = devices;
  const bool bare_ep =
      text == "ep" || contains_any(text, {" ep "}) || (text.size() > 3 && text.substr(text.size() - 3) == " ep");
  if (bare_ep && !point.ep) point.ep = devices;
  // These engines put whole layers on each device unless they are told otherwise.
  const bool splits_layers = contains_any(lower(point.engine), {"llama.cpp", "llama-bench", "exllama", "koboldcpp"});
  if (text.empty() && splits_layers && devices > 1) point.pp = devices;
}

void set_lengths(const RunWords& words, MeasuredPoint& point) {
  const Length input = length(words.input);
  const Length output = length(words.output);
  const bool prompt = is_prompt(point.metric);
  if (point.metric == PointMetric::output_total && is_batched_decode(words, point) && input.value && point.sequences &&
      *point.sequences > 0) {
    as_decode_rate(words, input, output, point);
    return;
  }
  if (is_decode(point.metric)) {
    set_decode_lengths(words, input, output, point);
  } else if (prompt) {
    set_prompt_lengths(words, input, output, point);
  } else {
    point.input = input.value;
    point.output = output.value;
  }
  // The decode speed of one sequence and a speed-up depend little on lengths; everything else is proportional to them.
  const bool needs = point.metric != PointMetric::decode_per_user && point.metric != PointMetric::speedup &&
                     point.metric != PointMetric::acceptance;
  const bool mixed = (input.words && !point.input) || (output.words && !prompt && !point.output && !point.context);
  if (needs && mixed) set_aside(point, reason::mixed_lengths);
}

}  // namespace corridor::profile
