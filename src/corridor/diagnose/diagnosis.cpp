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
// Two ways to state the same speed may differ by prompts, ramps and tails, not by this factor.
constexpr double contradiction_factor = 2;
// With so much of the KV cache in use, requests wait for memory and not for each other's arithmetic.
constexpr double kv_full_share = 0.9;
// Modelled transfers below this share of the expected time are not what a slow run is made of by themselves.
constexpr double small_communication = 0.1;

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
    if (is_kv_full() && !is_below_floor()) return kv_full();
    if (is_load_limited()) return load_limited();
    if (arrives_faster_than_served()) return queueing();
    if (!d_.comparison) return rate_only();
    d_.unexplained = d_.comparison->observed - d_.comparison->expected.mid;
    if (is_below_floor()) return below_floor();
    if (is_queueing()) return queueing();
    if (d_.comparison->observed <= d_.comparison->expected.high) return healthy();
    if (seen_.from_log_windows) return window_only();
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
    if (d_.comparison && !seen_.bytes_per_s) {
      const roofline::StepTotals& t = c().per_device;
      const double full = c().observed.value() * in_.input.device.memory_bandwidth->value.value();
      d_.rates.mbu_weights = t.weights.value() / full;
      d_.rates.mbu_weights_kv = (t.weights + t.kv).value() / full;
    }
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
    return pace_contradiction();
  }
  static bool differ(double a, double b) { return a > b * contradiction_factor || b > a * contradiction_factor; }

  /// One user's pace against another statement of it, and against the throughput of all users.
  std::string pace_contradiction() const {
    if (!seen_.tpot_s && !seen_.tok_s_per_user) return "";
    const double pace = seen_.tok_s_per_user ? *seen_.tok_s_per_user : 1 / *seen_.tpot_s;
    if (seen_.tpot_s && differ(1 / *seen_.tpot_s, pace)) {
      return fmt::format("a time per output token of {} is {} tok/s per user, not {}", print(Seconds{*seen_.tpot_s}),
                         print_number(1 / *seen_.tpot_s), print_number(pace));
    }
    // Under an offered rate the number of users is the engine's, and a log window averages over idle time.
    if (!seen_.output_tok_s || seen_.request_rate || seen_.from_log_windows) return "";
    const double out = static_cast<double>(scenario_.output);
    const double token_s = seen_.ttft_s ? (1 / pace) * (out - 1) / out + *seen_.ttft_s / out : 1 / pace;
    const double users = scenario_.sequences;
    const double admitted = in_.prediction.decode.sequences * static_cast<double>(scenario_.parallelism.dp);
    const bool too_many = *seen_.output_tok_s > contradiction_factor * users / token_s;
    const bool too_few = *seen_.output_tok_s * contradiction_factor < admitted / token_s;
    if (!too_many && !too_few) return "";
    return fmt::format("{:.0f} {} at {} each make {} output tok/s, not the {} given", users,
                       users > 1 ? "users" : "user", print(Seconds{token_s}) + " a token",
                       print_number(users / token_s), print_number(*seen_.output_tok_s));
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

  bool is_below_floor() const { return d_.comparison && c().observed < c().limit * floor_tolerance; }

  bool is_kv_full() const {
    const bool full = seen_.kv_usage.value_or(0) >= kv_full_share && seen_.waiting.value_or(0) > 0;
    return full || seen_.preemptions.value_or(0) > 0;
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
    d_.comparison.reset();  // a speed of what cannot run is compared with nothing
    d_.rates = {};
    d_.rates.meter = seen_.meter;
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
    d_.remedy =
        "state the number of requests that ran at once and their lengths (ignore_eos), and compare output with "
        "output tokens before any speed";
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
  /// No speed: a rate of requests against what can be served.
  Diagnosis rate_only() {
    const std::optional<double> rate = seen_.request_rate ? seen_.request_rate : seen_.request_per_s;
    d_.status = Status::healthy;
    if (!rate || !in_.capacity_request_per_s) {
      d_.sentence = "No speed was given, so none can be judged.";
      d_.remedy = "add --observed-tpot, --observed-ttft or --observed-output-tok-s";
      return std::move(d_);
    }
    const double share = *rate / *in_.capacity_request_per_s;
    if (seen_.request_rate && share <= load_limit_share) return load_limited();
    d_.sentence = fmt::format("{} requests a second are {}, {} of the about {} that can be served.",
                              print_number(*rate), seen_.request_rate ? "offered" : "completed", percent(share),
                              print_number(*in_.capacity_request_per_s));
    d_.remedy = "add --observed-tpot or --observed-output-tok-s for a verdict on the speed";
    return std::move(d_);
  }
  Diagnosis kv_full() {
    d_.status = Status::queueing;
    if (d_.comparison) d_.unexplained = c().observed - c().expected.mid;
    const std::string waiting =
        seen_.waiting.value_or(0) > 0 ? fmt::format("{:.0f} requests wait", *seen_.waiting) : "requests wait";
    d_.sentence = "Queueing: the KV memory is full" +
                  (seen_.kv_usage ? fmt::format(" ({} in use)", percent(*seen_.kv_usage)) : std::string()) + ": " +
                  waiting + (seen_.preemptions ? " or are preempted and computed again" : "") +
                  ". Capacity sets the throughput.";
    d_.remedy =
        "more room for the KV cache: an 8-bit cache (--kv-cache-dtype fp8), fewer bits a weight, shorter lengths, more "
        "devices; or fewer sequences at once (max-num-seqs), so that none is preempted";
    return std::move(d_);
  }
  /// The mean of a log window is a lower bound of the pace: it proves speed, not slowness.
  Diagnosis window_only() {
    d_.status = Status::not_comparable;
    d_.unexplained = c().observed - c().expected.mid;
    d_.sentence = fmt::format(
        "Not comparable: the log's best window gives {} {} ({}), but a window counts idle time and prompts too, so it "
        "does not show that the run is slow.",
        c().what, print(c().observed), band());
    d_.remedy = "measure the time per output token with a benchmark client at a stated concurrency";
    return std::move(d_);
  }
  Diagnosis below_floor() {
    d_.status = Status::below_floor;
    const double factor = c().limit / c().observed;
    d_.sentence = fmt::format("Below the floor: {} is {} times faster than the limit of {} allows.",
                              print(c().observed), print_number(factor), print(c().limit)) +
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
    const bool faster = c().observed < c().expected.low;
    d_.sentence = fmt::format("{}: {} {} ({}); {} of what physics allows. The wall is {}.",
                              faster ? "Faster than expected" : "Healthy", c().what, print(c().observed), band(),
                              percent(c().fraction_of_limit()), roofline::name(d_.wall));
    d_.remedy = "nothing is wrong: only a lever below makes it faster";
    if (faster) {
      d_.sentence += reconciling_board();
      d_.remedy = "before you trust it, check what would explain it: " + what_makes_faster();
    }
    return std::move(d_);
  }
  std::string what_makes_faster() const {
    std::string list;
    if (in_.prediction.decode.sequences > 1) list += "fewer sequences running at once than stated, ";
    if (!in_.prediction.graphs) list += "graph capture on, ";
    if (c().what != "time per output token") list += "prefix cache hits, ";
    return list + "shorter lengths than stated, fewer bits a weight, another board";
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
    d_.sentence = fmt::format("Slow: {} {} ({}); {} of what physics allows, {} times the expected time.", c().what,
                              print(c().observed), band(), percent(c().fraction_of_limit()),
                              print_number(1 / c().fraction_of_expected()));
    if (!d_.hypotheses.empty()) d_.remedy = d_.hypotheses.front().how_to_tell;
    return std::move(d_);
  }

  /// Shares of the observed time of a slow run. Certain is only what physics asks of the memory, and the arithmetic and
  /// transfers that are expected; the rest is neither bytes nor FLOPs: overhead, or transfers where a dense model is
  /// cut over devices (a cost that one device does not have), when they are large or the best explanation, or
  /// arithmetic where that explains it best (a low clock).
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
    const bool best_is_link = !d_.hypotheses.empty() && d_.hypotheses.front().wall == Wall::interconnect;
    const bool links_matter = best_is_link || b.communication > b.total() * small_communication;
    const bool best_is_compute = !d_.hypotheses.empty() && d_.hypotheses.front().wall == Wall::compute;
    Seconds& of_rest = scenario_.parallelism.tp > 1 && !routed && links_matter ? certain.communication
                       : best_is_compute                                       ? certain.compute
                                                                               : certain.host;
    of_rest += rest;
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
  if (Result<int> ok = check_observation(input.seen); !ok) return tl::unexpected(ok.error());
  if (Result<int> ok = check_rates(input.input.device, input.prediction.arithmetic.type, input.seen.bytes_per_s,
                                   input.seen.flop_per_s);
      !ok)
    return tl::unexpected(ok.error());
  return Verdict(input).decide();
}

}  // namespace corridor::diagnose
