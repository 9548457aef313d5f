// SPDX-License-Identifier: Apache-2.0
// Reads models from folders and files on disk.
#include "corridor/model/model_files.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/base/file.h"
#include "corridor/model/gguf_file.h"
#include "corridor/model/hf_parts.h"
#include "corridor/model/readers.h"
#include "corridor/model/stored_tensors.h"

namespace corridor::model {
namespace {

bool ends(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : (slash == 0 ? "/" : path.substr(0, slash));
}

/// "name-00002-of-00005.gguf" → "name", 5 parts.
struct SplitName {
  std::string stem;
  int parts = 0;
};
std::optional<SplitName> split_name(const std::string& path) {
  constexpr std::size_t tail = 20;  // -00001-of-00005.gguf
  if (path.size() <= tail || !ends(path, ".gguf")) return std::nullopt;
  const std::string end = path.substr(path.size() - tail);
  if (end[0] != '-' || end.compare(6, 4, "-of-") != 0) return std::nullopt;
  int parts = 0;
  for (std::size_t i = 1; i < 6; ++i) {
    const char c = end[i + 9];
    if (end[i] < '0' || end[i] > '9' || c < '0' || c > '9') return std::nullopt;
    parts = parts * 10 + (c - '0');
  }
  return SplitName{path.substr(0, path.size() - tail), parts};
}

Result<GgufFile> read_gguf_part(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  Result<GgufFile> part = read_gguf_file(file->text(), path);
  if (part && part->data_end > static_cast<double>(file->text().size())) {
    return fail(fmt::format("{:.0f} bytes are there, {:.0f} are needed", static_cast<double>(file->text().size()),
                            part->data_end),
                path, "the file is cut short; fetch it again");
  }
  return part;
}

Result<ModelSpec> read_gguf_path(const std::string& path) {
  std::vector<GgufFile> parts;
  const std::optional<SplitName> split = split_name(path);
  const int count = split ? std::max(split->parts, 1) : 1;
  for (int i = 1; i <= count; ++i) {
    const std::string part_path = split ? fmt::format("{}-{:05}-of-{:05}.gguf", split->stem, i, count) : path;
    Result<GgufFile> part = read_gguf_part(part_path);
    if (!part) return tl::unexpected<Error>(part.error());
    parts.push_back(std::move(*part));
  }
  return gguf_model(parts, path);
}

/// Names of the weight files of a folder: those the index lists, else every *.safetensors.
Result<std::vector<std::string>> safetensors_files(const std::string& folder) {
  const std::string index = folder + "/model.safetensors.index.json";
  std::vector<std::string> found;
  for (const std::string& entry : folder_entries(folder)) {
    if (ends(entry, ".safetensors")) found.push_back(entry);
  }
  if (!is_file(index)) {
    // Some folders hold the same weights twice (consolidated.safetensors) or an adapter: "model*" are the model's own.
    std::vector<std::string> own;
    std::copy_if(found.begin(), found.end(), std::back_inserter(own),
                 [](const std::string& name) { return name.rfind("model", 0) == 0; });
    return own.empty() ? found : own;
  }
  const Result<std::string> text = read_text_file(index);
  if (!text) return tl::unexpected<Error>(text.error());
  const Result<nlohmann::json> parsed = parse_json(*text, index);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  const auto map = parsed->find("weight_map");
  if (map == parsed->end() || !map->is_object()) return fail("has no weight_map", index, "fetch the file again");
  std::set<std::string> listed;
  for (const auto& [tensor, file] : map->items()) {
    const bool plain = file.is_string() && file.get_ref<const std::string&>().find('/') == std::string::npos;
    if (!plain) return fail("weight_map names no plain file", index, "fetch the file again");
    listed.insert(file.get<std::string>());
  }
  return std::vector<std::string>(listed.begin(), listed.end());
}

/// Adds the real bytes of the folder's safetensors files; files that are not there leave bytes by rule.
std::optional<Error> add_safetensors(ModelSpec& model, const std::string& folder) {
  const Result<std::vector<std::string>> files = safetensors_files(folder);
  if (!files) return files.error();
  std::size_t absent = 0;
  RoleTotals totals;
  for (const std::string& name : *files) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (!is_file(path)) {
      ++absent;
      continue;
    }
    const Result<MappedFile> file = MappedFile::open(path);
    if (!file) return file.error();
    const Result<std::vector<StoredTensor>> tensors = read_safetensors_header(file->text(), path);
    if (!tensors) return tensors.error();
    add_tensors(totals, *tensors, model.layer_count());
  }
  if (absent > 0 && absent < files->size()) {
    model.approximations.push_back(
        fmt::format("{} of {} weight files are not there: bytes by rule", absent, files->size()));
  } else if (absent == 0 && !files->empty()) {
    note_another_model(model, totals);
    set_stored_bytes(model, std::move(totals));
    model.source = "config.json and safetensors";
  }
  return std::nullopt;
}

Result<ModelSpec> read_config_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return tl::unexpected<Error>(text.error());
  const std::string side_path = folder_of(path) + "/hf_quant_config.json";
  std::string side;
  if (is_file(side_path)) {
    const Result<std::string> side_text = read_text_file(side_path);
    if (!side_text) return tl::unexpected<Error>(side_text.error());
    side = *side_text;
  }
  return read_hf_config_with(*text, side, path);
}

Result<ModelSpec> safetensors_without_config(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  const Result<std::vector<StoredTensor>> tensors = read_safetensors_header(file->text(), path);
  if (!tensors) return tl::unexpected<Error>(tensors.error());
  RoleTotals totals;
  add_tensors(totals, *tensors, 0);
  return fail(fmt::format("{} tensors, {:.3g} elements, {:.3g} bytes, but no config.json beside it", tensors->size(),
                          totals.all_elements(), totals.all_bytes()),
              path, "put the model's config.json into the same folder: the shapes come from it");
}

/// One *.gguf, or the first part of one split file, in a folder.
Result<ModelSpec> read_gguf_folder(const std::string& folder, const std::vector<std::string>& names) {
  std::set<std::string> models;
  for (const std::string& name : names) {
    const auto split = split_name(name);
    if (name.rfind("mmproj", 0) == 0) continue;
    models.insert(split ? fmt::format("{}-00001-of-{:05}.gguf", split->stem, split->parts) : name);
  }
  if (models.size() != 1) {
    std::string list;
    for (const std::string& name : models) list += (list.empty() ? "" : ", ") + name;
    return fail(fmt::format("{} GGUF models in the folder", models.size()), folder, "name one: " + list.substr(0, 300));
  }
  return read_gguf_path(folder + "/" + *models.begin());
}

}  // namespace

Result<ModelSpec> read_model_folder(const std::string& given) {
  std::string folder = given;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::vector<std::string> gguf;
  std::vector<std::string> safetensors;
  for (std::string& entry : folder_entries(folder)) {
    if (ends(entry, ".gguf")) gguf.push_back(entry);
    if (ends(entry, ".safetensors")) safetensors.push_back(entry);
  }
  const std::string config = folder + "/config.json";
  if (!is_file(config)) {
    if (!gguf.empty()) return read_gguf_folder(folder, gguf);
    if (!safetensors.empty()) return safetensors_without_config(folder + "/" + safetensors.front());
    return fail("no config.json, *.safetensors or *.gguf in the folder", folder, "give a model's folder or file");
  }
  Result<ModelSpec> model = read_config_file(config);
  if (!model) return model;
  if (const auto error = add_safetensors(*model, folder)) return tl::unexpected<Error>(*error);
  const std::size_t slash = folder.find_last_of('/');
  model->id = folder;
  model->name = slash == std::string::npos ? folder : folder.substr(slash + 1);
  return model;
}

Result<ModelSpec> read_model_file(const std::string& path) {
  if (ends(path, ".gguf")) return read_gguf_path(path);
  if (ends(path, ".safetensors") || ends(path, ".safetensors.index.json")) {
    const std::string folder = folder_of(path);
    if (is_file(folder + "/config.json")) return read_model_folder(folder);
    if (ends(path, ".safetensors")) return safetensors_without_config(path);
    return fail("no config.json beside it", path, "put the model's config.json into the same folder");
  }
  const std::size_t slash = path.find_last_of('/');
  if (path.substr(slash == std::string::npos ? 0 : slash + 1) == "config.json") {
    return read_model_folder(folder_of(path));
  }
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  if (file->text().substr(0, 4) == "GGUF") return read_gguf_path(path);
  return read_config_file(path);
}

}  // namespace corridor::model
