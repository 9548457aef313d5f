// SPDX-License-Identifier: Apache-2.0
// Finds a model by path, built-in id or one of the names people use for it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/base/file.h"
#include "corridor/base/lower.h"
#include "corridor/base/nearest.h"
#include "corridor/model/model_files.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

constexpr std::size_t shown_suggestions = 4;
constexpr std::size_t longest_name = 4096;

/// "models/meta-llama--Llama-3.1-70B.json" → "meta-llama/Llama-3.1-70B".
std::string id_of(const std::string& path) {
  std::string id = path.substr(path.find('/') + 1);
  id = id.substr(0, id.size() - std::string_view(".json").size());
  if (const std::size_t at = id.find("--"); at != std::string::npos) id.replace(at, 2, "/");
  return id;
}

/// Words of a name without its organisation: "meta-llama/Llama-3.1-70B-Instruct" → llama, 3.1, 70b, instruct.
std::vector<std::string> words_of(std::string_view name) {
  const std::size_t slash = name.find_last_of('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::vector<std::string> words(1);
  for (const char c : lower(name)) {
    if (c == '-' || c == '_' || c == ':' || c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

bool is_date(const std::string& word) {
  const bool digits =
      word.size() == 4 && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && (word[0] == '0' || word[0] == '1' || word[0] == '2');
}

/// Words that say how a model was trained or packed, not what shape it has.
bool says_nothing(const std::string& word) {
  for (const std::string_view known :
       {"instruct", "chat", "hf", "it", "base", "meta", "thinking", "latest", "gguf", "pt", "dynamic", "static"}) {
    if (word == known) return true;
  }
  const bool version = word.size() == 4 && word[0] == 'v' && word[2] == '.' && (word[1] == '0' || word[1] == '1');
  return is_date(word) || version;
}

/// What is left of a name for comparison: "llama3.170b" for all spellings of Llama 3.1 70B.
std::string key_of(const std::vector<std::string>& words) {
  std::string key;
  for (const std::string& word : words) {
    if (!says_nothing(word)) key += word;
  }
  return key;
}

/// Does the record's "aliases" list hold a name with this key? The text is searched, not parsed.
bool has_alias(std::string_view record, const std::string& key) {
  std::size_t at = record.find("\"aliases\"");
  if (at == std::string_view::npos) return false;
  const std::size_t end = record.find(']', at);
  at = record.find('[', at);
  while (at < end && end != std::string_view::npos) {
    const std::size_t open = record.find('"', at + 1);
    if (open == std::string_view::npos || open > end) return false;
    const std::size_t close = record.find('"', open + 1);
    if (close == std::string_view::npos) return false;
    if (key_of(words_of(record.substr(open + 1, close - open - 1))) == key) return true;
    at = close;
  }
  return false;
}

Result<ResolvedModel> read_record(const Assets& assets, const std::string& path, std::string_view asked) {
  const Result<std::string_view> text = assets.read(path);
  if (!text) return tl::unexpected<Error>(text.error());
  Result<ModelSpec> model = read_hf_config(*text, assets.describe(path));
  if (!model) return tl::unexpected<Error>(model.error());
  ResolvedModel out;
  out.model = std::move(*model);
  out.model.id = id_of(path);
  const std::size_t slash = out.model.id.find('/');
  out.model.name = slash == std::string::npos ? out.model.id : out.model.id.substr(slash + 1);
  out.model.source = "built in";
  if (lower(asked) != lower(out.model.id)) out.note = fmt::format("{} taken as {}", asked, out.model.id);
  return out;
}

/// The record of a name: its id, then its key, then an alias. Empty when there is none.
std::string find_record(const Assets& assets, const std::vector<std::string>& paths, const std::string& name,
                        const std::vector<std::string>& words) {
  for (const std::string& path : paths) {
    if (lower(id_of(path)) == name) return path;
  }
  for (const std::string& path : paths) {  // the whole name without its organisation
    const std::string id = lower(id_of(path));
    const std::size_t slash = id.find('/');
    if (slash != std::string::npos && id.substr(slash + 1) == name) return path;
  }
  const std::string key = key_of(words);
  if (key.empty()) return {};
  std::vector<std::string> same;
  for (const std::string& path : paths) {
    if (key_of(words_of(id_of(path))) == key) same.push_back(path);
  }
  if (!same.empty()) return same.front();
  for (const std::string& path : paths) {
    const Result<std::string_view> text = assets.read(path);
    if (text && has_alias(text->substr(0, 2000), key)) return path;
  }
  return {};
}

tl::unexpected<Error> unknown(const std::vector<std::string>& paths, std::string_view name, const std::string& key) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& path : paths) {
    const std::string other = key_of(words_of(id_of(path)));
    const bool inside = key.size() >= 3 && other.find(key) != std::string::npos;
    near.emplace_back(inside ? 0 : letters_apart(key, other), id_of(path));
  }
  std::sort(near.begin(), near.end());
  std::string list;
  for (std::size_t i = 0; i < near.size() && i < shown_suggestions; ++i) list += (i > 0 ? ", " : "") + near[i].second;
  const std::string what = fmt::format("model \"{}\" is not known", shown_word(name, 100));
  return fail(what, "",
              fmt::format("nearest: {}; or give a folder, a file or --params (corridor models lists all)", list));
}

bool looks_like_path(std::string_view name) {
  const auto ends = [&](std::string_view tail) {
    return name.size() > tail.size() && name.substr(name.size() - tail.size()) == tail;
  };
  return name.front() == '/' || name.front() == '.' || name.front() == '~' || ends(".gguf") || ends(".safetensors") ||
         ends(".json");
}

/// "Qwen3-32B-AWQ": a known model and a known format at the end of its name.
std::optional<std::pair<std::vector<std::string>, WeightFormat>> without_format(std::vector<std::string> words) {
  const auto known = [](const std::string& word) -> std::optional<WeightFormat> {
    for (const std::string_view fair :
         {"fp8", "awq", "gptq", "nvfp4", "mxfp4", "int4", "int8", "w4a16", "w8a8", "bf16", "fp16"}) {
      if (word == fair) return find_weight_format(word);
    }
    return word.size() > 3 && word[0] == 'q' && word[2] == '_' ? find_weight_format(word) : std::nullopt;
  };
  std::optional<WeightFormat> found;
  while (words.size() > 1) {
    const auto format = known(words.back());
    if (!format && !says_nothing(words.back())) break;
    if (format) found = format;
    words.pop_back();
  }
  if (!found) return std::nullopt;
  return std::pair(std::move(words), *found);
}

}  // namespace

std::vector<std::string> model_ids(const Assets& assets) {
  std::vector<std::string> ids;
  for (const std::string& path : assets.list("models")) ids.push_back(id_of(path));
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<ResolvedModel> find_model(const Assets& assets, std::string_view name) {
  if (name.empty()) return fail("no model is named", "MODEL", "give an id, a folder or a file");
  if (name.size() > longest_name) {
    return fail(fmt::format("a name of {} bytes is no model", name.size()), "MODEL", "give an id, a folder or a file");
  }
  const std::string path(name);
  const bool folder = is_folder(path);
  if (!folder && !is_file(path) && exists(path)) {
    return fail("not a regular file", path, "give a model's folder or file, not a pipe or device");
  }
  if (folder || is_file(path)) {
    Result<ModelSpec> model = folder ? read_model_folder(path) : read_model_file(path);
    if (!model) return tl::unexpected<Error>(model.error());
    return ResolvedModel{std::move(*model), {}};
  }
  if (looks_like_path(name)) return fail("no such file or folder", shown_word(path, 200), "check the path");
  const std::vector<std::string> paths = assets.list("models");
  const std::vector<std::string> words = words_of(name);
  std::string record = find_record(assets, paths, lower(name), words);
  if (!record.empty()) return read_record(assets, record, name);
  if (const auto packed = without_format(words)) {
    record = find_record(assets, paths, key_of(packed->first), packed->first);
    if (!record.empty()) {
      Result<ResolvedModel> out = read_record(assets, record, name);
      if (!out) return out;
      out->note = fmt::format("{} taken as {} with {} weights", name, out->model.id, packed->second.name);
      out->model = with_weight_format(std::move(out->model), packed->second);
      return out;
    }
  }
  return unknown(paths, name, key_of(words).substr(0, 60));
}

}  // namespace corridor::model
