// SPDX-License-Identifier: Apache-2.0
// Names of metrics by their ids, then one row a metric and time, gathered to one sample a time.
#include "corridor/profile/nsys/gpu_meters.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "corridor/base/sorting.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile::nsys {
namespace {

constexpr std::size_t most_samples = 10'000'000;
constexpr std::int64_t gpu_mask = 0xFF;  // the low byte of a type id is the GPU's number on the machine
constexpr float not_sampled = -1;

std::optional<Meter> meter_of(std::string_view name) {
  if (!contains(name, "[Throughput %]")) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, Meter>, meter_count> heads = {{{"SMs Active", Meter::sm_active},
                                                                                  {"SM Issue", Meter::sm_issue},
                                                                                  {"Tensor Active", Meter::tensor},
                                                                                  {"DRAM Read", Meter::dram_read},
                                                                                  {"DRAM Write", Meter::dram_write}}};
  for (const auto& [head, meter] : heads) {
    if (name.starts_with(head)) return meter;
  }
  return std::nullopt;
}

class MeterReader {
 public:
  MeterReader(const std::map<std::int64_t, std::uint16_t>& cuda_of_gpu, std::int64_t first_ns, Trace& trace)
      : cuda_of_gpu_(cuda_of_gpu), first_ns_(first_ns), trace_(trace) {}

  void name_metric(const Row& row) {
    const auto type = row.integer(0), metric = row.integer(1);
    const std::optional<Meter> meter = meter_of(row.text(2));
    if (metric && meter) meters_.emplace(std::pair(type.value_or(0), *metric), *meter);
  }
  [[nodiscard]] bool knows_any() const { return !meters_.empty(); }

  void take(const Row& row) {
    const auto at = row.integer(0), metric = row.integer(2), value = row.integer(3);
    const std::int64_t type = row.integer(1).value_or(0);
    const auto known = metric ? meters_.find(std::pair(type, *metric)) : meters_.end();
    if (known == meters_.end()) return;
    constexpr std::int64_t latest_ns = std::int64_t{1} << 62U;
    if (!at || !value || *at < 0 || *at > latest_ns || *value < 0 || *value > 100) {
      trace_.stats.drop("samples of GPU metrics without a time or outside 0 to 100 %", Severity::note);
      return;
    }
    MeterSample* sample = sample_at(type & gpu_mask, *at);
    if (sample != nullptr) sample->share[static_cast<std::size_t>(known->second)] = static_cast<float>(*value) / 100;
  }

  void finish() {
    for (auto& [gpu, samples] : by_gpu_) {
      const auto cuda = cuda_of_gpu_.find(gpu);
      if (cuda == cuda_of_gpu_.end() && !cuda_of_gpu_.empty()) continue;  // a GPU that the process does not use
      stable_sort_if_needed(samples, [](const MeterSample& a, const MeterSample& b) { return a.at_s < b.at_s; });
      merge_equal_times(samples);
      const auto device = cuda == cuda_of_gpu_.end() ? static_cast<std::uint16_t>(gpu) : cuda->second;
      trace_.meters.push_back({device, std::move(samples)});
    }
  }

 private:
  /// The rows of one time follow each other; where they do not, `merge_equal_times` brings them together.
  MeterSample* sample_at(std::int64_t gpu, std::int64_t at_ns) {
    std::vector<MeterSample>& samples = by_gpu_[gpu];
    const double at_s = static_cast<double>(at_ns - first_ns_) * 1e-9;
    if (!samples.empty() && samples.back().at_s == at_s) return &samples.back();
    if (taken_ == most_samples) {
      trace_.stats.drop("samples of GPU metrics beyond ten million", Severity::warning);
      return nullptr;
    }
    ++taken_;
    samples.emplace_back();
    samples.back().at_s = at_s;
    samples.back().share.fill(not_sampled);
    return &samples.back();
  }

  static void merge_equal_times(std::vector<MeterSample>& samples) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
      if (samples[i].at_s != samples[kept].at_s) {
        samples[++kept] = samples[i];
        continue;
      }
      for (std::size_t m = 0; m < meter_count; ++m) {
        if (samples[i].share[m] >= 0) samples[kept].share[m] = samples[i].share[m];
      }
    }
    samples.resize(std::min(samples.size(), kept + 1));
  }

  const std::map<std::int64_t, std::uint16_t>& cuda_of_gpu_;
  std::int64_t first_ns_;
  Trace& trace_;
  std::map<std::pair<std::int64_t, std::int64_t>, Meter> meters_;
  std::map<std::int64_t, std::vector<MeterSample>> by_gpu_;
  std::size_t taken_ = 0;
};

}  // namespace

void read_meters(const Database& database, const std::map<std::int64_t, std::uint16_t>& cuda_of_gpu,
                 std::int64_t first_ns, Trace& trace) {
  if (!database.has("GPU_METRICS") || !database.has("TARGET_INFO_GPU_METRICS")) return;
  MeterReader reader(cuda_of_gpu, first_ns, trace);
  const auto each = [&](const char* table, const std::vector<std::string>& columns, auto take) {
    const Result<int> read = database.each(table, columns, take);
    if (!read) trace.stats.drop("rows behind a damage of the database", Severity::loss, read.error().what);
  };
  each("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"},
       [&](const Row& row) { reader.name_metric(row); });
  if (!reader.knows_any()) {
    trace.stats.drop("GPU metrics of other kinds than throughput in %", Severity::note);
    return;
  }
  each("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, [&](const Row& row) { reader.take(row); });
  reader.finish();
}

}  // namespace corridor::profile::nsys
