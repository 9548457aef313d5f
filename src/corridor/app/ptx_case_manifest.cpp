// SPDX-License-Identifier: Apache-2.0
// Reads manifests of simulated launches.
#include "corridor/app/ptx_case_manifest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/base/file.h"
#include "corridor/base/nearest.h"

namespace corridor::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* known_keys =
    "name, about, file, kernel, device, grid, block, shared_bytes, args, expect, dump, tolerance, registers, "
    "max_instructions, max_memory_bytes, sample, caches, check";

/// Takes one key after the other and remembers the first thing that is wrong.
class ManifestReader {
 public:
  ManifestReader(std::string where, std::string folder) : where_(std::move(where)), folder_(std::move(folder)) {}

  Result<PtxLaunchFile> read(const Json& object) {
    if (!object.is_object()) return fail("is not a JSON object", where_, "write {\"file\": …, \"kernel\": …}");
    for (const auto& [key, value] : object.items()) {
      if (!take(key, value)) complain(key, "is no key of a launch", fmt::format("the keys are {}", known_keys));
      if (fault_) return tl::unexpected(*fault_);
    }
    if (out_.request.file.empty()) return fail("names no file", where_, "add \"file\": \"NAME.ptx\"");
    return std::move(out_);
  }

 private:
  void complain(const std::string& key, std::string what, std::string fix) {
    if (!fault_) fault_ = Error{shown_word(key, 40) + " " + std::move(what), where_, std::move(fix)};
  }

  std::string text(const std::string& key, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    complain(key, "is no text", "put it in quotation marks");
    return {};
  }

  std::string path(const std::string& key, const Json& value) {
    std::string name = text(key, value);
    if (!name.empty() && name.front() != '/' && !folder_.empty()) name = folder_ + "/" + name;
    return name;
  }

  std::uint64_t whole(const std::string& key, const Json& value, std::uint64_t most) {
    const bool is_count = value.is_number_unsigned() ||
                          (value.is_number_float() && value.get<double>() >= 0 && value.get<double>() < 9e15 &&
                           value.get<double>() == std::floor(value.get<double>()));
    if (is_count) {
      const auto number =
          value.is_number_unsigned() ? value.get<std::uint64_t>() : static_cast<std::uint64_t>(value.get<double>());
      if (number <= most) return number;
    }
    complain(key, "is no whole number in range", fmt::format("give 0 to {}", most));
    return 0;
  }

  std::optional<ptx::Dim3> size(const std::string& key, const Json& value) {
    const Json list = value.is_array() ? value : Json::array({value});
    if (list.empty() || list.size() > 3) complain(key, "has no one to three numbers", "write [X, Y, Z]");
    ptx::Dim3 out;
    std::uint32_t* place[] = {&out.x, &out.y, &out.z};
    for (std::size_t i = 0; i < list.size() && i < 3; ++i) {
      *place[i] = static_cast<std::uint32_t>(whole(key, list[i], std::numeric_limits<std::uint32_t>::max()));
    }
    return out;
  }

  std::map<std::string, std::string> files(const std::string& key, const Json& value) {
    std::map<std::string, std::string> out;
    if (value.is_string()) {
      out[""] = path(key, value);
    } else if (value.is_object()) {
      for (const auto& [name, file] : value.items()) out[name] = path(key, file);
    } else {
      complain(key, "is no object", "write {\"ARGUMENT\": \"FILE\"}");
    }
    return out;
  }

  bool flag(const std::string& key, const Json& value) {
    if (!value.is_boolean()) complain(key, "is neither true nor false", "write true or false");
    return value.is_boolean() && value.get<bool>();
  }

  std::vector<std::string> words(const std::string& key, const Json& value) {
    std::vector<std::string> out;
    if (!value.is_array()) complain(key, "is no list", "write [\"i32:5\", …]");
    for (const Json& each : value) {
      if (each.is_number()) {
        out.push_back(each.dump());
        continue;
      }
      std::string word = text(key, each);
      const std::size_t file = word.find(":file=");
      const std::size_t start = file == std::string::npos ? 0 : file + 6;
      if (start > 0 && start < word.size() && word[start] != '/' && !folder_.empty()) word.insert(start, folder_ + "/");
      out.push_back(std::move(word));
    }
    return out;
  }

  bool take(const std::string& key, const Json& value) {
    PtxRequest& r = out_.request;
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    if (key == "name")
      out_.name = text(key, value);
    else if (key == "about")
      out_.about = text(key, value);
    else if (key == "file")
      r.file = path(key, value);
    else if (key == "kernel")
      r.kernel = text(key, value);
    else if (key == "device")
      r.device = text(key, value);
    else if (key == "grid")
      r.grid = size(key, value);
    else if (key == "block")
      r.block = size(key, value);
    else if (key == "shared_bytes")
      r.shared_bytes = whole(key, value, most);
    else if (key == "args")
      r.arguments = words(key, value);
    else if (key == "expect")
      r.expect = files(key, value);
    else if (key == "dump")
      r.dump = files(key, value);
    else if (key == "registers")
      r.registers = static_cast<std::uint32_t>(whole(key, value, 255));
    else if (key == "max_instructions")
      r.max_instructions = whole(key, value, most);
    else if (key == "max_memory_bytes")
      r.max_memory_bytes = whole(key, value, most);
    else if (key == "sample")
      r.sample_blocks = whole(key, value, most);
    else if (key == "caches")
      r.caches = flag(key, value);
    else if (key == "check")
      r.check = flag(key, value);
    else if (key == "tolerance") {
      if (!value.is_number() || !(value.get<double>() >= 0))
        complain(key, "is no number of zero or more", "give 0.001");
      else
        r.tolerance = value.get<double>();
    } else {
      return false;
    }
    return true;
  }

  std::string where_, folder_;
  PtxLaunchFile out_;
  std::optional<Error> fault_;
};

Result<Json> parsed(std::string_view text, const std::string& where) {
  // Deep nesting would exhaust the stack of the parser's tree; a manifest has three levels.
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[' || c == '{') ? 1 : (c == ']' || c == '}') ? -1 : 0;
    if (depth > 64) return fail("is nested too deeply", where);
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("is not JSON", where, "check commas and quotation marks");
  return json;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string name_in(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::size_t colon = word.find(':');
  return equals == std::string::npos || colon < equals ? "" : word.substr(0, equals);
}

/// Named arguments replace those of the same name; else the given ones stand for all.
void merge_arguments(PtxRequest& mine, const PtxRequest& from) {
  std::vector<std::string> merged = from.arguments;
  for (const std::string& word : mine.arguments) {
    const std::string name = name_in(word);
    const auto place = std::find_if(merged.begin(), merged.end(),
                                    [&](const std::string& each) { return !name.empty() && name_in(each) == name; });
    if (place == merged.end()) return;
    *place = word;
  }
  mine.arguments = std::move(merged);
}

}  // namespace

Result<PtxLaunchFile> parse_ptx_manifest(std::string_view text, const std::string& where, const std::string& folder) {
  const Result<Json> json = parsed(text, where);
  if (!json) return tl::unexpected(json.error());
  return ManifestReader(where, folder).read(*json);
}

Result<std::vector<PtxLaunchFile>> shipped_launches(const Assets& assets) {
  const std::string path = "ptx/launches.json";
  const Result<std::string_view> text = assets.read(path);
  if (!text) return tl::unexpected(text.error());
  const Result<Json> json = parsed(*text, assets.describe(path));
  if (!json) return tl::unexpected(json.error());
  if (!json->is_array()) return fail("is no list of launches", assets.describe(path));
  std::vector<PtxLaunchFile> out;
  for (const Json& each : *json) {
    Result<PtxLaunchFile> launch = ManifestReader(assets.describe(path), "").read(each);
    if (!launch) return tl::unexpected(launch.error());
    out.push_back(std::move(*launch));
  }
  return out;
}

PtxRequest with_defaults(PtxRequest request, const PtxRequest& from) {
  const auto take = [](auto& mine, const auto& theirs) {
    if (!mine) mine = theirs;
  };
  request.file = from.file;
  if (request.kernel.empty()) request.kernel = from.kernel;
  if (request.device.empty()) request.device = from.device;
  take(request.grid, from.grid);
  take(request.block, from.block);
  take(request.shared_bytes, from.shared_bytes);
  take(request.registers, from.registers);
  take(request.max_instructions, from.max_instructions);
  take(request.max_memory_bytes, from.max_memory_bytes);
  take(request.sample_blocks, from.sample_blocks);
  if (request.arguments.empty()) request.arguments = from.arguments;
  if (request.expect.empty()) request.expect = from.expect;
  for (const auto& [name, file] : from.dump) request.dump.emplace(name, file);
  if (request.tolerance == 0) request.tolerance = from.tolerance;
  request.caches = request.caches && from.caches;
  request.check = request.check && from.check;
  return request;
}

Result<PtxRequest> complete_ptx(const Assets& assets, PtxRequest request, std::string& about) {
  if (request.file.ends_with(".json")) {
    const Result<std::string> text = read_text_file(request.file);
    if (!text) return tl::unexpected(text.error());
    const Result<PtxLaunchFile> launch = parse_ptx_manifest(*text, request.file, folder_of(request.file));
    if (!launch) return tl::unexpected(launch.error());
    about = launch->about;
    merge_arguments(request, launch->request);
    return with_defaults(std::move(request), launch->request);
  }
  if (exists(request.file)) return request;
  const Result<std::vector<PtxLaunchFile>> launches = shipped_launches(assets);
  if (!launches) return tl::unexpected(launches.error());
  for (const PtxLaunchFile& launch : *launches) {
    const PtxRequest& from = launch.request;
    const bool by_name = launch.name == request.file && (request.kernel.empty() || request.kernel == from.kernel);
    if (!by_name && !(request.file == from.file && request.kernel == from.kernel)) continue;
    about = launch.about;
    merge_arguments(request, from);
    return with_defaults(std::move(request), from);
  }
  return request;
}

}  // namespace corridor::app
