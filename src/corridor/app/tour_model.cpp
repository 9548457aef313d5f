// SPDX-License-Identifier: Apache-2.0
// Chapters of the tour about the work: operations a byte, one token, what changes its time, and what remains.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "corridor/app/devices.h"
#include "corridor/app/op.h"
#include "corridor/app/predict.h"
#include "corridor/app/tour_claims.h"
#include "corridor/graph/scenario.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using hardware::ComputeType;
using measure::LabReading;
using measure::LabResult;

constexpr const char* big_model = "meta-llama/Llama-3.1-70B";

PredictRequest plain_70b(const char* weights) {
  PredictRequest request;
  request.params = "70B";
  request.weights = weights;
  request.device = "h100-sxm";
  return request;
}

std::string per_second(units::Seconds step) {
  return units::print_number(1 / step.value()) + " tok/s";
}

Result<int> tell_intensity(TourBuilder& tour) {
  const auto one = cost_op(ElementwiseOp{1e8, 1, false}, "bf16", tour.h100);
  if (!one) return tl::unexpected(one.error());
  TourClaim& c =
      tour.add("intensity", "What counts is operations a byte: few of them, and memory decides the speed.",
               fmt::format("one element-wise pass: {} ÷ {} = {}; H100 needs {}", units::print(one->flops),
                           units::print(one->bytes), units::print(one->intensity), units::print(one->ridge)));
  const LabResult* run = tour.experiment("intensity");
  tour.take(c, "intensity", run == nullptr ? std::string() : run->readings.front().what);
  const auto product = cost_op(MatmulOp{1024, 1024, 1024, false}, "bf16", tour.h100);
  if (!product) return tl::unexpected(product.error());
  TourClaim& uses = tour.add("uses", "A value that is fetched once and used often pays for its fetch.",
                             fmt::format("matrix product of 1024³: each value is used {:.0f} times, {} in bf16",
                                         product->uses_per_value.value_or(0), units::print(product->intensity)));
  uses.predicted = figure(product->intensity);
  uses.only_if = "the values stay on the chip between uses: that is what blocks are for";
  return 0;
}

Result<int> tell_ridge(TourBuilder& tour) {
  const auto h100 = hardware::ridge_point(tour.h100, ComputeType::bf16);
  const auto h200 = hardware::ridge_point(tour.h200, ComputeType::bf16);
  if (!h100 || !h200) return fail("the catalogue lacks a ridge point", "h100-sxm, h200");
  TourClaim& c = tour.add("ridge", "Every machine has a ridge: the operations a byte at which arithmetic takes over.",
                          fmt::format("bf16, dense: H100 {}, H200 {}", units::print(*h100), units::print(*h200)));
  c.how = "corridor lab intensity";
  c.only_if = "type and clock are named: 8-bit arithmetic has twice the ridge, sparse peaks are not meant";
  const LabResult* run = tour.experiment("intensity");
  if (run == nullptr || tour.machine == nullptr) {
    c.verdict = TourVerdict::not_measured;
    return 0;
  }
  const double values_per_s = run->readings.front().measured;  // one operation a value
  const double measured = run->readings.back().measured / (values_per_s * sizeof(float));
  c.here = fmt::format("{} ÷ {}, fp32", units::print(tour.machine->fp32), units::print(tour.machine->bandwidth()));
  c.spread = run->readings.front().spread;
  tour.take(c, "intensity", figure(units::FlopsPerByte{tour.machine->ridge()}), figure(units::FlopsPerByte{measured}),
            run->holds());
  return 0;
}

Result<int> tell_token(TourBuilder& tour) {
  const auto answer = predict(tour.assets, plain_70b("bf16"));
  if (!answer) return tl::unexpected(answer.error());
  const roofline::DecodePrediction& d = answer->prediction.decode;
  TourClaim& c =
      tour.add("token", "One token of a 70B model is one trip of all its weights.",
               fmt::format("H100: {} ÷ {} = {}: {} at most; arithmetic alone {}", units::print(d.totals.weights),
                           units::print(answer->device.memory_bandwidth->value), units::print(d.limit),
                           per_second(d.limit), units::print(d.limit_compute)));
  c.predicted = figure(d.limit);
  c.only_if = fmt::format("one device could hold them: it takes {} of these, and each then reads its share",
                          answer->prediction.memory.devices_needed);
  TourClaim& here = tour.add("token-here", "The same law gives the time of a token on this machine.",
                             fmt::format("{}, bf16: bytes ÷ bandwidth, and what kernels lose", default_decode_model));
  const LabResult* run = tour.experiment("decode");
  tour.take(here, "decode", run == nullptr ? std::string() : run->readings.front().what);
  return 0;
}

Result<int> tell_prefill(TourBuilder& tour) {
  PredictRequest request = plain_70b("bf16");
  request.input = 2048;
  const auto answer = predict(tour.assets, request);
  if (!answer) return tl::unexpected(answer.error());
  const roofline::PrefillPrediction& p = answer->prediction.prefill;
  TourClaim& c = tour.add("prefill", "A prompt is another matter: one trip of the weights serves all its tokens.",
                          fmt::format("H100, 2048 tokens: {} ÷ {} = {} against {} of bytes",
                                      units::print(p.totals.flops), units::print(answer->prediction.arithmetic.peak),
                                      units::print(p.limit_compute), units::print(p.limit_memory)));
  c.predicted = figure(p.limit);
  c.only_if =
      fmt::format("the prompt is longer than the ridge, about {:.0f} tokens here", answer->prediction.ridge.value());
  if (p.limit_compute <= p.limit_memory) c.verdict = TourVerdict::does_not_hold;
  return 0;
}

Result<int> tell_batching(TourBuilder& tour) {
  const auto plain = predict(tour.assets, plain_70b("bf16"));
  if (!plain) return tl::unexpected(plain.error());
  PredictRequest request;
  request.model = big_model;
  request.device = "h100-sxm";
  const auto with_cache = predict(tour.assets, request);
  if (!with_cache) return tl::unexpected(with_cache.error());
  const roofline::BreakEven& weights = plain->prediction.decode.break_even;
  const roofline::BreakEven& cache = with_cache->prediction.decode.break_even;
  TourClaim& c = tour.add("batching", "Ten requests share one trip of the weights: almost ten times the tokens.",
                          fmt::format("70B, 16 bit, H100: free up to batch {:.0f} when only weights are counted",
                                      weights.batch_weights_only.value_or(0)));
  const std::string from =
      cache.none_from_context
          ? fmt::format("; from about {:.0f} tokens of context on no batch reaches it", *cache.none_from_context)
          : std::string();
  c.only_if =
      fmt::format("caches are short: each request reads its own. With {:.0f} tokens of it break-even is {}{}",
                  with_cache->scenario.context, cache.batch ? fmt::format("{:.0f}", *cache.batch) : "never", from);
  const LabResult* run = tour.experiment("decode-batch");
  std::string reading;
  if (run != nullptr) {
    for (const LabReading& r : run->readings) {
      if (r.what.ends_with("still flat")) reading = r.what;
    }
  }
  tour.take(c, "decode-batch", reading);
  return 0;
}

Result<int> tell_quantisation(TourBuilder& tour) {
  std::string batches;
  for (const char* weights : {"bf16", "int8", "int4"}) {
    const auto answer = predict(tour.assets, plain_70b(weights));
    if (!answer) return tl::unexpected(answer.error());
    const roofline::DecodePrediction& d = answer->prediction.decode;
    batches += fmt::format("{}{} {} (break-even {:.0f})", batches.empty() ? "" : ", ", weights, units::print(d.limit),
                           d.break_even.batch_weights_only.value_or(0));
  }
  TourClaim& c =
      tour.add("quantisation", "Fewer bits a weight are fewer bytes and less time a token.", "70B, H100: " + batches);
  c.only_if = "unpacking does not take longer than the bytes it saves, and the batch is below the break-even";
  tour.take(c, "precision", "int8");
  return 0;
}

Result<int> tell_speculation(TourBuilder& tour) {
  constexpr std::int64_t guesses = 3;
  constexpr double acceptance = 0.7;
  const auto plain = predict(tour.assets, plain_70b("bf16"));
  if (!plain) return tl::unexpected(plain.error());
  PredictRequest request = plain_70b("bf16");
  request.spec_tokens = guesses;
  request.spec_acceptance = acceptance;
  const auto guessed = predict(tour.assets, request);
  if (!guessed) return tl::unexpected(guessed.error());
  const roofline::DecodePrediction& d = guessed->prediction.decode;
  const double tokens = graph::tokens_per_round(guesses, acceptance);
  TourClaim& c = tour.add(
      "speculation", "Guessing ahead does pass the bound of one token a trip.",
      fmt::format("{} guesses, {:.0f} % right: {:.3g} tokens a trip; {} against {} at most", guesses, acceptance * 100,
                  tokens, per_second(units::Seconds{d.tpot_s(d.limit)}), per_second(plain->prediction.decode.limit)));
  c.predicted = ratio_figure(tokens);
  c.only_if = "guesses are often right and cheap; at none right a trip yields one token and costs more";
  if (d.tpot_s(d.limit) >= plain->prediction.decode.limit.value()) c.verdict = TourVerdict::does_not_hold;
  return 0;
}

Result<int> tell_fusion(TourBuilder& tour) {
  const auto apart = cost_op(ElementwiseOp{1e8, 3, false}, "bf16", tour.h100);
  const auto fused = cost_op(ElementwiseOp{1e8, 3, true}, "bf16", tour.h100);
  if (!apart) return tl::unexpected(apart.error());
  if (!fused) return tl::unexpected(fused.error());
  TourClaim& c =
      tour.add("fusion", "Three passes in one make two trips in place of six: two thirds of the traffic gone.",
               fmt::format("100M values in bf16: {} against {}; H100 {} against {}", units::print(apart->bytes),
                           units::print(fused->bytes), units::print(apart->limit), units::print(fused->limit)));
  c.only_if = "there are passes to fuse: one plain matrix product gains nothing";
  tour.take(c, "fusion", "three passes ÷ one pass");
  return 0;
}

Result<int> tell_blocks(TourBuilder& tour) {
  TourClaim& tiling = tour.add("tiling", "The same product in blocks reads each value fewer times.",
                               "a tile of B that stays near serves all rows of A: traffic ÷ rows");
  tiling.only_if = "the tile fits the near memory; then arithmetic decides, and larger tiles gain nothing";
  tour.take(tiling, "tiling", "row by row ÷ in blocks");
  AttentionOp op{1, 64, 8, 128, 4096, 4096, true, false};
  const auto through = cost_op(op, "bf16", tour.h100);
  op.flash_attention = true;
  const auto blocks = cost_op(op, "bf16", tour.h100);
  if (!through) return tl::unexpected(through.error());
  if (!blocks) return tl::unexpected(blocks.error());
  TourClaim& c = tour.add("attention", "Attention in blocks never writes the score matrix.",
                          fmt::format("64 heads, 4096 tokens, bf16: {} against {}", units::print(through->bytes),
                                      units::print(blocks->bytes)));
  c.only_if = "there are many queries, as in a prompt; one token at a time has a short score row";
  tour.take(c, "attention", "saved");
  return 0;
}

Result<int> tell_three_outcomes(TourBuilder& tour) {
  PredictRequest request;
  request.model = "meta-llama/Llama-3.1-8B";
  request.device = "h100-sxm";
  const auto large = predict(tour.assets, request);
  if (!large) return tl::unexpected(large.error());
  request.model = default_decode_model;
  request.no_graphs = true;
  const auto small = predict(tour.assets, request);
  if (!small) return tl::unexpected(small.error());
  const roofline::Prediction& big = large->prediction;
  const roofline::Wall overhead = small->prediction.decode.wall;
  TourClaim& c =
      tour.add("outcomes", "There are three outcomes on one device: memory, arithmetic or overhead is the wall.",
               fmt::format("H100: 8B decode {}, 8B prompt {}, 0.5B decode without graphs {}", name(big.decode.wall),
                           name(big.prefill.wall), name(overhead)));
  c.only_if = "no link between devices and no queue in front of them is the wall";
  if (std::set<roofline::Wall>{big.decode.wall, big.prefill.wall, overhead}.size() != 3) {
    c.verdict = TourVerdict::does_not_hold;
  }
  return 0;
}

Result<int> tell_persists(TourBuilder& tour) {
  const Result<DeviceList> list = list_devices(tour.assets);
  if (!list) return tl::unexpected(list.error());
  double least = 0;
  std::string where;
  std::size_t counted = 0;
  for (const DeviceSummary& d : list->devices) {
    for (const ComputeType type : {ComputeType::bf16, ComputeType::fp16}) {
      const auto& ridge = d.ridges[static_cast<std::size_t>(type)];
      if (!ridge) continue;
      ++counted;
      if (where.empty() || ridge->value() < least) {
        least = ridge->value();
        where = d.id;
      }
      break;
    }
  }
  TourClaim& c =
      tour.add("persists", "One token at a time is bound by memory on every device there is.",
               fmt::format("2 FLOP ÷ 2 B = 1 FLOP/B a 16-bit weight; the smallest ridge of {} devices is {} ({})",
                           counted, units::print(units::FlopsPerByte{least}), where));
  c.predicted = figure(units::FlopsPerByte{least});
  c.only_if = "batch is one; chips change the ridge, batching, formats and speculation change the work";
  if (!(least > 1)) c.verdict = TourVerdict::does_not_hold;
  return 0;
}

Result<int> tell_all(TourBuilder& tour, std::initializer_list<Result<int> (*)(TourBuilder&)> claims) {
  for (const auto& tell : claims) {
    if (Result<int> told = tell(tour); !told) return told;
  }
  return 0;
}

}  // namespace

Result<int> tell_of_intensity(TourBuilder& tour) {
  tour.open_chapter("Operations a byte");
  return tell_all(tour, {tell_intensity, tell_ridge});
}

Result<int> tell_of_tokens(TourBuilder& tour) {
  tour.open_chapter("A token and a prompt");
  return tell_all(tour, {tell_token, tell_prefill});
}

Result<int> tell_of_changes(TourBuilder& tour) {
  tour.open_chapter("Fewer bytes a token");
  if (Result<int> told = tell_all(tour, {tell_batching, tell_quantisation, tell_speculation}); !told) return told;
  tour.open_chapter("Fewer trips");
  return tell_all(tour, {tell_fusion, tell_blocks});
}

Result<int> tell_of_outcomes(TourBuilder& tour) {
  tour.open_chapter("What remains");
  TourClaim& c = tour.add("small-tasks", "A small task costs its start; many in one start share it.",
                          "time = start + work: below its start a task gains nothing from being smaller");
  const LabResult* run = tour.experiment("dispatch");
  tour.take(c, "dispatch", run == nullptr ? std::string() : run->readings.back().what);
  return tell_all(tour, {tell_three_outcomes, tell_persists});
}

}  // namespace corridor::app
