// SPDX-License-Identifier: Apache-2.0
// Decode and prefill as sums of steps: chunks, closed-loop mixing, speculation rounds.
#include "corridor/roofline/phases.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "corridor/roofline/prompt_wait.h"

namespace corridor::roofline {

graph::Parallelism layout_run(const PredictInput& input) {
  const graph::Parallelism& asked = input.scenario.parallelism;
  const std::int64_t devices = asked.tp * asked.pp;
  const std::int64_t layers = input.model.layer_count();
  if (!input.engine.layers_in_turn || asked.tp <= 1 || (layers > 0 && devices > layers)) return asked;
  graph::Parallelism turned = asked;
  turned.tp = 1;
  turned.pp = devices;
  return turned;
}

namespace {

using graph::StepShape;
using units::Seconds;

// Long prompts are cut into thousands of chunks whose time grows almost linearly with the past: this many are timed.
constexpr double most_timed_chunks = 32;

graph::GraphOptions graph_options(const PredictInput& input) {
  const graph::Scenario& s = input.scenario;
  const double in_node = input.device.link.devices_in_node ? input.device.link.devices_in_node->value : 8;
  return {layout_run(input),
          s.routing,
          s.kv,
          s.flash_attention && input.engine.flash_attention,
          s.fusion && input.engine.fused_norms,
          in_node};
}

TimingContext timing_context(const PredictInput& input, bool graphs) {
  return {input.device,
          input.constants,
          input.scenario.math,
          graphs,
          input.engine.fused_quantise,
          input.engine.fused_all_reduce,
          input.engine.attention_decode_t0_s};
}

// Up to eight rows engines run vector kernels, which the bytes of the weights bound in any arithmetic.
constexpr double least_own_rows = 9;

/// Whether the engine multiplies quantised weights of this model in int8 on this device.
bool multiplies_int8(const PredictInput& input, const model::ModelSpec& model) {
  if (input.engine.quantised_fraction <= 0 || input.scenario.math || input.device.vendor != "NVIDIA" ||
      !input.device.peak(hardware::ComputeType::int8)) {
    return false;
  }
  bool routed = false;
  for (const model::LayerGroup& group : model.layers) routed = routed || group.feed_forward.experts > 0;
  const model::TensorRole role = routed ? model::TensorRole::expert : model::TensorRole::dense_mlp;
  const model::WeightFormat& format = model.stored(role).format;
  return format.compute_class == model::ComputeClass::weight_only && format.bits_per_weight < 12;
}

/// Constants of the engine's own kernels for steps of many rows, where they differ from the class's.
std::optional<KernelConstants> own_constants(const PredictInput& input, bool int8) {
  const bool wide =
      input.engine.wide_fraction < 1 && input.device.vendor == "NVIDIA" && input.constants.device_class != "geforce";
  if (!int8 && !wide) return std::nullopt;
  KernelConstants own = input.constants;
  if (int8) {
    own.int8 = own.weight_only;
    own.int8.compute_fraction = input.engine.quantised_fraction;
  }
  if (wide) own.bf16.compute_fraction = std::min(own.bf16.compute_fraction, input.engine.wide_fraction);
  return own;
}

/// Times steps of one model; keeps what all of them share.
class StepTimer {
 public:
  StepTimer(const PredictInput& input, const model::ModelSpec& model, bool graphs)
      : model_(model), engine_(input.engine), options_(graph_options(input)), context_(timing_context(input, graphs)) {
    if (input.facts != nullptr && &model == &input.model) {
      options_.matrices = &input.facts->matrices;
    } else {
      options_.matrices = &own_.emplace(model);
    }
    context_.keep_rows = input.rows;
    const bool int8 = multiplies_int8(input, model);
    if ((own_constants_ = own_constants(input, int8))) {
      const TimingContext& c = context_;
      const auto math = int8 ? std::optional(hardware::ComputeType::int8) : c.math;
      many_rows_.emplace(TimingContext{c.device, *own_constants_, math, c.graphs, c.fused_quantise || int8,
                                       c.fused_all_reduce, c.attention_decode_t0_s, c.keep_rows});
    }
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  [[nodiscard]] Result<StepTime> time(const StepShape& shape) const {
    const bool own = many_rows_ && shape.tokens() >= least_own_rows;
    return time_step(graph::build_graph(model_, shape, options_), own ? *many_rows_ : context_, engine_);
  }
  /// FLOPs and bytes of the replica, no duplicate counted.
  [[nodiscard]] Result<StepTotals> totals(const StepShape& shape) const {
    graph::GraphOptions whole = options_;
    whole.parallelism = {};
    return totals_of(graph::build_graph(model_, shape, whole), context_);
  }
  [[nodiscard]] const graph::GraphOptions& options() const { return options_; }
  [[nodiscard]] const TimingContext& context() const { return context_; }

 private:
  const model::ModelSpec& model_;
  const EngineProfile& engine_;
  std::optional<graph::MatrixTable> own_;  ///< when the input brings none
  graph::GraphOptions options_;
  TimingContext context_;
  std::optional<KernelConstants> own_constants_;
  std::optional<TimingContext> many_rows_;  ///< for steps of many rows, when the engine has kernels of its own for them
};

Interval expected_interval(const PredictInput& input, Seconds mid, Seconds limit, IntervalCase::Phase phase,
                           double sequences) {
  if (input.engine.intervals == nullptr) return {std::max(mid, limit), mid, std::max(mid, limit)};
  IntervalCase of;
  of.phase = phase;
  of.engine_class = input.engine.interval_class;
  of.sequences = sequences;
  of.device_measured = input.constants.measured;
  of.engine_known = input.engine.known;
  model::TensorRole role = model::TensorRole::dense_mlp;
  for (const model::LayerGroup& group : input.model.layers) of.experts = of.experts || group.feed_forward.experts > 0;
  if (of.experts) role = model::TensorRole::expert;
  of.narrow_weights = input.model.stored(role).format.bits_per_weight < 12;
  return interval_around(mid, limit, input.engine.intervals->ratios(of));
}

/// Prompt tokens that ride along with decode under a closed loop.
struct PromptShare {
  double per_step = 0;  ///< mean
  double chunk = 0;     ///< tokens of one chunk
  double fraction = 0;  ///< share of the steps that carry one
};

PromptShare prompt_share(const PredictInput& input, double sequences) {
  PromptShare share;
  const graph::Scenario& s = input.scenario;
  if (s.load != graph::Load::concurrency || s.input <= 0) return share;
  share.per_step = sequences * static_cast<double>(s.input) / static_cast<double>(std::max<std::int64_t>(1, s.output));
  const double room = std::max(1.0, input.engine.max_batched_tokens - sequences);
  share.chunk = std::min(static_cast<double>(s.input), room);
  share.fraction = share.per_step / share.chunk;
  if (share.fraction > 1) {  // several chunks a step, as many as fit
    share.chunk = std::min(share.per_step, std::max(share.chunk, room));
    share.fraction = 1;
  }
  return share;
}

StepShape decode_shape(const PredictInput& input, double sequences) {
  StepShape shape;
  shape.decode_sequences = sequences;
  shape.tokens_per_sequence = static_cast<double>(input.scenario.speculation.draft_tokens + 1);
  shape.context = input.scenario.context;
  return shape;
}

StepShape with_prompt(const PredictInput& input, StepShape shape, double tokens) {
  const double length = static_cast<double>(std::max<std::int64_t>(1, input.scenario.input));
  shape.prefill_tokens = tokens;
  shape.prefill_sequences = tokens / length;
  // A chunk shorter than its prompt has on average half of the rest cached.
  shape.prefill_past = tokens < length ? (length - tokens) / 2 : 0;
  return shape;
}

/// Adds the draft's steps to a round, and its own host time. Without a draft model guesses cost nothing (n-gram) or one
/// MTP layer each.
Result<int> add_draft(const PredictInput& input, double sequences, bool graphs, DecodePrediction& decode) {
  const double drafts = static_cast<double>(input.scenario.speculation.draft_tokens);
  if (drafts > 0) decode.budget.host += Seconds{input.engine.speculation_round_s};
  if (drafts <= 0 || input.draft == nullptr) return 0;
  StepTimer timer(input, *input.draft, graphs);
  StepShape shape;
  shape.decode_sequences = sequences;
  shape.context = input.scenario.context;
  Result<StepTime> step = timer.time(shape);
  if (!step) return tl::unexpected(step.error());
  Result<StepTotals> totals = timer.totals(shape);
  if (!totals) return tl::unexpected(totals.error());
  Budget budget = step->budget;
  budget *= drafts;
  decode.budget += budget;
  decode.limit += step->limit * drafts;
  decode.limit_memory += step->limit_memory * drafts;
  decode.limit_compute += step->limit_compute * drafts;
  decode.limit_link += step->limit_link * drafts;
  for (StepTotals* sum : {&decode.totals, &decode.per_device}) {
    const StepTotals& one = sum == &decode.totals ? *totals : step->per_device;
    sum->flops += one.flops * drafts;
    sum->weights += one.weights * drafts;
    sum->experts += one.experts * drafts;
    sum->kv += one.kv * drafts;
    sum->activations += one.activations * drafts;
  }
  return 0;
}

void take_limits(const StepTime& step, DecodePrediction& decode) {
  decode.limit = step.limit;
  decode.limit_memory = step.limit_memory;
  decode.limit_compute = step.limit_compute;
  decode.limit_link = step.limit_link;
  decode.per_device = step.per_device;
}

}  // namespace

Result<Arithmetic> product_arithmetic(const PredictInput& input) {
  using model::TensorRole;
  bool routed = false;
  for (const model::LayerGroup& group : input.model.layers) routed = routed || group.feed_forward.experts > 0;
  const TensorRole role = routed ? TensorRole::expert : TensorRole::dense_mlp;
  return arithmetic_of(input.device, input.model.stored(role).format, input.scenario.math);
}

namespace {

IntervalCase::Phase decode_phase(const PredictInput& input, const MemoryFit& memory) {
  if (input.scenario.load != graph::Load::concurrency) return IntervalCase::Phase::decode;
  const double asked = input.scenario.sequences / static_cast<double>(input.scenario.parallelism.dp);
  return memory.sequences < asked ? IntervalCase::Phase::decode_saturated : IntervalCase::Phase::decode_loop;
}

}  // namespace

Result<DecodePrediction> predict_decode(const PredictInput& input, const MemoryFit& memory, bool graphs) {
  DecodePrediction decode;
  const graph::Scenario& s = input.scenario;
  decode.sequences = memory.sequences;
  decode.tokens_per_sequence = s.speculation.draft_tokens > 0
                                   ? graph::tokens_per_round(s.speculation.draft_tokens, s.speculation.acceptance)
                                   : 1;
  // Pipeline stages work on as many micro-batches as there are stages; a step is one micro-batch's way through all.
  const double stages = input.engine.layers_in_turn ? 1 : static_cast<double>(s.parallelism.pp);
  const double micro_batch = std::max(1.0, memory.sequences / stages);
  StepTimer timer(input, input.model, graphs);

  const StepShape pure = decode_shape(input, micro_batch);
  Result<StepTime> step = timer.time(pure);
  if (!step) return tl::unexpected(step.error());
  decode.budget = step->budget;
  decode.rows = std::move(step->rows);
  take_limits(*step, decode);

  StepShape whole = decode_shape(input, memory.sequences);
  const PromptShare share = prompt_share(input, micro_batch);
  if (share.fraction > 0) {
    decode.prompt_tokens_per_step = share.per_step;
    Result<StepTime> mixed = timer.time(with_prompt(input, pure, share.chunk));
    if (!mixed) return tl::unexpected(mixed.error());
    // Engines overlap part of a chunk with decode work (graphs of decode, host of the next step).
    const double waited = share.fraction * input.engine.prefill_interference;
    decode.budget *= 1 - waited;
    Budget with_chunk = mixed->budget;
    with_chunk *= waited;
    decode.budget += with_chunk;
    Result<StepTime> mean = timer.time(with_prompt(input, pure, share.fraction * share.chunk));
    if (!mean) return tl::unexpected(mean.error());
    take_limits(*mean, decode);
    whole = with_prompt(input, whole, share.fraction * share.chunk * stages);
  }
  Result<StepTotals> totals = timer.totals(whole);
  if (!totals) return tl::unexpected(totals.error());
  decode.totals = *totals;
  if (Result<int> ok = add_draft(input, micro_batch, graphs, decode); !ok) return tl::unexpected(ok.error());

  if (decode.budget.total() < decode.limit) decode.budget *= decode.limit / decode.budget.total();
  decode.expected =
      expected_interval(input, decode.budget.total(), decode.limit, decode_phase(input, memory), decode.sequences);
  decode.shares = shares_of(decode.budget);
  decode.wall = decode.shares.wall();
  Result<BreakEven> even = break_even(input.model, s.context, timer.options(), timer.context());
  if (!even) return tl::unexpected(even.error());
  decode.break_even = *even;
  return decode;
}

namespace {

/// Chunks of equal work: how a set of prompts is cut into steps.
struct ChunkPlan {
  double tokens = 0;   ///< of one step, all prompts together
  double prompts = 1;  ///< whole prompts in one step, or 1 when a prompt is cut
  double chunks_per_prompt = 1;
  double steps = 1;
};

ChunkPlan plan_chunks(double prompts, double length, double room) {
  ChunkPlan plan;
  if (length <= room) {
    plan.prompts = std::min(prompts, std::floor(room / length));
    plan.steps = std::ceil(prompts / plan.prompts);
    plan.prompts = prompts / plan.steps;
    plan.tokens = plan.prompts * length;
  } else {
    plan.chunks_per_prompt = std::ceil(length / room);
    plan.tokens = length / plan.chunks_per_prompt;
    plan.steps = prompts * plan.chunks_per_prompt;
  }
  return plan;
}

/// Step times of all chunks; each chunk reads the weights and the past KV again.
Result<int> add_chunks(const StepTimer& timer, const ChunkPlan& plan, double decoding, double context,
                       PrefillPrediction& prefill) {
  const double timed = std::min(plan.chunks_per_prompt, most_timed_chunks);
  const double weight = plan.steps / timed;
  for (double i = 0; i < timed; ++i) {
    const double chunk = (i + 0.5) / timed * plan.chunks_per_prompt - 0.5;  // i itself when every chunk is timed
    StepShape shape;
    shape.prefill_tokens = plan.tokens;
    shape.prefill_sequences = plan.prompts;
    shape.prefill_past = chunk * plan.tokens;
    shape.decode_sequences = decoding;
    shape.context = context;
    Result<StepTime> step = timer.time(shape);
    if (!step) return tl::unexpected(step.error());
    Budget budget = step->budget;
    budget *= weight;
    prefill.budget += budget;
    prefill.rows = std::move(step->rows);
  }
  return 0;
}

}  // namespace

Result<PrefillPrediction> predict_prefill(const PredictInput& input, const MemoryFit& memory, bool graphs,
                                          const DecodePrediction& decode) {
  PrefillPrediction prefill;
  const graph::Scenario& s = input.scenario;
  const bool closed_loop = s.load == graph::Load::concurrency;
  prefill.prompts = closed_loop ? 1 : memory.sequences;
  const double length = static_cast<double>(std::max<std::int64_t>(1, s.input));
  StepTimer timer(input, input.model, graphs && !input.engine.prefill_eager);

  StepShape whole;  // the limit computes every prompt token once, in one pass
  whole.prefill_tokens = prefill.prompts * length;
  whole.prefill_sequences = prefill.prompts;
  Result<StepTime> once = timer.time(whole);
  if (!once) return tl::unexpected(once.error());
  // Devices that hold layers in turn could all work on parts of the prompt at the same time.
  const double side_by_side = input.engine.layers_in_turn ? static_cast<double>(layout_run(input).pp) : 1;
  prefill.limit_memory = once->limit_memory / side_by_side;
  prefill.limit_compute = once->limit_compute / side_by_side;
  prefill.limit_link = once->limit_link / side_by_side;
  prefill.limit = once->limit / side_by_side;
  Result<StepTotals> totals = timer.totals(whole);
  if (!totals) return tl::unexpected(totals.error());
  prefill.totals = *totals;

  // Under a closed loop the other requests go on decoding in the same steps.
  const double decoding = closed_loop ? std::max(0.0, memory.sequences - 1) : 0;
  const double room = std::max(1.0, input.engine.max_batched_tokens - decoding);
  const ChunkPlan plan = plan_chunks(prefill.prompts, length, room);
  prefill.chunks = plan.steps;
  if (Result<int> ok = add_chunks(timer, plan, decoding, s.context, prefill); !ok) return tl::unexpected(ok.error());
  prefill.budget *= 1 / turn_speedup(input, plan.chunks_per_prompt);
  if (closed_loop) prefill.queue = queue_time(input, memory, decode, prefill.budget.total());
  prefill.budget.host += Seconds{input.engine.request_overhead_s};
  if (prefill.budget.total() < prefill.limit) prefill.budget *= prefill.limit / prefill.budget.total();
  prefill.expected =
      expected_interval(input, prefill.budget.total(), prefill.limit, IntervalCase::Phase::prefill, prefill.prompts);
  prefill.first_token = closed_loop ? expected_interval(input, prefill.queue + prefill.budget.total(), prefill.limit,
                                                        IntervalCase::Phase::prefill_loop, memory.sequences)
                                    : prefill.expected;
  prefill.shares = shares_of(prefill.budget);
  prefill.wall = prefill.shares.wall();
  return prefill;
}

}  // namespace corridor::roofline
