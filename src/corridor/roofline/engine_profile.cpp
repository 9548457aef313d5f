// SPDX-License-Identifier: Apache-2.0
// Reads engine profiles; every key is required, so that an engine never runs on another's silent default.
#include "corridor/roofline/engine_profile.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "corridor/roofline/constant_file.h"

namespace corridor::roofline {

namespace {

Result<EngineProfile> fill_engine(const std::string& id, const ConstantFile& file) {
  EngineProfile engine;
  engine.id = id;
  double graphs = 1;
  double fused_norms = 1;
  double fused_quantise = 0;
  EngineProfile::Ratios decode;
  const std::array<std::pair<const char*, double*>, 17> keys = {{
      {"host_per_step_s", &engine.host_per_step_s},
      {"host_per_request_s", &engine.host_per_request_s},
      {"sampler_s", &engine.sampler_s},
      {"launch_gap_graph_s", &engine.launch_gap_graph_s},
      {"launch_gap_eager_s", &engine.launch_gap_eager_s},
      {"graphs_default", &graphs},
      {"max_batched_tokens", &engine.max_batched_tokens},
      {"kv_pool_fraction", &engine.kv_pool_fraction},
      {"reserve_bytes", &engine.reserve_bytes},
      {"request_overhead_s", &engine.request_overhead_s},
      {"prefill_interference", &engine.prefill_interference},
      {"fused_norms", &fused_norms},
      {"fused_quantise", &fused_quantise},
      {"interval_decode_low", &decode.low},
      {"interval_decode_high", &decode.high},
      {"interval_prefill_low", &engine.prefill.low},
      {"interval_prefill_high", &engine.prefill.high},
  }};
  for (const auto& [key, target] : keys) {
    const Result<double> value = file.number(key);
    if (!value) return tl::unexpected(value.error());
    *target = *value;
  }
  engine.graphs_default = graphs != 0;
  engine.fused_norms = fused_norms != 0;
  engine.fused_quantise = fused_quantise != 0;
  const auto optional = [&](const std::string& key, double fallback) { return file.number(key).value_or(fallback); };
  engine.attention_decode_t0_s = optional("attention_decode_t0_s", 0);
  const auto all_reduce = file.texts.find("all_reduce_kernel");
  engine.fused_all_reduce = all_reduce != file.texts.end() && all_reduce->second == "fused";
  for (const auto& [regime, target] : {std::pair{"batch_1_8", &engine.decode_to_8},
                                       {"batch_9_64", &engine.decode_to_64},
                                       {"batch_over_64", &engine.decode_above}}) {
    const std::string table = std::string("interval_decode_regime.") + regime;
    *target = {optional(table + ".low", decode.low), optional(table + ".high", decode.high)};
  }
  std::set<std::string> sources;
  for (const auto& [key, constant] : file.values) sources.insert(constant.source);
  engine.sources.assign(sources.begin(), sources.end());
  return engine;
}

}  // namespace

std::vector<std::string> engine_ids(const Assets& assets) {
  std::vector<std::string> ids;
  for (const std::string& path : assets.list("engines")) {
    if (path.ends_with(".toml")) ids.push_back(path.substr(8, path.size() - 8 - 5));  // engines/ID.toml
  }
  return ids;
}

Result<EngineProfile> load_engine(const Assets& assets, std::string_view name) {
  const std::string path = "engines/" + std::string(name) + ".toml";
  const std::vector<std::string> ids = engine_ids(assets);
  if (std::find(ids.begin(), ids.end(), name) == ids.end()) {
    std::string known;
    for (const std::string& id : ids) known += (known.empty() ? "" : ", ") + id;
    return fail("unknown engine \"" + std::string(name) + "\"", "--engine", "choose one of " + known);
  }
  const Result<std::string_view> text = assets.read(path);
  if (!text) return tl::unexpected(text.error());
  const Result<ConstantFile> file = parse_constants(*text, assets.describe(path));
  if (!file) return tl::unexpected(file.error());

  return fill_engine(std::string(name), *file);
}

}  // namespace corridor::roofline
