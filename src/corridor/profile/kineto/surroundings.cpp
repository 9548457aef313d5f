// SPDX-License-Identifier: Apache-2.0
// Devices, versions and flags of a Kineto trace.
#include <cmath>
#include <nlohmann/json.hpp>

#include "corridor/profile/kineto/join.h"

namespace corridor::profile::kineto {
namespace {

using Json = nlohmann::json;

std::optional<double> positive(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  const double value = at->get<double>();
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<int> small_whole(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  const double value = at->get<double>();
  return value >= 0 && value < 1e6 ? std::optional(static_cast<int>(value)) : std::nullopt;
}

bool flag(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return false;
  return at->is_boolean() ? at->get<bool>() : at->is_number() && at->get<double>() != 0;
}

void read_devices(const Json& list, Trace& trace) {
  for (const Json& entry : list) {
    if (!entry.is_object()) continue;
    TraceDevice device;
    device.id = static_cast<std::uint16_t>(small_whole(entry, "id").value_or(0));
    const auto name = entry.find("name");
    if (name != entry.end() && name->is_string()) device.name = name->get<std::string>();
    device.memory_bytes = positive(entry, "totalGlobalMem");
    device.sm_count = positive(entry, "numSms");
    device.compute_major = small_whole(entry, "computeMajor");
    device.compute_minor = small_whole(entry, "computeMinor");
    trace.devices.push_back(device);
  }
}

void add_version(const Json& object, const char* key, const char* words, std::string& out) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_primitive()) return;
  if (!out.empty()) out += ", ";
  out += std::string(words) + " " + (at->is_string() ? at->get<std::string>() : at->dump());
}

/// Whether brackets stand in each other deeper than any trace's do; inside strings they may count, too.
bool nests_deep(std::string_view json) {
  constexpr std::size_t deepest = 512;
  std::size_t depth = 0;
  for (const char c : json) {
    if (c == '[' || c == '{') {
      if (++depth > deepest) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

void read_surroundings(const std::string& json, Trace& trace) {
  if (json.empty()) return;
  if (nests_deep(json)) {
    trace.stats.drop("fields around the events that nest more than 512 deep", Severity::warning);
    return;
  }
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object()) {
    trace.stats.drop("fields around the events that are not well-formed JSON", Severity::warning);
    return;
  }
  if (const auto devices = root.find("deviceProperties"); devices != root.end() && devices->is_array()) {
    read_devices(*devices, trace);
  }
  trace.with_stack = flag(root, "with_stack");
  trace.record_shapes = flag(root, "record_shapes");
  if (const auto group = root.find("distributedInfo"); group != root.end() && group->is_object()) {
    trace.rank = small_whole(*group, "rank");
    trace.world_size = small_whole(*group, "world_size");
  }
  add_version(root, "cuda_runtime_version", "CUDA runtime", trace.producer);
  add_version(root, "cuda_driver_version", "driver", trace.producer);
  add_version(root, "hip_runtime_version", "HIP runtime", trace.producer);
  add_version(root, "roctracer_version", "roctracer", trace.producer);
}

}  // namespace corridor::profile::kineto
