// SPDX-License-Identifier: Apache-2.0
// Puts a prediction together: the facts of the case, then decode, prefill and memory.
#include "corridor/roofline/predict.h"

#include <fmt/format.h>

#include "corridor/roofline/phases.h"
#include "corridor/units/text.h"

namespace corridor::roofline {
namespace {

Result<int> check_device(const hardware::Device& device) {
  const std::string fix = "use a device file that states it";
  if (!device.memory_bandwidth) return fail("no memory bandwidth is known", device.id, fix);
  return 0;
}

void note_assumptions(const PredictInput& input, Prediction& prediction) {
  auto& notes = prediction.assumptions;
  if (!prediction.memory.capacity_known) {
    notes.push_back("the memory size of " + input.device.id +
                    " is not known, so it was not checked whether the model fits");
  }
  for (const std::string& approximation : input.model.approximations) notes.push_back(approximation);
  if (!input.constants.measured) {
    notes.push_back(
        "no kernel of this device class was measured: constants come from its data sheet by rule, "
        "so the interval is wider");
  }
  const MemoryFit& memory = prediction.memory;
  const double asked = input.scenario.sequences / static_cast<double>(input.scenario.parallelism.dp);
  if (input.scenario.load == graph::Load::concurrency) {
    if (memory.sequences < asked) {
      const bool by_memory = memory.capacity_known && memory.has_kv && memory.sequences >= memory.max_requests;
      notes.push_back(fmt::format(
          "{:.0f} of {:.0f} sequences of a replica decode at once: {}; the others wait", memory.sequences, asked,
          by_memory ? "that is what the KV cache holds" : "their prompts fill the engine's budget of tokens a step"));
    }
    notes.push_back(fmt::format(
        "time to first token is that of a prompt that waits for nobody; the mean wait behind other requests "
        "is about {}",
        units::print(prediction.prefill.queue)));
  } else if (memory.fits && memory.capacity_known && memory.has_kv && asked > memory.max_requests) {
    notes.push_back(fmt::format(
        "the batch fits in all of the memory; the engine's own limit of {:.0f} % holds {:.0f} of these requests",
        100 * input.engine.kv_pool_fraction, memory.max_requests));
  }
  if (prediction.memory.has_kv && !input.model.kv_format) notes.push_back("KV cache in " + input.scenario.kv.name);
  bool routed = false;
  for (const model::LayerGroup& group : input.model.layers) routed = routed || group.feed_forward.experts > 0;
  if (routed) {
    notes.push_back("tokens choose experts by " + std::string(graph::name(input.scenario.routing)) + " routing");
  }
  const graph::Parallelism& layout = input.scenario.parallelism;
  if (layout.tp * layout.pp > 1 && !input.device.link.bandwidth_per_direction) {
    notes.push_back("no link between devices is known: transfers are taken over " +
                    (input.device.pcie.kind.empty() ? std::string("the network") : input.device.pcie.kind));
  }
}

}  // namespace

Result<Prediction> predict(const PredictInput& asked) {
  if (Result<int> ok = check_device(asked.device); !ok) return tl::unexpected(ok.error());
  std::optional<ModelFacts> own;
  PredictInput input = asked;
  if (input.facts == nullptr) input.facts = &own.emplace(asked.model);
  Prediction prediction;
  Result<Arithmetic> arithmetic = product_arithmetic(input);
  if (!arithmetic) return tl::unexpected(arithmetic.error());
  prediction.arithmetic = *arithmetic;
  prediction.ridge = arithmetic->peak / input.device.memory_bandwidth->value;
  prediction.parameters = input.facts->parameters;
  prediction.active_parameters = input.facts->active_parameters;
  prediction.weight_bytes = input.facts->weight_bytes;
  prediction.graphs = input.scenario.graphs && input.engine.graphs_default;
  prediction.memory =
      fit_memory(input.model, input.device, input.scenario, input.engine, &input.facts->matrices, input.draft);

  Result<DecodePrediction> decode = predict_decode(input, prediction.memory, prediction.graphs);
  if (!decode) return tl::unexpected(decode.error());
  prediction.decode = std::move(*decode);
  Result<PrefillPrediction> prefill = predict_prefill(input, prediction.memory, prediction.graphs, prediction.decode);
  if (!prefill) return tl::unexpected(prefill.error());
  prediction.prefill = std::move(*prefill);
  note_assumptions(input, prediction);
  const graph::Parallelism layout = layout_run(input);
  if (layout.tp != input.scenario.parallelism.tp) {
    prediction.assumptions.push_back(fmt::format(
        "{} gives each of the {} devices some of the layers: they work in turn, and a token takes as long as "
        "on one",
        input.engine.id, layout.pp));
  }
  return prediction;
}

}  // namespace corridor::roofline
