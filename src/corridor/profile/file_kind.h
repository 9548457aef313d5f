// SPDX-License-Identifier: Apache-2.0
// What a file of a run is, known by its content and never by its name.
//
//   kind_of("# HELP vllm:num_requests_running …")   // FileKind::metrics
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace corridor::profile {

enum class FileKind {
  kineto,               ///< PyTorch profiler and other Chrome traces
  ncu_csv,              ///< Nsight Compute, details or raw page
  nsys_sqlite,          ///< Nsight Systems export
  nsys_stats_csv,       ///< nsys stats, a summary of kernels
  nsys_trace_csv,       ///< nsys stats, each kernel with its start
  rocprofv3_json,       ///< rocprofiler-sdk
  rocprof_compute_csv,  ///< pmc_perf, roofline, sysinfo
  results,              ///< saved by a benchmark client
  metrics,              ///< a Prometheus page
  model,                ///< GGUF, safetensors or a Hugging Face configuration: no file of a run
  text                  ///< commands, logs, printed results, anything else
};

/// `head`: the first unpacked bytes, best 64 KiB.
[[nodiscard]] FileKind kind_of(std::string_view head);

/// The word that `--format` takes: "kineto", "ncu", "nsys", "nsys-stats", "nsys-trace", "rocprofv3", "rocprof-compute",
/// "results", "metrics", "text".
[[nodiscard]] std::string_view name(FileKind kind);
[[nodiscard]] std::optional<FileKind> file_kind_from(std::string_view word);
/// All words, for an error: "kineto, ncu, …".
[[nodiscard]] std::string file_kind_words();

}  // namespace corridor::profile
