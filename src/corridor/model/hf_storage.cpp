// SPDX-License-Identifier: Apache-2.0
// From torch_dtype and quantization_config to the storage format of each tensor role.
//
// Lists of modules left alone (ignore, exclude_modules, modules_to_not_convert) are read by role: a role stays 16 bit
// when an entry names it for all layers or entries name it for more than half of its layers. Patterns are not run as
// regular expressions: the words in them are enough, and a file cannot make the reader hang.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/base/lower.h"
#include "corridor/base/nearest.h"
#include "corridor/model/hf_parts.h"
#include "corridor/model/tensor_names.h"

namespace corridor::model {
namespace {

using nlohmann::json;

constexpr std::array quantised_roles = {TensorRole::attention, TensorRole::expert, TensorRole::shared_expert,
                                        TensorRole::dense_mlp};

WeightFormat format(std::string_view name) {
  return find_weight_format(name).value_or(WeightFormat{});
}

/// int4 and int8 weight-only formats by bits, group and symmetry.
std::string grouped_name(std::int64_t bits, std::int64_t group, bool symmetric) {
  if (bits == 8) return group > 0 ? "int8-g128" : "int8";
  if (bits == 3) return "int3-g128";
  if (bits == 2) return "int2-g64";
  if (group <= 0) return "int4-channel";
  const std::int64_t known = group <= 32 ? 32 : (group <= 64 ? 64 : 128);
  return fmt::format("int4-{}g{}", symmetric ? "sym-" : "", known);
}

/// Format of a weights block of compressed-tensors and ModelOpt: num_bits, type, group_size, strategy.
std::string block_format(Fields& weights, const json* inputs) {
  const std::int64_t bits = weights.integer({"num_bits"}, 8, 1, 32);
  const std::string type = weights.text({"type"}, "int");
  const std::int64_t group = weights.integer({"group_size"}, 0, -1, 1'000'000);
  const std::string strategy = weights.text({"strategy"});
  const bool activations = inputs != nullptr && inputs->is_object();
  if (type == "float") {
    if (bits >= 16) return "bf16";
    if (bits == 8) return strategy == "block" ? "fp8-block" : (group == 32 ? "mxfp8" : "fp8");
    if (bits == 6) return "mxfp6";
    const bool micro = group == 32;
    if (activations) return micro ? "mxfp4" : "nvfp4";
    return micro ? "mxfp4-a16" : "nvfp4-a16";
  }
  if (activations && bits == 8) return "w8a8-int8";
  if (activations && bits == 4) {
    Fields input(*inputs, weights.where());
    if (input.text({"type"}) == "float") return "w4a8-fp8";
  }
  return grouped_name(bits, group, weights.boolean({"symmetric"}, true));
}

/// Names of ModelOpt's quant_algo.
std::string algorithm_format(const std::string& name) {
  const std::string algorithm = lower(name);
  if (algorithm.find("nvfp4") != std::string::npos) {
    return algorithm.find("w4a16") != std::string::npos ? "nvfp4-a16" : "nvfp4";
  }
  if (algorithm.find("mxfp4") != std::string::npos) return "mxfp4";
  if (algorithm.find("mxfp8") != std::string::npos) return "mxfp8";
  if (algorithm.find("w4a8") != std::string::npos) return "w4a8-fp8";
  if (algorithm.find("w4a16") != std::string::npos || algorithm.find("awq") != std::string::npos) return "int4-g128";
  if (algorithm.find("w8a16") != std::string::npos) return "int8";
  if (algorithm.find("w8a8") != std::string::npos) return "w8a8-int8";
  if (algorithm.find("fp8") != std::string::npos) {
    return algorithm.find("block") != std::string::npos || algorithm.find("pb") != std::string::npos ? "fp8-block"
                                                                                                     : "fp8";
  }
  return {};
}

class StorageReader {
 public:
  explicit StorageReader(HfConfig& config) : c_(config) {}

  void read_dtype();
  void read(const json& quantization);

 private:
  void set_all(const std::string& name);
  void set(TensorRole role, const std::string& name) { c_.spec.stored(role).format = format(name); }
  void read_method(Fields& q, const std::string& method);
  void read_groups(Fields& q, const json& groups);
  void read_layer_algorithms(const json& layers);
  void read_bits(Fields& q);
  void read_bitsandbytes(Fields& q);
  void read_kv(Fields& q);
  void leave_alone(Fields& q);
  std::int64_t layers_with(TensorRole role) const;
  void unknown(const std::string& method);

  HfConfig& c_;
  std::string base_ = "bf16";
};

void StorageReader::read_dtype() {
  std::string stated = c_.text.text({"torch_dtype", "dtype"});
  if (stated.empty()) stated = c_.root.text({"torch_dtype", "dtype"});
  if (stated.rfind("torch.", 0) == 0) stated = stated.substr(6);
  if (stated == "float16" || stated == "half" || stated == "fp16") base_ = "fp16";
  static constexpr std::array known = {"",     "float16", "bfloat16", "float32", "half",  "float",         "fp16",
                                       "bf16", "fp32",    "float64",  "auto",    "uint8", "float8_e4m3fn", "int8"};
  if (std::find(known.begin(), known.end(), stated) == known.end()) {
    c_.note(fmt::format("torch_dtype \"{}\" is not known: weights counted as bf16", shown_word(stated, 40)));
  }
  if (stated == "float32") c_.note("files hold fp32 weights: counted as 16 bit, as engines load them");
  for (RoleStorage& role : c_.spec.storage) role.format = format(base_);
}

void StorageReader::set_all(const std::string& name) {
  for (const TensorRole role : quantised_roles) set(role, name);
}

std::int64_t StorageReader::layers_with(TensorRole role) const {
  std::int64_t count = 0;
  for (const LayerGroup& group : c_.spec.layers) {
    const FeedForward& f = group.feed_forward;
    const bool has = role == TensorRole::attention       ? !std::holds_alternative<NoMixer>(group.mixer)
                     : role == TensorRole::expert        ? f.experts > 0
                     : role == TensorRole::shared_expert ? f.shared_intermediate > 0
                                                         : f.experts == 0 && f.intermediate > 0;
    if (has) count += group.count;
  }
  return count;
}

/// compressed-tensors: the formats of its groups, by the roles their targets name.
void StorageReader::read_groups(Fields& q, const json& groups) {
  for (const auto& [key, group] : groups.items()) {
    Fields fields(group, q.where());
    const json* weights = fields.find({"weights"});
    if (weights == nullptr || !weights->is_object()) continue;
    Fields weight_fields(*weights, q.where());
    const std::string name = block_format(weight_fields, fields.find({"input_activations"}));
    if (weight_fields.error()) q.reject(weight_fields.error()->what, weight_fields.error()->fix);
    const std::vector<std::string> targets = fields.texts({"targets"});
    bool by_role = false;
    for (const std::string& target : targets) {
      for (const TensorRole role : module_place(target).roles) {
        set(role, name);
        by_role = true;
      }
    }
    if (!by_role) set_all(name);
  }
}

/// ModelOpt mixed precision: the algorithm of each layer by name. The most frequent one of a role counts.
void StorageReader::read_layer_algorithms(const json& layers) {
  std::array<std::array<std::int64_t, 32>, tensor_role_count> votes{};
  std::vector<std::string> names;
  for (const auto& [module, settings] : layers.items()) {
    if (!settings.is_object() || !settings.contains("quant_algo") || !settings["quant_algo"].is_string()) continue;
    const std::string name = algorithm_format(settings["quant_algo"].get<std::string>());
    if (name.empty()) continue;
    std::size_t at = 0;
    while (at < names.size() && names[at] != name) ++at;
    if (at == names.size()) names.push_back(name);
    if (at >= votes[0].size()) continue;
    for (const TensorRole role : module_place(module).roles) ++votes[static_cast<std::size_t>(role)][at];
  }
  for (const TensorRole role : quantised_roles) {
    const auto& counts = votes[static_cast<std::size_t>(role)];
    std::size_t best = 0;
    for (std::size_t i = 0; i < names.size() && i < counts.size(); ++i) best = counts[i] > counts[best] ? i : best;
    if (counts[best] > 0) set(role, names[best]);
  }
}

void StorageReader::read_bits(Fields& q) {
  const std::int64_t bits = q.integer({"bits", "w_bit", "num_bits"}, 4, 1, 16);
  const std::int64_t group = q.integer({"group_size", "q_group_size"}, 128, -1, 1'000'000);
  set_all(grouped_name(bits, group, false));
}

void StorageReader::read_bitsandbytes(Fields& q) {
  if (q.boolean({"load_in_8bit", "_load_in_8bit"}, false)) return set_all("int8");
  set_all(q.boolean({"bnb_4bit_use_double_quant"}, false) ? "nf4-dq" : "nf4");
}

void StorageReader::unknown(const std::string& method) {
  c_.note(fmt::format("quantisation method \"{}\" is not known: weights are counted as 16 bit", method.substr(0, 40)));
}

void StorageReader::read_method(Fields& q, const std::string& method) {
  const json* groups = q.find({"config_groups"});
  const json* layers = q.find({"quantized_layers"});
  const std::string algorithm = q.text({"quant_algo"});
  if (layers != nullptr && layers->is_object() && lower(algorithm) == "mixed_precision") {
    if (method == "fp8") set_all(q.has({"weight_block_size"}) ? "fp8-block" : "fp8");
    return read_layer_algorithms(*layers);
  }
  if (groups != nullptr && groups->is_object()) return read_groups(q, *groups);
  if (!algorithm.empty()) {
    const std::string name = algorithm_format(algorithm);
    return name.empty() ? unknown(algorithm) : set_all(name);
  }
  if (method == "fp8" || method == "fbgemm_fp8") {
    set_all(q.has({"weight_block_size"}) ? "fp8-block" : "fp8");
    if (c_.text.text({"expert_dtype"}) == "fp4") set(TensorRole::expert, "mxfp4");
    return;
  }
  if (method == "mxfp4") return set(TensorRole::expert, "mxfp4");
  if (method == "mxfp8") return set_all("mxfp8");
  if (method == "awq" || method == "gptq" || method == "auto-round" || method == "auto_round" || method == "hqq") {
    return read_bits(q);
  }
  if (method == "bitsandbytes") return read_bitsandbytes(q);
  if (method.empty() && (q.has({"load_in_4bit"}) || q.has({"load_in_8bit"}))) return read_bitsandbytes(q);
  if (method == "eetq" || method == "experts_int8") return set_all("int8");
  unknown(method.empty() ? "not named" : method);
}

void StorageReader::read_kv(Fields& q) {
  const json* scheme = q.find({"kv_cache_scheme", "kv_cache_quant_algo", "kv_cache_quant_method"});
  if (scheme == nullptr) return;
  std::string name;
  if (scheme->is_string()) {
    name = lower(scheme->get<std::string>());
  } else if (scheme->is_object()) {
    Fields fields(*scheme, q.where());
    const bool real = fields.text({"type"}, "float") == "float";
    const std::int64_t bits = fields.integer({"num_bits"}, 8, 1, 32);
    name = bits == 8 ? (real ? "fp8" : "int8") : (bits == 4 ? (real ? "nvfp4" : "int4") : "bf16");
  }
  if (const auto known = find_weight_format(name)) c_.spec.kv_format = *known;
}

void StorageReader::leave_alone(Fields& q) {
  std::vector<std::string> entries = q.texts({"ignore"});
  for (const char* key :
       {"exclude_modules", "modules_to_not_convert", "ignored_layers", "modules_to_skip", "llm_int8_skip_modules"}) {
    for (std::string& entry : q.texts({key})) entries.push_back(std::move(entry));
  }
  std::array<std::set<std::int64_t>, tensor_role_count> layers;
  std::array<bool, tensor_role_count> everywhere{};
  for (const std::string& entry : entries) {
    const ModulePlace place = module_place(entry);
    if (!place.whole) continue;
    for (const TensorRole role : place.roles) {
      // In Gemma 4 the experts stand beside "mlp", not inside it.
      if (role == TensorRole::expert && place.roles.front() == TensorRole::dense_mlp && c_.starts_with("gemma4"))
        continue;
      if (place.layer) layers[static_cast<std::size_t>(role)].insert(*place.layer);
      if (!place.layer) everywhere[static_cast<std::size_t>(role)] = true;
    }
  }
  for (const TensorRole role : quantised_roles) {
    const auto at = static_cast<std::size_t>(role);
    const std::int64_t total = layers_with(role);
    const auto named = static_cast<std::int64_t>(layers[at].size());
    if (everywhere[at] || (total > 0 && 2 * named > total)) {
      set(role, base_);
    } else if (named > 0 && total > 0 && 20 * named > total && c_.spec.stored(role).format.name != base_) {
      c_.note(fmt::format("{} of {} layers keep 16-bit {} weights: counted as {}", named, total, name(role),
                          c_.spec.stored(role).format.name));
    }
  }
}

void StorageReader::read(const json& quantization) {
  Fields q(quantization, c_.root.where());
  const std::string method = lower(q.text({"quant_method", "quantization_method"}));
  read_method(q, method);
  leave_alone(q);
  read_kv(q);
  if (q.error()) c_.text.reject("quantization_config: " + q.error()->what, q.error()->fix);
}

}  // namespace

void read_storage(HfConfig& config, const json* side_file) {
  StorageReader reader(config);
  reader.read_dtype();
  const json* quantization = config.root.find({"quantization_config", "compression_config"});
  if (quantization == nullptr) quantization = config.text.find({"quantization_config", "compression_config"});
  if (quantization == nullptr && side_file != nullptr && side_file->contains("quantization")) {
    quantization = &(*side_file)["quantization"];
  }
  if (quantization == nullptr) return;
  if (!quantization->is_object()) {
    return config.text.reject("quantization_config is not an object", "give a model's own config.json");
  }
  reader.read(*quantization);
}

}  // namespace corridor::model
