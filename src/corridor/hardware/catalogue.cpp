// SPDX-License-Identifier: Apache-2.0
// Name resolution: the file's own id first, then shared names with a stated default, then every alias, then guesses
// that say what they guessed.
#include "corridor/hardware/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "corridor/base/file.h"
#include "corridor/base/lower.h"
#include "corridor/hardware/device_head.h"
#include "corridor/hardware/name_key.h"

namespace corridor::hardware {
namespace {

constexpr std::size_t longest_name = 256;
constexpr std::size_t nearest_count = 3;

/// One spelling of one device.
struct Spelling {
  std::string key;
  std::string id;
};

struct Index {
  std::vector<Spelling> exact;                             ///< squashed
  std::vector<Spelling> core;                              ///< without makers' words
  std::vector<std::pair<std::string, std::string>> paths;  ///< id → path in the assets
};

/// What a name was understood as: the device taken, and the others that share the name.
struct Match {
  std::string id;
  std::string others;  ///< for the note, "a, b"
};

/// The file's name for messages: what the user can open.
std::string shown(const Assets& assets, const std::string& path) {
  const std::string described = assets.describe(path);
  return described.ends_with(")") ? path : described;
}

Index build_index(const Assets& assets) {
  Index index;
  for (const std::string& path : assets.list("devices")) {
    const Result<std::string_view> text = assets.read(path);
    if (!text) continue;
    std::optional<DeviceHead> head = scan_device_head(*text);
    if (!head) {
      Result<DeviceHead> parsed = parse_device_head(*text, shown(assets, path));
      if (!parsed) continue;
      head = std::move(*parsed);
    }
    index.paths.emplace_back(head->id, path);
    const auto add = [&](std::string_view spelling) {
      index.exact.push_back({squash(spelling), head->id});
      index.core.push_back({core_key(spelling), head->id});
    };
    add(head->id);
    add(head->name);
    for (const std::string& alias : head->aliases) add(alias);
  }
  return index;
}

/// The device of a key; when several share it, the first in the order of ids, with the others named.
std::optional<Match> lookup(const std::vector<Spelling>& spellings, std::string_view key) {
  std::set<std::string> ids;
  for (const Spelling& spelling : spellings) {
    if (spelling.key == key) ids.insert(spelling.id);
  }
  if (ids.empty() || key.empty()) return std::nullopt;
  Match match{*ids.begin(), {}};
  for (auto other = std::next(ids.begin()); other != ids.end(); ++other) {
    match.others += (match.others.empty() ? "" : ", ") + *other;
  }
  return match;
}

std::optional<Match> family_match(std::string_view key) {
  const Family* family = find_family(key);
  if (family == nullptr) return std::nullopt;
  return Match{std::string(family->default_id), std::string(family->others)};
}

/// A name as it stands: shared names first, then every spelling; then the same without makers' words.
std::optional<Match> match_words(const Index& index, std::string_view name) {
  const std::string exact = squash(name);
  if (auto match = family_match(exact)) return match;
  if (auto match = lookup(index.exact, exact)) return match;
  const std::string core = core_key(name);
  if (auto match = family_match(core)) return match;
  return lookup(index.core, core);
}

Result<Device> load(const Assets& assets, const Index& index, std::string_view id) {
  for (const auto& [known, path] : index.paths) {
    if (known != id) continue;
    const Result<std::string_view> text = assets.read(path);
    if (!text) return tl::unexpected(text.error());
    return parse_device(*text, shown(assets, path));
  }
  return fail(fmt::format("device {} is not among the data files", id), "devices/",
              "check the folder given with --data");
}

/// True when a device of this capacity is sold as `gigabytes`. One memory shared with the host comes in several sizes.
bool sold_with(const Device& device, double gigabytes) {
  if (!device.memory_capacity) return device.kind == DeviceKind::cpu;
  const double bytes = device.memory_capacity->value.value();
  if (device.unified_memory && gigabytes * 1e9 <= bytes) return true;
  constexpr double tolerance = 0.06;
  return std::abs(bytes / 1e9 - gigabytes) <= tolerance * gigabytes ||
         std::abs(bytes / 1073741824.0 - gigabytes) <= tolerance * gigabytes;
}

std::vector<std::string> ids_of(const Match& match) {
  std::vector<std::string> ids = {match.id};
  std::size_t start = 0;
  while (start < match.others.size()) {
    const std::size_t end = std::min(match.others.find(", ", start), match.others.size());
    const std::string part = match.others.substr(start, end - start);
    ids.push_back(part.substr(0, part.find(' ')));
    start = end + 2;
  }
  return ids;
}

/// A name that ends in a memory size: the size chooses among the devices that share the rest of the name.
std::optional<Match> match_with_memory(const Assets& assets, const Index& index, std::string_view name) {
  if (auto match = match_words(index, name)) return match;
  const std::optional<MemorySplit> split = split_memory(name);
  if (!split) return std::nullopt;
  const std::optional<Match> rest = match_words(index, split->rest);
  if (!rest) return std::nullopt;
  Match chosen;
  for (const std::string& id : ids_of(*rest)) {
    const Result<Device> device = load(assets, index, id);
    if (!device || !sold_with(*device, split->gigabytes)) continue;
    if (chosen.id.empty()) {
      chosen.id = id;
    } else {
      chosen.others += (chosen.others.empty() ? "" : ", ") + id;
    }
  }
  if (chosen.id.empty()) return std::nullopt;
  return chosen;
}

std::string nearest_names(const Index& index, std::string_view name) {
  const std::string key = core_key(name);
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const Spelling& spelling : index.core) {
    const bool inside = key.size() >= 2 && spelling.key.find(key) != std::string::npos;
    const std::size_t distance = inside ? 1 : edit_distance(key, spelling.key);
    if (distance <= std::max<std::size_t>(2, key.size() / 3)) scored.emplace_back(distance, spelling.id);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> ids;
  for (const auto& [distance, id] : scored) {
    if (ids.size() < nearest_count && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  std::string out;
  for (const std::string& id : ids) out += (out.empty() ? "" : ", ") + id;
  return out;
}

tl::unexpected<Error> unknown_device(const Index& index, std::string_view name) {
  const std::string near = nearest_names(index, name);
  const std::string fix = near.empty()
                              ? "corridor devices lists the known ones; a file ending in .toml is read as a device"
                              : fmt::format("did you mean {}? corridor devices lists all", near);
  return fail(fmt::format("no device named \"{}\" in the catalogue", name.substr(0, 80)), {}, fix);
}

/// "h100 taken as h100-sxm; also: h100-pcie, h100-nvl". A name that is the id itself is "taken as is".
std::string variants_note(std::string_view name, const Match& match) {
  const bool same = squash(name) == squash(match.id);
  return fmt::format("{} taken as {}; also: {}", name, same ? "is" : match.id, match.others);
}

Result<ResolvedDevice> finish(const Assets& assets, const Index& index, std::string_view name, const Match& match,
                              bool guessed) {
  Result<Device> device = load(assets, index, match.id);
  if (!device) return tl::unexpected(device.error());
  ResolvedDevice out{std::move(*device), {}};
  if (!match.others.empty()) {
    out.note = variants_note(name, match);
  } else if (guessed) {
    out.note = fmt::format("{} taken as {}", name, match.id);
  }
  return out;
}

Result<ResolvedDevice> read_device_file(const std::string& path) {
  constexpr std::size_t most_bytes = 1U << 20U;
  const Result<std::string> text = read_text_file(path, most_bytes);
  if (!text) return tl::unexpected(text.error());
  Result<Device> device = parse_device(*text, path);
  if (!device) return tl::unexpected(device.error());
  return ResolvedDevice{std::move(*device), {}};
}

/// The file named after an id, without looking at any other file.
std::optional<Result<ResolvedDevice>> open_by_id(const Assets& assets, std::string_view id, std::string note) {
  const std::string path = fmt::format("devices/{}.toml", id);
  const Result<std::string_view> text = assets.read(path);
  if (!text) {  // a file of that name that cannot be read is told, an absent one is not
    const std::vector<std::string> there = assets.list("devices");
    if (std::find(there.begin(), there.end(), path) == there.end()) return std::nullopt;
    return Result<ResolvedDevice>(tl::unexpected(text.error()));
  }
  Result<Device> device = parse_device(*text, shown(assets, path));
  if (!device) return Result<ResolvedDevice>(tl::unexpected(device.error()));
  if (device->id != id) return std::nullopt;
  return Result<ResolvedDevice>(ResolvedDevice{std::move(*device), std::move(note)});
}

/// Ids and shared names need no index.
std::optional<Result<ResolvedDevice>> open_directly(const Assets& assets, std::string_view name) {
  if (const std::optional<Match> family = family_match(squash(name))) {
    return open_by_id(assets, family->id, variants_note(name, *family));
  }
  std::string id(name);
  for (char& c : id) c = c == ' ' || c == '_' ? '-' : lower(c);
  return open_by_id(assets, id, {});
}

/// "Dell Pro Max (GB10)", "Core i9 (NVIDIA RTX 4090)": one side or the other, never a silent choice between two
/// devices.
Result<ResolvedDevice> match_brackets(const Assets& assets, const Index& index, std::string_view name) {
  const BracketSplit split = split_brackets(name);
  const std::optional<Match> outside = match_with_memory(assets, index, split.outside);
  const std::optional<Match> inside = match_with_memory(assets, index, split.inside);
  if (outside && inside) {
    const std::vector<std::string> outside_ids = ids_of(*outside);
    if (std::find(outside_ids.begin(), outside_ids.end(), inside->id) != outside_ids.end()) {
      return finish(assets, index, name, *inside, true);
    }
    return fail(fmt::format("\"{}\" names two devices, {} and {}", name, outside->id, inside->id), {},
                "give one of them");
  }
  if (outside) return finish(assets, index, name, *outside, true);
  if (inside) return finish(assets, index, name, *inside, true);
  return unknown_device(index, name);
}

}  // namespace

std::vector<std::string> device_ids(const Assets& assets) {
  std::vector<std::string> ids;
  for (const auto& [id, path] : build_index(assets).paths) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<ResolvedDevice> find_device(const Assets& assets, std::string_view name) {
  if (squash(name).empty()) {
    return fail(fmt::format("\"{}\" is no device name", name.substr(0, 40)), {},
                "give an id such as h100-sxm, or a device file");
  }
  if (name.ends_with(".toml") || (name.find('/') != std::string_view::npos && is_file(std::string(name)))) {
    return read_device_file(std::string(name));
  }
  if (name.size() > longest_name)
    return fail("the device name is longer than 256 bytes", {}, "give an id such as h100-sxm");
  if (auto direct = open_directly(assets, name)) return std::move(*direct);
  const Index index = build_index(assets);
  if (const auto match = match_words(index, name)) return finish(assets, index, name, *match, false);
  if (const auto match = match_with_memory(assets, index, name)) return finish(assets, index, name, *match, true);
  if (name.find('(') != std::string_view::npos) return match_brackets(assets, index, name);
  if (name.find('/') != std::string_view::npos) return read_device_file(std::string(name));
  if (exists(std::string(name))) {
    return fail("is a file or folder here, not a device name", std::string(name),
                "give a device file that ends in .toml, or a name that corridor devices lists");
  }
  return unknown_device(index, name);
}

}  // namespace corridor::hardware
