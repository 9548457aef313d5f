// SPDX-License-Identifier: Apache-2.0
// Cuts folders, endings, shard numbers and formats off the names under which models are served.
#include "corridor/app/paste_case_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "corridor/base/file.h"
#include "corridor/base/lower.h"
#include "corridor/model/weight_format.h"

namespace corridor::app {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

bool cut_end(std::string& text, std::string_view end) {
  if (text.size() <= end.size() || lower(text).substr(text.size() - end.size()) != end) return false;
  text.resize(text.size() - end.size());
  return true;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "-00001-of-00003" at the end of a name.
void cut_shard(std::string& name) {
  const std::size_t of = name.rfind("-of-");
  if (of == std::string::npos || !all_digits(std::string_view(name).substr(of + 4))) return;
  const std::size_t dash = name.rfind('-', of - 1);
  if (of == 0 || dash == std::string::npos || !all_digits(std::string_view(name).substr(dash + 1, of - dash - 1)))
    return;
  name.resize(dash);
}

/// A format of GGUF files by the word that stands in their names: "Q4_K_M", "IQ4_XS", "F16".
std::string gguf_word(std::string_view text) {
  const std::string word = lower(text);
  // Files of these names are mixes; the plain names stand for one type of block.
  constexpr std::array<Pair, 7> mixes{{{"q2_k", "q2_k_mix"},
                                       {"q2_k_s", "q2_k_mix"},
                                       {"q2_k_l", "q2_k_mix"},
                                       {"q3_k", "q3_k_m"},
                                       {"q4_k", "q4_k_m"},
                                       {"q5_k", "q5_k_m"},
                                       {"mxfp4_moe", "mxfp4"}}};
  for (const auto& [name, mix] : mixes) {
    if (word == name) return std::string(mix);
  }
  const bool block = word.size() > 3 && (word[0] == 'q' || word.starts_with("iq") || word.starts_with("tq")) &&
                     word.find('_') != std::string::npos;
  const bool wide = word == "f16" || word == "fp16" || word == "bf16" || word == "f32" || word == "mxfp4";
  if (!block && !wide) return "";
  if (const auto format = model::find_weight_format(word)) return format->name;
  // "q4_k_xl" of some makers: a mix with a few wider tensors, nearest to the medium one.
  if (word.size() > 4 && word.find("_k_") == 2) return gguf_word(word.substr(0, 4));
  return "";
}

/// Takes a format off the end of a name: behind '-', '.', or ':'; returns it, or empty text.
std::string take_format(std::string& name) {
  const std::size_t at = name.find_last_of("-.:");
  if (at == std::string::npos || at == 0) return "";
  const std::string format = gguf_word(std::string_view(name).substr(at + 1));
  if (format.empty()) return "";
  name.resize(at);
  cut_end(name, "-ud");  // a maker's mark in front of the format
  cut_end(name, ":ud");
  return format;
}

bool is_path(std::string_view word) {
  const bool drive = word.size() > 2 && word[1] == ':' && (word[2] == '\\' || word[2] == '/');
  if (word.empty() || drive || word[0] == '/' || word[0] == '.' || word[0] == '~' || word[0] == '$') return true;
  if (word.find('\\') != std::string_view::npos || std::count(word.begin(), word.end(), '/') > 1) return true;
  const std::string name = lower(word);
  return name.ends_with(".gguf") || name.ends_with(".safetensors") || name.ends_with(".json");
}

/// The part of a path that names the model: the last one, or the folder above files that are named alike everywhere.
std::string naming_part(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  // The cache of the Hugging Face hub: models--OWNER--NAME/snapshots/COMMIT.
  if (const std::size_t cache = path.find("models--"); cache != std::string::npos) {
    std::string id = path.substr(cache + 8, path.find('/', cache) - cache - 8);
    if (const std::size_t owner = id.find("--"); owner != std::string::npos) id.replace(owner, 2, "/");
    if (!path.ends_with(".gguf")) return id;
  }
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::size_t slash = path.find_last_of('/');
  const std::string last = lower(path.substr(slash == std::string::npos ? 0 : slash + 1));
  const bool common = last.ends_with(".json") || last.ends_with(".safetensors");
  if (common && slash != std::string::npos && slash > 0) {
    path.resize(slash);
    slash = path.find_last_of('/');
  }
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Sizes behind the tags of the ollama library that state none, and what its distilled models are built on
/// (ollama.com/library; basis assumed, from memory).
constexpr std::array<Pair, 18> library{{{"llama2", "llama2:7b"},
                                        {"llama3", "llama3:8b"},
                                        {"llama3.1", "llama3.1:8b"},
                                        {"llama3.2", "llama3.2:3b"},
                                        {"llama3.3", "llama3.3:70b"},
                                        {"qwen2.5", "qwen2.5:7b"},
                                        {"qwen3", "qwen3:8b"},
                                        {"gemma2", "gemma2:9b"},
                                        {"gemma3", "gemma3:4b"},
                                        {"mistral", "mistral:7b"},
                                        {"mixtral", "mixtral:8x7b"},
                                        {"codellama", "codellama:7b"},
                                        {"gpt-oss", "gpt-oss:20b"},
                                        {"qwq", "qwq:32b"},
                                        {"phi4:14b", "phi-4"},
                                        {"phi4", "phi-4"},
                                        {"deepseek-r1:70b", "llama3.3:70b"},
                                        {"deepseek-r1:32b", "qwen2.5:32b"}}};

}  // namespace

PastedModel pasted_model(std::string_view word) {
  PastedModel out;
  out.name = std::string(word);
  out.file_here = is_file(out.name) || is_folder(out.name);
  if (out.file_here) return out;
  out.path_elsewhere = is_path(word);
  if (out.path_elsewhere) out.name = naming_part(out.name);
  for (const std::string_view end : {".gguf", ".safetensors", ".bin", ".json"}) cut_end(out.name, end);
  cut_shard(out.name);
  out.weights = take_format(out.name);
  return out;
}

PastedModel ollama_model(std::string_view tag) {
  PastedModel out = pasted_model(tag);
  if (out.file_here || out.path_elsewhere) return out;
  cut_end(out.name, ":latest");
  if (out.name.ends_with("-qat") && out.weights.empty()) out.weights = "q4_0";
  cut_end(out.name, "-qat");
  for (const auto& [name, model] : library) {
    if (lower(out.name) == name) out.name = std::string(model);
  }
  return out;
}

std::string printed_format(std::string_view model) {
  std::string found;
  for (std::size_t at = 0; at < model.size();) {
    const std::size_t end = std::min(model.find(' ', at), model.size());
    const std::string_view word = model.substr(at, end - at);
    if (word.size() <= 16) {
      const std::string_view rest = model.substr(end);
      std::string name(word);
      if (rest.starts_with(" - Small")) name += "_S";
      if (rest.starts_with(" - Medium")) name += "_M";
      if (rest.starts_with(" - Large")) name += "_L";
      if (const std::string format = gguf_word(name); !format.empty()) found = format;
    }
    at = end + 1;
  }
  return found;
}

std::string nearest_gguf_format(double bits_per_weight) {
  constexpr std::array<std::string_view, 13> usual{"q4_0", "q4_k_m", "q8_0",  "q5_k_m", "q6_k",  "q3_k_m", "q2_k_mix",
                                                   "q5_0", "iq4_xs", "iq3_s", "iq2_xs", "iq1_s", "fp16"};
  std::string best;
  double distance = HUGE_VAL;
  for (const std::string_view name : usual) {
    const auto format = model::find_weight_format(name);
    if (!format || std::fabs(format->bits_per_weight - bits_per_weight) >= distance) continue;
    distance = std::fabs(format->bits_per_weight - bits_per_weight);
    best = format->name;
  }
  return best;
}

std::optional<std::string> format_word(std::string_view given) {
  std::string word = lower(given);
  if (word.empty() || word == "auto" || word == "none" || word == "null") return "";
  for (const std::string_view tail : {"_marlin", "-marlin"}) cut_end(word, tail);
  constexpr std::array<Pair, 9> engine_words{{{"modelopt_fp4", "nvfp4"},
                                              {"nvfp4", "nvfp4"},
                                              {"fp4", "nvfp4"},
                                              {"modelopt", "fp8"},
                                              {"fbgemm_fp8", "fp8"},
                                              {"fp8_e4m3", "fp8"},
                                              {"fp8_e5m2", "fp8"},
                                              {"fp8_inc", "fp8"},
                                              {"bitsandbytes", "nf4"}}};
  for (const auto& [name, format] : engine_words) {
    if (word == name) return std::string(format);
  }
  if (model::find_weight_format(word)) return word;
  return std::nullopt;
}

}  // namespace corridor::app
