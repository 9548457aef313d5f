// SPDX-License-Identifier: Apache-2.0
// The fields of NVIDIA's DCGM exporter: old and new names, blank values, slices of a GPU.
#include <array>
#include <map>

#include "corridor/profile/metrics/server_readers.h"

namespace corridor::profile {
namespace {

struct DcgmField {
  std::string_view name;
  std::optional<double> GpuActivity::*field;
  double factor;  ///< to SI
};

constexpr double mib_bytes = 1048576;
constexpr std::array<DcgmField, 22> dcgm_fields{
    {{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", &GpuActivity::graphics_active, 1},
     {"DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", &GpuActivity::graphics_active, 1},
     {"DCGM_FI_PROF_SM_ACTIVE", &GpuActivity::sm_active, 1},
     {"DCGM_FI_PROF_SM_UTIL_RATIO", &GpuActivity::sm_active, 1},
     {"DCGM_FI_PROF_SM_OCCUPANCY", &GpuActivity::sm_occupancy, 1},
     {"DCGM_FI_PROF_SM_OCCUPANCY_RATIO", &GpuActivity::sm_occupancy, 1},
     {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", &GpuActivity::tensor_active, 1},
     {"DCGM_FI_PROF_TENSOR_UTIL_RATIO", &GpuActivity::tensor_active, 1},
     {"DCGM_FI_PROF_DRAM_ACTIVE", &GpuActivity::dram_active, 1},
     {"DCGM_FI_PROF_DRAM_UTIL_RATIO", &GpuActivity::dram_active, 1},
     {"DCGM_FI_DEV_GPU_UTIL", &GpuActivity::utilization, 0.01},
     {"DCGM_FI_DEV_GPU_UTIL_RATIO", &GpuActivity::utilization, 1},
     {"DCGM_FI_DEV_POWER_USAGE", &GpuActivity::power_w, 1},
     {"DCGM_FI_DEV_BOARD_POWER_USAGE", &GpuActivity::power_w, 1},
     {"DCGM_FI_DEV_SM_CLOCK", &GpuActivity::sm_clock_hz, 1e6},
     {"DCGM_FI_DEV_FB_USED", &GpuActivity::memory_used_bytes, mib_bytes},
     {"DCGM_FI_DEV_FB_FREE", &GpuActivity::memory_free_bytes, mib_bytes},
     {"1001", &GpuActivity::graphics_active, 1},
     {"1002", &GpuActivity::sm_active, 1},
     {"1003", &GpuActivity::sm_occupancy, 1},
     {"1004", &GpuActivity::tensor_active, 1},
     {"1005", &GpuActivity::dram_active, 1}}};

/// DCGM writes these where a field is not known: "blank", "not found", "not supported", "not permitted".
bool is_blank_value(double value) {
  constexpr double int64_blank = 9.2e18, fp64_blank = 140737488355328.0;
  constexpr double int32_blank = 2147483632.0, int32_last = 2147483647.0;
  return value >= int64_blank || value == fp64_blank || (value >= int32_blank && value <= int32_last);
}

const DcgmField* field_of(std::string_view name) {
  for (const DcgmField& field : dcgm_fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

bool is_share(std::optional<double> GpuActivity::*field) {
  return field == &GpuActivity::graphics_active || field == &GpuActivity::sm_active ||
         field == &GpuActivity::sm_occupancy || field == &GpuActivity::tensor_active ||
         field == &GpuActivity::dram_active || field == &GpuActivity::utilization;
}

GpuActivity& gpu_of(const MetricSample& sample, std::map<std::string, GpuActivity>& gpus) {
  const std::string slice(sample.label("GPU_I_PROFILE"));
  std::string index(sample.label("gpu"));
  const std::string key =
      std::string(sample.label("UUID")) + '\n' + index + '\n' + std::string(sample.label("GPU_I_ID"));
  GpuActivity& gpu = gpus[key];
  gpu.gpu = slice.empty() ? index : index + ", " + slice;
  gpu.mig_profile = slice;
  if (gpu.name.empty()) gpu.name = sample.label("modelName");
  return gpu;
}

}  // namespace

void read_dcgm_metrics(const MetricsPage& page, ServerMetrics& out) {
  std::map<std::string, GpuActivity> gpus;
  constexpr std::size_t most_gpus = 4096;
  for (const MetricSample& sample : page.samples) {
    const DcgmField* field = field_of(sample.name);
    if (field == nullptr || gpus.size() > most_gpus) continue;
    GpuActivity& gpu = gpu_of(sample, gpus);
    if (is_blank_value(sample.value)) {
      out.stats.drop("fields that the GPU does not support", Severity::note, sample.name);
      continue;
    }
    double value = sample.value * field->factor;
    const bool share = is_share(field->field);
    // The help text of some versions says percent; a share above 1 is one.
    if (share && value > 1 && value <= 100 && field->factor == 1) value /= 100;
    if (value < 0 || (share && value > 1.001)) {
      out.stats.drop("values that cannot be", Severity::warning, sample.name);
      continue;
    }
    if (gpu.*(field->field)) out.stats.drop("fields given twice", Severity::note, sample.name);
    gpu.*(field->field) = value;
  }
  bool told_slice = false;
  for (auto& [key, gpu] : gpus) {
    if (!gpu.mig_profile.empty() && !told_slice) {
      out.notes.emplace_back("GPU " + gpu.gpu + " is a MIG slice: its peaks are a part of the whole GPU's");
      told_slice = true;
    }
    out.gpus.push_back(std::move(gpu));
  }
}

}  // namespace corridor::profile
