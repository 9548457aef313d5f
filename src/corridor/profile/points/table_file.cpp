// SPDX-License-Identifier: Apache-2.0
// Facts that only the file's name tells: DEVICE_ENGINE_OPERATION_TYPE.csv.
#include <algorithm>
#include <array>
#include <vector>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/layout.h"

namespace corridor::profile {
namespace {

constexpr std::array<std::string_view, 9> engines{"vllm", "trtllm", "tensorrt", "sglang", "nccl",
                                                  "rccl", "oneccl", "torch",    "llama"};
constexpr std::array<std::string_view, 13> operations{"gemm",       "context",     "generation", "moe",    "custom",
                                                      "allreduce",  "attention",   "mixed",      "linear", "all",
                                                      "operations", "collectives", "matmul"};

std::vector<std::string> parts_of(std::string_view stem) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(stem.find('_'), stem.size());
    parts.emplace_back(stem.substr(0, end));
    if (end == stem.size()) return parts;
    stem.remove_prefix(end + 1);
  }
}

/// "vllm0.14.0" → "vllm 0.14.0"; empty when the part names no engine.
std::string engine_of(std::string_view part) {
  for (const std::string_view engine : engines) {
    if (lower(part.substr(0, engine.size())) != engine) continue;
    const std::string_view version = part.substr(engine.size());
    return std::string(engine) + (version.empty() ? "" : " ") + std::string(version);
  }
  return {};
}

bool is_operation(std::string_view part) {
  return std::find(operations.begin(), operations.end(), lower(part)) != operations.end();
}

/// Words between the operation and its type.
bool is_filler(std::string_view part) {
  const std::string small = lower(part);
  return is_operation(part) || small == "perf" || small == "ops" || small == "reduce" || small == "aiconf" ||
         small == "decode" || small == "prefill";
}

void append(std::string& text, std::string_view part) {
  text += (text.empty() ? "" : "_") + std::string(part);
}

}  // namespace

TableFile::TableFile(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  name = clean(slash == std::string::npos ? path : path.substr(slash + 1));
  const std::vector<std::string> parts = parts_of(std::string_view(name).substr(0, name.rfind('.')));
  // A name of more than one part; "gemm.csv" and "runs.csv" tell nothing.
  std::size_t at = 0;
  while (at < parts.size() && engine_of(parts[at]).empty() && !is_operation(parts[at])) ++at;
  if (at == parts.size()) return;
  for (std::size_t i = 0; i < at; ++i) append(device, parts[i]);
  if (!engine_of(parts[at]).empty()) engine = engine_of(parts[at++]);
  for (; at < parts.size(); ++at) {
    if (!is_filler(parts[at])) append(type, parts[at]);
  }
}

}  // namespace corridor::profile
