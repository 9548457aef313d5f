// SPDX-License-Identifier: Apache-2.0
// The verdict: DESIGN §6, against the expected band of this case, never one threshold.
#include "corridor/diagnose/diagnosis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/diagnose/comparison.h"
#include "corridor/units/text.h"

namespace corridor::diagnose {
namespace {

using roofline::Wall;
using units::print;
using units::print_number;
using units::Seconds;

// Clocks and bandwidth of a board differ from the data sheet by a few per cent: only beyond that is a speed impossible.
constexpr double floor_tolerance = 0.97;
// Completed rates and lengths differ from the asked ones by warm-up and tail of a benchmark.
constexpr double rate_tolerance = 0.2;
constexpr double length_tolerance = 0.25;
// Offered load below this share of what the case serves is not what limits by hardware.
constexpr double load_limit_share = 0.8;
// A first token later than this many times the high end has waited behind other requests.
constexpr double queue_factor = 3;
// A throughput below this share of the expected one, at a batch of at least this many, points to an unfilled batch.
constexpr double unfilled_share = 0.35;
constexpr double batch_to_speak_of = 8;

/// Gathers evidence and decides.
class Verdict {
 public:
  explicit Verdict(const DiagnoseInput& input) : in_(input), scenario_(input.input.scenario), seen_(input.seen) {}

  Diagnosis decide() {
    d_.comparison = compare(in_.input, in_.prediction, seen_);
    d_.wall = d_.comparison ? roofline::shares_of(c().budget).wall() : in_.prediction.decode.wall;
    fill_rates();
    if (!in_.prediction.memory.fits) return does_not_fit();
    if (const std::string contradiction = contradiction_text(); !contradiction.empty())
      return not_comparable(contradiction);
    if (is_load_limited()) return load_limited();
    if (arrives_faster_than_served()) return queueing();
    if (!d_.comparison) return rate_only();
    d_.unexplained = d_.comparison->observed - d_.comparison->expected.mid;
    if (d_.comparison->observed < d_.comparison->limit * floor_tolerance) return below_floor();
    if (is_queueing()) return queueing();
    if (d_.comparison->observed <= d_.comparison->expected.high) return healthy();
    d_.hypotheses = explain_gap(in_, *d_.comparison);
    if (is_unfilled()) return not_batched();
    return slow();
  }

 private:
  const Comparison& c() const { return *d_.comparison; }
  std::string percent(double share) const { return fmt::format("{:.0f} %", share * 100); }
  std::string band() const {
    return fmt::format("{} to {} expected", print(c().expected.low), print(c().expected.high));
  }

  void fill_rates() {
    d_.rates.meter = seen_.meter;
    d_.rates.bytes_per_s = seen_.bytes_per_s;
    d_.rates.flop_per_s = seen_.flop_per_s;
    if (d_.comparison) {
      if (!d_.rates.bytes_per_s) d_.rates.bytes_per_s = c().per_device.bytes().value() / c().observed.value();
      if (!d_.rates.flop_per_s) d_.rates.flop_per_s = c().per_device.flops.value() / c().observed.value();
    }
    if (d_.rates.bytes_per_s) d_.rates.mbu = *d_.rates.bytes_per_s / in_.input.device.memory_bandwidth->value.value();
    if (d_.rates.flop_per_s) d_.rates.mfu = *d_.rates.flop_per_s / in_.prediction.arithmetic.peak.value();
  }

  /// Numbers that cannot all be true, in one clause; empty when they agree.
  std::string contradiction_text() const {
    if (seen_.output_tok_s && seen_.total_tok_s && *seen_.output_tok_s > *seen_.total_tok_s * 1.01) {
      return "output tokens a second are more than total tokens a second";
    }
    if (seen_.output_tok_s && seen_.request_per_s && seen_.lengths_given && *seen_.request_per_s > 0) {
      const double each = *seen_.output_tok_s / *seen_.request_per_s;
      const double asked = static_cast<double>(scenario_.output);
      if (std::fabs(each / asked - 1) > length_tolerance) {
        return fmt::format("{} output tok/s at {} req/s are {:.1f} tokens a request, not the {:.0f} asked for",
                           print_number(*seen_.output_tok_s), print_number(*seen_.request_per_s), each, asked);
      }
    }
    return "";
  }

  /// A board of a similar name whose expected time is the observed one, as a sentence; empty when there is none.
  std::string reconciling_board() const {
    constexpr double close = 0.15;  // |ln| of the ratio: within the usual interval of an expected time
    const BoardVariant* best = nullptr;
    const auto distance = [&](const BoardVariant& v) { return std::fabs(std::log(v.expected / c().observed)); };
    for (const BoardVariant& variant : in_.variants) {
      if (distance(variant) < close && (best == nullptr || distance(variant) < distance(*best))) best = &variant;
    }
    return best == nullptr ? "" : " It is what a " + best->id + " reaches: is it that board?";
  }

  bool is_load_limited() const {
    if (!seen_.request_rate || !in_.capacity_request_per_s) return false;
    if (*seen_.request_rate > load_limit_share * *in_.capacity_request_per_s) return false;
    const double offered_tok_s = *seen_.request_rate * static_cast<double>(scenario_.output);
    if (seen_.output_tok_s) return std::fabs(*seen_.output_tok_s / offered_tok_s - 1) < rate_tolerance;
    if (seen_.request_per_s) return std::fabs(*seen_.request_per_s / *seen_.request_rate - 1) < rate_tolerance;
    return false;
  }

  bool arrives_faster_than_served() const {
    return seen_.request_rate && in_.capacity_request_per_s && *seen_.request_rate > *in_.capacity_request_per_s;
  }

  bool is_queueing() const {
    const Seconds late = in_.prediction.prefill.expected.high * queue_factor;
    const bool first_token_late = seen_.ttft_s && Seconds{*seen_.ttft_s} > late && (seen_.tpot_s || seen_.output_tok_s);
    return first_token_late && c().what != "time to first token" && c().observed <= c().expected.high;
  }

  bool is_unfilled() {
    const bool throughput = seen_.output_tok_s || seen_.total_tok_s;
    const double users = in_.prediction.decode.sequences;
    if (!throughput || users < batch_to_speak_of || c().fraction_of_expected() > unfilled_share) return false;
    // The batch whose expected throughput is the observed one.
    const double observed_tok_s = users / c().observed.value();
    double low = 1;
    double high = users;
    while (high - low > 0.5) {
      graph::Scenario fewer = scenario_;
      fewer.sequences = std::round((low + high) / 2) * static_cast<double>(scenario_.parallelism.dp);
      if (fewer.sequences <= low || fewer.sequences >= high) break;
      const auto p = roofline::predict(
          {in_.input.model, in_.input.device, fewer, in_.input.engine, in_.input.constants, in_.input.draft});
      if (!p) return false;
      const double tok_s = fewer.sequences * p->decode.tokens_per_sequence / p->decode.expected.mid.value();
      (tok_s < observed_tok_s ? low : high) = fewer.sequences;
    }
    d_.effective_batch = high;
    return high <= users / 4;
  }

  Diagnosis does_not_fit() {
    d_.status = Status::does_not_fit;
    const auto& m = in_.prediction.memory;
    d_.sentence =
        fmt::format("Does not fit: each device needs {} and has {}; {}.", print(m.needed()), print(m.capacity),
                    m.devices_needed > 0 ? fmt::format("{} such devices hold it", m.devices_needed)
                                         : std::string("no count of such devices holds it"));
    d_.remedy = "more devices, fewer bits a weight, a shorter context or fewer sequences";
    return std::move(d_);
  }
  Diagnosis not_comparable(const std::string& why) {
    d_.status = Status::not_comparable;
    d_.sentence = "Not comparable: " + why + ".";
    d_.remedy = "make the lengths equal (ignore_eos) and compare output with output tokens before any speed";
    if (d_.comparison) d_.unexplained = c().observed - c().expected.mid;
    d_.hypotheses = d_.comparison ? explain_gap(in_, c()) : std::vector<Hypothesis>{};
    return std::move(d_);
  }
  Diagnosis load_limited() {
    d_.status = Status::load_limited;
    // How many users shared a throughput is not known from a rate, so no time of one user can be compared.
    if (!seen_.tpot_s && !seen_.tok_s_per_user) d_.comparison.reset();
    d_.sentence = fmt::format(
        "Load-limited: {} requests a second are offered and about {} can be served, so the arrival rate "
        "sets the throughput, not the hardware.",
        print_number(*seen_.request_rate), print_number(*in_.capacity_request_per_s));
    d_.remedy = "raise the request rate until throughput stops to follow it; only then compare formats or devices";
    return std::move(d_);
  }
  Diagnosis rate_only() {
    d_.status = Status::healthy;
    d_.sentence = "No speed was given, only rates of the device.";
    return std::move(d_);
  }
  Diagnosis below_floor() {
    d_.status = Status::below_floor;
    const double factor = c().limit / c().observed;
    d_.sentence = fmt::format("Below the floor: {} is {:.2f} times faster than the limit of {} allows.",
                              print(c().observed), factor, print(c().limit)) +
                  reconciling_board();
    d_.remedy = c().what == "time to first token" ? "check that the clock stops after the device has finished "
                                                    "(synchronise), the prompt length, and prefix cache hits"
                                                  : "check the unit, the number of tokens, whether the rate is of one "
                                                    "user or of all, speculation, the exact board";
    return std::move(d_);
  }
  Diagnosis queueing() {
    d_.status = Status::queueing;
    if (!arrives_faster_than_served()) {
      d_.queue = std::max(Seconds{0}, Seconds{*seen_.ttft_s} - in_.prediction.prefill.expected.mid);
      d_.sentence =
          fmt::format("Queueing: the first token takes {} where {} of work are expected, while {} fits: requests wait.",
                      print(Seconds{*seen_.ttft_s}), print(in_.prediction.prefill.expected.mid), c().what);
    } else {
      d_.sentence = fmt::format("Queueing: {} requests a second arrive and about {} can be served.",
                                print_number(*seen_.request_rate), print_number(*in_.capacity_request_per_s));
    }
    d_.remedy =
        "fewer concurrent requests, more sequences at once if memory holds them (max-num-seqs), or another replica";
    return std::move(d_);
  }
  Diagnosis healthy() {
    d_.status = Status::healthy;
    d_.sentence = fmt::format("Healthy: {} {} ({}); {} of what physics allows. The wall is {}.", c().what,
                              print(c().observed), band(), percent(c().fraction_of_limit()), roofline::name(d_.wall));
    if (c().observed < c().expected.low) d_.sentence += reconciling_board();
    d_.remedy = "nothing is wrong: only a lever below makes it faster";
    return std::move(d_);
  }
  Diagnosis not_batched() {
    d_.status = Status::not_batched;
    d_.wall = Wall::overhead;
    d_.sentence = fmt::format(
        "The requests do not reach the batch: {:.0f} sequences are claimed, the throughput is that of about {:.0f}.",
        in_.prediction.decode.sequences, *d_.effective_batch);
    d_.remedy =
        "look at the number of running requests in the engine's log; check the client's concurrency and max-num-seqs";
    return std::move(d_);
  }
  Diagnosis slow() {
    d_.status = Status::slow;
    d_.wall = wall_of_slow();
    d_.sentence =
        fmt::format("Slow: {} {} ({}); {} of what physics allows, {:.1f} times the expected time.", c().what,
                    print(c().observed), band(), percent(c().fraction_of_limit()), 1 / c().fraction_of_expected());
    if (!d_.hypotheses.empty()) d_.remedy = d_.hypotheses.front().how_to_tell;
    return std::move(d_);
  }

  /// Shares of the observed time of a slow run. Certain is only what physics asks of the memory, and the arithmetic and
  /// transfers that are expected; the rest is neither bytes nor FLOPs: overhead, or transfers where a dense model is
  /// cut over devices (a cost that one device does not have).
  Wall wall_of_slow() const {
    const roofline::Budget& b = c().budget;
    roofline::Budget certain;
    certain.weights = std::min(c().limit_memory, b.weights + b.kv + b.activations);
    certain.compute = b.compute;
    certain.communication = b.communication;
    certain.host = b.host + b.launch;
    const Seconds rest = std::max(Seconds{0}, c().observed - certain.total());
    const bool routed = std::any_of(in_.input.model.layers.begin(), in_.input.model.layers.end(),
                                    [](const model::LayerGroup& group) { return group.feed_forward.experts > 0; });
    (scenario_.parallelism.tp > 1 && !routed ? certain.communication : certain.host) += rest;
    return roofline::shares_of(certain).wall();
  }

  const DiagnoseInput& in_;
  const graph::Scenario& scenario_;
  const Observation& seen_;
  Diagnosis d_;
};

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::healthy:
      return "healthy";
    case Status::slow:
      return "slow";
    case Status::below_floor:
      return "below_floor";
    case Status::load_limited:
      return "load_limited";
    case Status::queueing:
      return "queueing";
    case Status::not_batched:
      return "not_batched";
    case Status::not_comparable:
      return "not_comparable";
    case Status::does_not_fit:
      return "does_not_fit";
  }
  return "";
}

Result<Diagnosis> diagnose(const DiagnoseInput& input) {
  if (input.seen.empty()) {
    return fail("nothing was observed", "corridor diagnose",
                "add a number with its meaning, e.g. --observed-tpot 42ms, or paste a result block");
  }
  return Verdict(input).decide();
}

}  // namespace corridor::diagnose
