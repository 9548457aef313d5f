// SPDX-License-Identifier: Apache-2.0
// One rule a kind, from what its tool writes at the start of every file.
#include "corridor/profile/file_kind.h"

#include <algorithm>
#include <array>
#include <utility>

#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/metrics/prometheus.h"
#include "corridor/profile/ncu/read_ncu.h"
#include "corridor/profile/nsys/read_nsys.h"
#include "corridor/profile/paste/result_file.h"
#include "corridor/profile/rocprof/read_rocprof.h"

namespace corridor::profile {
namespace {

constexpr std::array<std::pair<FileKind, std::string_view>, 10> kind_words{
    {{FileKind::kineto, "kineto"},
     {FileKind::ncu_csv, "ncu"},
     {FileKind::nsys_sqlite, "nsys"},
     {FileKind::nsys_stats_csv, "nsys-stats"},
     {FileKind::nsys_trace_csv, "nsys-trace"},
     {FileKind::rocprofv3_json, "rocprofv3"},
     {FileKind::rocprof_compute_csv, "rocprof-compute"},
     {FileKind::results, "results"},
     {FileKind::metrics, "metrics"},
     {FileKind::text, "text"}}};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_model(std::string_view head) {
  if (head.starts_with("GGUF")) return true;
  constexpr std::size_t length_bytes = 8;  // of a safetensors header; then its JSON
  if (head.size() > length_bytes && head[length_bytes] == '{' && head[length_bytes - 1] == '\0') return true;
  return head.find_first_not_of(" \t\r\n") != std::string_view::npos &&
         head[head.find_first_not_of(" \t\r\n")] == '{' &&
         (holds(head, "\"architectures\"") || holds(head, "\"num_hidden_layers\"") || holds(head, "\"hidden_size\""));
}

}  // namespace

FileKind kind_of(std::string_view head) {
  if (looks_like_nsys_sqlite(head)) return FileKind::nsys_sqlite;
  if (looks_like_rocprofv3(head)) return FileKind::rocprofv3_json;
  if (looks_like_kineto(head)) return FileKind::kineto;
  if (looks_like_results(head)) return FileKind::results;
  if (is_model(head)) return FileKind::model;
  if (looks_like_metrics(head)) return FileKind::metrics;
  if (looks_like_ncu_csv(head)) return FileKind::ncu_csv;
  if (looks_like_nsys_gpu_trace(head)) return FileKind::nsys_trace_csv;  // it tells more than a summary beside it
  if (looks_like_nsys_stats(head)) return FileKind::nsys_stats_csv;
  if (looks_like_rocprof_compute(head)) return FileKind::rocprof_compute_csv;
  return FileKind::text;
}

std::string_view name(FileKind kind) {
  for (const auto& [known, word] : kind_words) {
    if (known == kind) return word;
  }
  return "model";
}

std::optional<FileKind> file_kind_from(std::string_view word) {
  for (const auto& [kind, known] : kind_words) {
    if (known == word) return kind;
  }
  return std::nullopt;
}

std::string file_kind_words() {
  std::string words;
  for (const auto& [kind, word] : kind_words) words += (words.empty() ? "" : ", ") + std::string(word);
  return words;
}

}  // namespace corridor::profile
