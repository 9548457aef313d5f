// SPDX-License-Identifier: Apache-2.0
// Reads a Hugging Face config.json into a ModelSpec.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/base/lower.h"
#include "corridor/base/nearest.h"
#include "corridor/model/hf_parts.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

using nlohmann::json;

constexpr std::int64_t most_layers = 10'000;
constexpr std::int64_t widest_hidden = 10'000'000;
constexpr double most_parameters = 1e13;

/// The language model's own object inside the wrapper of a vision-language or speech model.
const json& text_part(const json& root, int depth = 0) {
  for (const char* key : {"text_config", "llm_config", "language_config", "thinker_config", "language_model"}) {
    const auto it = root.find(key);
    if (it != root.end() && it->is_object() && depth < 3) return text_part(*it, depth + 1);
  }
  return root;
}

// Families whose files may leave tie_word_embeddings out and mean true.
bool ties_by_default(const std::string& type) {
  for (const std::string_view known :
       {"gemma", "gpt2", "bloom", "opt", "falcon", "cohere", "gpt_bigcode", "starcoder2", "mpt"}) {
    if (type.rfind(known, 0) == 0) return true;
  }
  return false;
}

// Families this reader was written for; others are read by their keys and say so.
bool is_known(const std::string& type) {
  static constexpr std::array known = {"llama",
                                       "llama4",
                                       "llama4_text",
                                       "mistral",
                                       "mistral3",
                                       "ministral3",
                                       "mixtral",
                                       "qwen2",
                                       "qwen2_moe",
                                       "qwen3",
                                       "qwen3_moe",
                                       "gemma",
                                       "gemma2",
                                       "gemma3",
                                       "phi",
                                       "phi3",
                                       "phimoe",
                                       "gpt_oss",
                                       "deepseek",
                                       "deepseek_v2",
                                       "deepseek_v3",
                                       "kimi_k2",
                                       "kimi_linear",
                                       "glm_moe_dsa",
                                       "minimax_m2",
                                       "minimax_m3",
                                       "minimax_m3_vl",
                                       "minimax",
                                       "nemotron_h",
                                       "gpt2",
                                       "gptj",
                                       "opt",
                                       "bloom",
                                       "falcon",
                                       "gpt_neox",
                                       "nemotron-nas",
                                       "deepseek_v32",
                                       "starcoder2",
                                       "gpt_bigcode",
                                       "glm4",
                                       "glm4_moe",
                                       "glm",
                                       "cohere",
                                       "cohere2",
                                       "olmo",
                                       "olmo2",
                                       "olmo3",
                                       "granite",
                                       "internlm2",
                                       "internlm3",
                                       "baichuan",
                                       "stablelm",
                                       "nemotron",
                                       "mimo_v2_flash",
                                       "seed_oss",
                                       "ernie4_5",
                                       "ernie4_5_moe",
                                       "yi",
                                       "smollm3",
                                       "exaone",
                                       "exaone4",
                                       "chatglm",
                                       "qwen",
                                       "gemma4_text",
                                       "gemma3_text",
                                       "deepseek_v4",
                                       "qwen3_next",
                                       "qwen3_5_text",
                                       "qwen3_5_moe_text",
                                       "qwen3_vl_text",
                                       "qwen3_vl_moe_text",
                                       "qwen2_vl",
                                       "qwen2_5_vl",
                                       "qwen2_5_vl_text",
                                       "qwen2_vl_text",
                                       "glm4_moe_lite",
                                       "minimax_text_01",
                                       "qwen3_5",
                                       "qwen3_5_moe",
                                       "gemma4",
                                       "gpt_neo",
                                       "mpt",
                                       "hunyuan_v1_dense",
                                       "aquila"};
  return std::find(known.begin(), known.end(), type) != known.end();
}

bool has_layer_norm_bias(const HfConfig& c) {
  return c.is({"gpt2", "gptj", "opt", "bloom", "falcon", "gpt_neox", "gpt_bigcode", "phi", "phimoe", "starcoder2"});
}

class ConfigReader {
 public:
  ConfigReader(const json& root, const std::string& where)
      : root_fields_(root, where), text_fields_(text_part(root), where) {}

  Result<ModelSpec> read(const json* quantization_file);

 private:
  void read_shape();
  std::int64_t read_layer_count();
  void read_layers(std::int64_t layers);
  std::int64_t norms() const;
  void read_parts_apart();
  double vision_parameters() const;
  Result<ModelSpec> finish();

  Fields root_fields_;
  Fields text_fields_;
  ModelSpec spec_;
  HfConfig config_{text_fields_, root_fields_, {}, spec_};
};

void ConfigReader::read_shape() {
  Fields& f = text_fields_;
  config_.type = lower(f.text({"model_type"}, root_fields_.text({"model_type"})));
  const auto names = f.has({"architectures"}) ? f.texts({"architectures"}) : root_fields_.texts({"architectures"});
  spec_.architecture = names.empty() ? config_.type : names.front();
  spec_.source = "config.json";
  spec_.id = root_fields_.text({"id"}, f.where());
  const std::size_t slash = spec_.id.find_last_of('/');
  spec_.name = slash == std::string::npos ? spec_.id : spec_.id.substr(slash + 1);
  spec_.hidden = f.integer({"hidden_size", "n_embd", "n_embed", "d_model", "dim"}, std::nullopt, 1, widest_hidden);
  spec_.vocab = f.integer({"vocab_size", "padded_vocab_size"}, std::nullopt, 1, widest_hidden);
  spec_.max_positions = f.integer({"max_position_embeddings", "n_positions", "seq_length", "max_sequence_length",
                                   "model_max_length", "max_seq_len"},
                                  0, 0);
  if (config_.is({"gpt2", "gpt_bigcode"})) spec_.learned_positions = spec_.max_positions;
  if (config_.is({"opt"})) spec_.learned_positions = spec_.max_positions + 2;
  const bool stated = f.has({"tie_word_embeddings"});
  spec_.tied_embeddings = stated ? f.boolean({"tie_word_embeddings"}, false)
                                 : root_fields_.boolean({"tie_word_embeddings"}, ties_by_default(config_.type));
}

std::int64_t ConfigReader::read_layer_count() {
  Fields& f = text_fields_;
  const json* listed = f.find({"layers_block_type", "hybrid_override_pattern"});
  if (!f.has({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}) && listed != nullptr) {
    const std::size_t size = listed->is_string() ? listed->get_ref<const std::string&>().size() : listed->size();
    if (size >= 1 && size <= static_cast<std::size_t>(most_layers)) return static_cast<std::int64_t>(size);
  }
  return f.integer({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, std::nullopt, 1, most_layers);
}

std::int64_t ConfigReader::norms() const {
  std::int64_t count = 2;
  if (config_.starts_with("gemma2") || config_.starts_with("gemma3") || config_.starts_with("gemma4")) count = 4;
  if (config_.is({"glm4"})) count = 4;
  if (config_.is({"nemotron_h"})) count = 1;
  if (config_.is({"cohere", "cohere2", "phi", "gptj"})) count = 1;
  return has_layer_norm_bias(config_) ? 2 * count : count;
}

void ConfigReader::read_layers(std::int64_t layers) {
  const std::vector<Mixer> mixers = read_mixers(config_, layers);
  if (text_fields_.error()) return;
  const std::vector<FeedForward> blocks = read_feed_forwards(config_, layers);
  if (text_fields_.error()) return;
  const bool parallel = config_.is({"cohere", "cohere2", "phi", "gptj"}) ||
                        text_fields_.boolean({"parallel_attn", "use_parallel_residual"}, false);
  for (std::size_t i = 0; i < mixers.size(); ++i) {
    const auto same = std::find_if(spec_.layers.begin(), spec_.layers.end(), [&](const LayerGroup& group) {
      return group.mixer == mixers[i] && group.feed_forward == blocks[i];
    });
    if (same != spec_.layers.end()) {
      ++same->count;
    } else {
      spec_.layers.push_back({1, mixers[i], blocks[i], norms(), parallel});
    }
  }
}

/// Rough size of the vision part from its own shape: four square matrices and a two-matrix MLP a layer.
double ConfigReader::vision_parameters() const {
  const json* vision = root_fields_.find({"vision_config"});
  if (vision == nullptr || !vision->is_object()) return 0;
  Fields f(*vision, root_fields_.where());
  const auto hidden =
      static_cast<double>(f.integer({"hidden_size", "embed_dim", "vt_hidden_size"}, 0, 0, widest_hidden));
  const auto inner = static_cast<double>(f.integer({"intermediate_size", "vt_intermediate_size"}, 0, 0, widest_hidden));
  const auto depth = static_cast<double>(
      f.integer({"depth", "num_hidden_layers", "vt_num_hidden_layers", "num_layers"}, 0, 0, most_layers));
  return f.error() ? 0 : depth * (4 * hidden * hidden + 2 * hidden * inner);
}

void ConfigReader::read_parts_apart() {
  Fields& f = text_fields_;
  spec_.mtp_layers = f.integer({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}, 0, 0, 1'000);
  if (spec_.mtp_layers > 0 && !spec_.layers.empty()) {
    double one = 0;
    const bool hybrid = f.has({"hybrid_override_pattern", "layers_block_type"});
    for (const LayerGroup& group : spec_.layers) {
      const bool attention = std::holds_alternative<SoftmaxAttention>(group.mixer);
      // A prediction module is one more last layer; in hybrid models an attention and an expert layer together.
      const bool part = hybrid ? attention || group.feed_forward.experts > 0 : &group == &spec_.layers.back();
      for (const Matrix& matrix : layer_matrices(spec_, group)) one += part ? matrix.elements() : 0;
    }
    const auto hidden = static_cast<double>(spec_.hidden);
    spec_.mtp_parameters = static_cast<double>(spec_.mtp_layers) * (one + 2 * hidden * hidden + 3 * hidden);
  }
  spec_.vision_parameters = vision_parameters();
  if (spec_.vision_parameters > 0) config_.note("the vision part's size is estimated and not part of any time");
  if (f.has({"vocab_size_per_layer_input"}) && f.integer({"hidden_size_per_layer_input"}, 0, 0, widest_hidden) > 0) {
    config_.note("per-layer input embeddings are left out of weights and time");
  }
  if (f.integer({"hc_mult"}, 1, 0, 1'000) > 1)
    config_.note("hyper-connections between layers are left out of the time");
  if (f.has({"attn_res_block_size"})) config_.note("residual attention between layers is left out of the time");
}

Result<ModelSpec> ConfigReader::finish() {
  for (const Fields* fields : {&text_fields_, &root_fields_}) {
    if (fields->error()) return tl::unexpected<Error>(*fields->error());
  }
  const double parameters = parameter_count(spec_);
  if (!(parameters <= most_parameters)) {
    return fail(fmt::format("the shapes give {:.3g} parameters", parameters), root_fields_.where(),
                "at most 1e13 are believed; correct the sizes");
  }
  if (!is_known(config_.type)) {
    config_.note(fmt::format("architecture \"{}\" is not known: read by its keys as a Llama-like model",
                             config_.type.substr(0, 40)));
  }
  return std::move(spec_);
}

Result<ModelSpec> ConfigReader::read(const json* quantization_file) {
  read_shape();
  const std::int64_t layers = read_layer_count();
  if (text_fields_.error()) return finish();
  read_layers(layers);
  if (text_fields_.error()) return finish();
  read_storage(config_, quantization_file);
  read_parts_apart();
  return finish();
}

}  // namespace

bool HfConfig::is(std::initializer_list<std::string_view> types) const {
  return std::find(types.begin(), types.end(), std::string_view(type)) != types.end();
}

void HfConfig::note(const std::string& clause) const {
  std::vector<std::string>& notes = spec.approximations;
  if (std::find(notes.begin(), notes.end(), clause) == notes.end()) notes.push_back(clause);
}

std::vector<std::string> hybrid_layer_kinds(HfConfig& config) {
  Fields& f = config.text;
  std::vector<std::string> kinds;
  if (const json* pattern = f.find({"hybrid_override_pattern"}); pattern != nullptr && pattern->is_string()) {
    for (const char c : pattern->get_ref<const std::string&>()) {
      const char* kind = c == 'M' ? "mamba" : (c == '*' ? "attention" : (c == '-' ? "mlp" : (c == 'E' ? "moe" : "")));
      if (*kind == '\0') {
        f.reject(fmt::format("hybrid_override_pattern holds '{}'", (c > 32 && c < 127) ? c : '?'), "use M, *, - and E");
        return {};
      }
      kinds.emplace_back(kind);
    }
  } else if (f.has({"layers_block_type"})) {
    kinds = f.texts({"layers_block_type"});
  }
  const std::int64_t layers = f.integer({"num_hidden_layers", "n_layer", "num_layers", "n_layers"},
                                        static_cast<std::int64_t>(kinds.size()), 0, most_layers);
  if (!kinds.empty() && static_cast<std::int64_t>(kinds.size()) != layers) {
    f.reject(fmt::format("the list of layer kinds has {} entries for {} layers", kinds.size(), layers),
             "it must have one a layer");
    return {};
  }
  for (const std::string& kind : kinds) {
    if (kind == "mamba" || kind == "attention" || kind == "mlp" || kind == "moe") continue;
    f.reject(fmt::format("layers_block_type holds \"{}\"", kind.substr(0, 40)), "known: mamba, attention, mlp, moe");
    return {};
  }
  return kinds;
}

Result<ModelSpec> read_hf_config_with(std::string_view json_text, std::string_view quant_text,
                                      const std::string& where) {
  std::vector<std::string> repeated;
  const Result<json> root = parse_json(json_text, where, &repeated);
  if (!root) return tl::unexpected<Error>(root.error());
  json side;
  if (!quant_text.empty()) {
    Result<json> parsed = parse_json(quant_text, where + " (hf_quant_config.json)");
    if (!parsed) return tl::unexpected<Error>(parsed.error());
    side = std::move(*parsed);
  }
  ConfigReader reader(*root, where);
  Result<ModelSpec> model = reader.read(side.is_object() ? &side : nullptr);
  if (model && !repeated.empty()) {
    model->approximations.push_back(fmt::format("\"{}\" stands twice in one object of the file: the last one counts",
                                                shown_word(repeated.front())));
  }
  return model;
}

Result<ModelSpec> read_hf_config(std::string_view json_text, const std::string& where) {
  return read_hf_config_with(json_text, {}, where);
}

}  // namespace corridor::model
