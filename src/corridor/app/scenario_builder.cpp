// SPDX-License-Identifier: Apache-2.0
// Defaults of DESIGN §5, each with its reason, and the checks on what the user gave.
#include "corridor/app/scenario_builder.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "corridor/base/nearest.h"
#include "corridor/graph/placement.h"
#include "corridor/model/readers.h"

namespace corridor::app {
namespace {

constexpr std::int64_t default_input = 1024;
constexpr std::int64_t default_output = 256;
constexpr std::int64_t longest_length = 100'000'000;  // tokens; ten times the longest context any model states
constexpr double most_sequences = 10'000'000;
constexpr std::int64_t most_draft_tokens = 64;

/// The five formats closest to a misspelt one.
std::string nearest_formats(const std::string& word) {
  std::vector<std::string> names;
  for (const model::WeightFormat& each : model::weight_formats()) names.push_back(each.name);
  std::string list;
  for (const std::string& each : nearest_words(word, names, 5, true)) list += (list.empty() ? "" : ", ") + each;
  return list;
}

Result<int> check_length(const char* flag, const std::optional<std::int64_t>& value, std::int64_t least) {
  if (!value || (*value >= least && *value <= longest_length)) return 0;
  return fail(fmt::format("{} is out of range", *value), flag,
              fmt::format("give {} to {} tokens", least, longest_length));
}

}  // namespace

std::string stored_formats(const model::ModelSpec& model) {
  using model::TensorRole;
  if (model.plain_parameters) return model.stored(TensorRole::dense_mlp).format.name;
  bool routed = false;
  bool dense = false;
  for (const model::LayerGroup& group : model.layers) {
    routed = routed || group.feed_forward.experts > 0;
    dense = dense || group.feed_forward.intermediate > 0;
  }
  std::string text;
  std::set<std::string> seen;
  const auto add = [&](TensorRole role, bool present) {
    const std::string& name = model.stored(role).format.name;
    if (present && seen.insert(name).second) text += (text.empty() ? "" : " + ") + name;
  };
  add(TensorRole::expert, routed);
  add(TensorRole::dense_mlp, dense);
  add(TensorRole::attention, true);
  return text;
}

Result<int> format_weights(model::ModelSpec& model, const std::string& weights) {
  if (weights.empty()) return 0;
  const auto format = model::find_weight_format(weights);
  if (!format) {
    return fail("unknown weight format", "--weights " + shown_word(weights, 40),
                "nearest: " + nearest_formats(weights) + "; corridor predict --help names the usual ones");
  }
  model = model::with_weight_format(std::move(model), *format);
  return 0;
}

void ScenarioBuilder::used_default(const char* name, std::string value, const char* why) {
  if (defaults_ != nullptr) defaults_->push_back({name, std::move(value), why});
}

void ScenarioBuilder::note(std::string text) {
  if (notes_ != nullptr) notes_->push_back(std::move(text));
}

Result<int> ScenarioBuilder::build() {
  using Step = Result<int> (ScenarioBuilder::*)();
  for (const Step step :
       {&ScenarioBuilder::choose_precision, &ScenarioBuilder::choose_layout, &ScenarioBuilder::choose_load,
        &ScenarioBuilder::choose_lengths, &ScenarioBuilder::choose_speculation, &ScenarioBuilder::choose_routing}) {
    if (Result<int> ok = (this->*step)(); !ok) return ok;
  }
  choose_engine();
  scenario_.graphs = !request_.no_graphs;
  scenario_.flash_attention = !request_.no_flash_attention;
  scenario_.fusion = !request_.no_fusion;
  name_inputs_without_effect();
  return 0;
}

Result<int> ScenarioBuilder::choose_precision() {
  if (formatted_model_ != nullptr) {
    if (Result<int> ok = format_weights(*formatted_model_, request_.weights); !ok) return ok;
    if (request_.weights.empty()) {
      used_default("weights", stored_formats(model_),
                   model_.plain_parameters ? "16 bit when nothing is said" : "from the model's own files");
    }
    *weights_name_ = stored_formats(model_);
  }
  const model::ModelSpec& model = model_;
  graph::Scenario& scenario = scenario_;
  scenario.kv = model.kv_format.value_or(*model::find_weight_format("bf16"));
  if (!request_.kv.empty()) {
    const auto format = model::find_weight_format(request_.kv);
    if (!format) return fail("unknown KV cache format", "--kv " + shown_word(request_.kv, 40), "try bf16, fp8 or int8");
    scenario.kv = *format;
  } else if (!model.plain_parameters) {
    used_default("kv", scenario.kv.name,
                 model.kv_format ? "the model's files ask for it" : "what engines do unless told");
  }
  if (!request_.math.empty()) {
    scenario.math = hardware::compute_type_from(request_.math);
    if (!scenario.math) {
      return fail("unknown arithmetic type", "--math " + shown_word(request_.math, 40),
                  "choose bf16, fp16, fp8, fp4, int8, tf32 or fp32");
    }
  }
  return 0;
}

Result<int> ScenarioBuilder::choose_layout() {
  graph::Parallelism layout;
  const auto in_range = [](const std::optional<std::int64_t>& n) { return !n || (*n >= 1 && *n <= 65536); };
  for (const auto& [flag, value] : {std::pair{"--devices", request_.devices},
                                    {"--tp", request_.tp},
                                    {"--pp", request_.pp},
                                    {"--ep", request_.ep},
                                    {"--dp", request_.dp}}) {
    if (!in_range(value)) return fail(fmt::format("{} is out of range", *value), flag, "give 1 to 65536");
  }
  layout.pp = request_.pp.value_or(1);
  layout.dp = request_.dp.value_or(1);
  layout.ep = request_.ep.value_or(1);
  if (request_.tp) {
    layout.tp = *request_.tp;
    if (request_.devices && layout.devices() > *request_.devices) {
      return fail(
          fmt::format("tp × pp × dp = {} needs more than the {} devices given", layout.devices(), *request_.devices),
          "--devices", "raise --devices or lower --tp, --pp, --dp");
    }
  } else if (request_.devices) {
    const std::int64_t rest = layout.pp * layout.dp;
    if (*request_.devices % rest != 0) {
      return fail(fmt::format("{} devices cannot be cut into pp × dp = {} parts", *request_.devices, rest), "--devices",
                  "make it a multiple");
    }
    const auto& node = device_.link.devices_in_node;
    const graph::Parallelism chosen =
        graph::default_layout(model_, *request_.devices / rest, node ? static_cast<std::int64_t>(node->value) : 8);
    layout.tp = chosen.tp;
    layout.pp *= chosen.pp;
    if (*request_.devices > 1) {
      used_default("layout", fmt::format("tp {}, pp {}, dp {}", layout.tp, layout.pp, layout.dp),
                   "the widest tensor parallelism that divides the heads inside a node");
    }
  } else if (layout.ep > 1 && !request_.dp) {
    layout.tp = layout.ep;
    used_default("tp", std::to_string(layout.tp), "experts are spread over the tensor parallel ranks");
  } else if (layout.devices() == 1) {
    used_default("devices", "1", "when nothing is said");
  }
  if (request_.devices && layout.devices() < *request_.devices) {
    note(fmt::format("{} of {} devices are used (tp {} × pp {} × dp {})", layout.devices(), *request_.devices,
                     layout.tp, layout.pp, layout.dp));
  }
  Result<graph::Parallelism> checked = graph::check_layout(model_, layout);
  if (!checked) return tl::unexpected(checked.error());
  scenario_.parallelism = *checked;
  return 0;
}

Result<int> ScenarioBuilder::choose_load() {
  graph::Scenario& scenario = scenario_;
  if (request_.batch && request_.concurrency) {
    return fail("both --batch and --concurrency are given", "--batch",
                "batch is static and decodes only; concurrency is a closed loop with prompts mixed in: choose one");
  }
  scenario.load = request_.concurrency ? graph::Load::concurrency : graph::Load::batch;
  scenario.sequences = request_.concurrency.value_or(request_.batch.value_or(1));
  if (!(scenario.sequences >= 1 && scenario.sequences <= most_sequences) ||
      scenario.sequences != std::floor(scenario.sequences)) {
    return fail(fmt::format("{} is not a whole number from 1 to {:.0f}", scenario.sequences, most_sequences),
                request_.concurrency ? "--concurrency" : "--batch", "give how many sequences run at once");
  }
  if (!request_.batch && !request_.concurrency) used_default("batch", "1", "one user when nothing is said");
  if (scenario.sequences < static_cast<double>(scenario.parallelism.dp)) {
    return fail(fmt::format("{:.0f} sequence{} cannot feed {} replicas", scenario.sequences,
                            scenario.sequences == 1 ? "" : "s", scenario.parallelism.dp),
                "--dp", "batch and concurrency count all replicas: raise them or lower --dp");
  }
  return 0;
}

Result<int> ScenarioBuilder::choose_lengths() {
  graph::Scenario& scenario = scenario_;
  for (const auto& [flag, value, least] : {std::tuple{"--context", request_.context, std::int64_t{1}},
                                           {"--input", request_.input, std::int64_t{1}},
                                           {"--output", request_.output, std::int64_t{1}}}) {
    if (Result<int> ok = check_length(flag, value, least); !ok) return ok;
  }
  // --context alone says what the cache holds in the middle of generation; the lengths then follow from it.
  scenario.output = request_.output.value_or(default_output);
  if (request_.context && !request_.input) {
    scenario.input = std::max<std::int64_t>(1, *request_.context - scenario.output / 2);
  } else {
    scenario.input = request_.input.value_or(default_input);
  }
  scenario.context = request_.context ? static_cast<double>(*request_.context)
                                      : static_cast<double>(scenario.input) + static_cast<double>(scenario.output) / 2;
  if (request_.context && request_.input && *request_.context < *request_.input) {
    note(
        fmt::format("--context {} is less than --input {}: a cache holds the whole prompt, so decode is reckoned with "
                    "less than it will see",
                    *request_.context, *request_.input));
  }
  if (!request_.input) {
    used_default("input", std::to_string(scenario.input),
                 request_.context ? "context less half of the output" : "when no length is given");
  }
  if (!request_.output) used_default("output", std::to_string(scenario.output), "when no length is given");
  if (!request_.context) used_default("context", fmt::format("{:.0f}", scenario.context), "input + output / 2");
  const std::int64_t longest = model_.max_positions;
  if (longest > 0 && scenario.input + scenario.output > longest) {
    note(fmt::format("input + output = {} tokens is beyond the {} this model was made for",
                     scenario.input + scenario.output, longest));
  }
  return 0;
}

Result<int> ScenarioBuilder::choose_speculation() {
  graph::Speculation& speculation = scenario_.speculation;
  const bool any = request_.spec_acceptance || request_.spec_tokens_per_round || !request_.spec_draft.empty();
  if (!request_.spec_tokens) {
    if (any) return fail("speculation needs the number of drafted tokens", "--spec-tokens", "add e.g. --spec-tokens 4");
    return 0;
  }
  if (*request_.spec_tokens < 1 || *request_.spec_tokens > most_draft_tokens) {
    return fail(fmt::format("{} is out of range", *request_.spec_tokens), "--spec-tokens",
                fmt::format("give 1 to {}", most_draft_tokens));
  }
  speculation.draft_tokens = *request_.spec_tokens;
  speculation.draft_model = request_.spec_draft;
  const double most = static_cast<double>(speculation.draft_tokens + 1);
  if (request_.spec_acceptance && request_.spec_tokens_per_round) {
    return fail("both an acceptance and tokens a round are given", "--spec-acceptance",
                "they say the same: choose one");
  }
  if (request_.spec_acceptance) {
    if (!(*request_.spec_acceptance >= 0 && *request_.spec_acceptance <= 1)) {
      return fail(fmt::format("{} is not between 0 and 1", *request_.spec_acceptance), "--spec-acceptance",
                  "give the share of guesses that are accepted");
    }
    speculation.acceptance = *request_.spec_acceptance;
  } else if (request_.spec_tokens_per_round) {
    if (!(*request_.spec_tokens_per_round >= 1 && *request_.spec_tokens_per_round <= most)) {
      return fail(fmt::format("{} is not between 1 and {}", *request_.spec_tokens_per_round, most),
                  "--spec-tokens-per-round", "a round yields at least 1 and at most the drafted tokens + 1");
    }
    speculation.acceptance = graph::acceptance_for(speculation.draft_tokens, *request_.spec_tokens_per_round);
  } else {
    return fail("speculation needs an acceptance", "--spec-acceptance",
                "it decides everything; give 0 to 1, or --spec-tokens-per-round from your engine's metrics");
  }
  if (request_.spec_draft.empty()) used_default("spec-draft", "ngram", "guesses without a draft model cost nothing");
  return 0;
}

Result<int> ScenarioBuilder::choose_routing() {
  if (request_.routing.empty()) return 0;
  for (const graph::Routing routing : {graph::Routing::balanced, graph::Routing::uniform, graph::Routing::skewed}) {
    if (request_.routing == graph::name(routing)) {
      scenario_.routing = routing;
      return 0;
    }
  }
  return fail("unknown routing", "--routing " + shown_word(request_.routing, 40), "choose balanced, uniform or skewed");
}

void ScenarioBuilder::choose_engine() {
  graph::Scenario& scenario = scenario_;
  if (!request_.engine.empty()) {
    scenario.engine = request_.engine == "trtllm" || request_.engine == "trt-llm" ? "tensorrt-llm" : request_.engine;
    return;
  }
  const bool gguf = model_.source == "GGUF";
  const std::string usual = device_.default_engine.empty() ? "vllm" : device_.default_engine;
  const bool native = usual != "vllm";
  scenario.engine = gguf ? "llama.cpp" : usual;
  used_default("engine", scenario.engine,
               gguf     ? "GGUF files run in it"
               : native ? "usual on this device"
                        : "most used server");
}

void ScenarioBuilder::name_inputs_without_effect() {
  const auto none = [&](const std::string& flag, const std::string& why) { note(flag + " has no effect: " + why); };
  const bool plain = model_.plain_parameters.has_value();
  bool routed = false;
  for (const model::LayerGroup& group : model_.layers) routed = routed || group.feed_forward.experts > 0;
  if (plain && !request_.kv.empty()) none("--kv", "--params has no KV cache");
  if (plain && request_.no_flash_attention) none("--no-flash-attention", "--params has no attention");
  if (plain && request_.no_fusion) none("--no-fusion", "--params is one product; fusing changes nothing");
  if (plain && request_.context) none("--context", "--params has no KV cache");
  if (!routed && !request_.routing.empty()) none("--routing", "the model has no experts");
}

}  // namespace corridor::app
