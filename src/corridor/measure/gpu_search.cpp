// SPDX-License-Identifier: Apache-2.0
// Reads the driver's answers and the files of /proc/driver/nvidia and /sys/class/drm.
#include "corridor/measure/gpu_search.h"

#include <utility>

#include "corridor/measure/machine_reader.h"
#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

constexpr std::size_t most_gpus = 64;

std::string text_of(const MachineReader& reader, const std::string& path) {
  return reader.read_file(path).value_or(std::string());
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …": the first word that is digits and points.
std::string nvidia_driver_version(const MachineReader& reader) {
  const std::string text = text_of(reader, "/proc/driver/nvidia/version");
  std::string_view all = text;
  std::string_view line = take_line(all).value_or(std::string_view());
  while (const auto word = take_word(line)) {
    const bool numeric = word->find_first_not_of("0123456789.") == std::string_view::npos;
    if (numeric && word->find('.') != std::string_view::npos) return std::string(word->substr(0, 32));
  }
  return {};
}

std::vector<GpuFact> nvidia_from_proc(const MachineReader& reader) {
  std::vector<GpuFact> gpus;
  for (const std::string& entry : reader.list_folder("/proc/driver/nvidia/gpus")) {
    if (gpus.size() >= most_gpus) break;
    const std::string text = text_of(reader, "/proc/driver/nvidia/gpus/" + entry + "/information");
    std::string_view rest = text;
    while (const auto line = take_line(rest)) {
      const auto pair = key_value(*line);
      if (!pair || pair->first != "Model" || pair->second.empty()) continue;
      gpus.push_back({clean_name(pair->second), "NVIDIA", std::nullopt, {}});
      break;
    }
  }
  return gpus;
}

void add_nvidia(const MachineReader& reader, GpuSearch& search) {
  std::optional<GpuSearch> cuda = reader.ask_cuda();
  std::vector<GpuFact> gpus;
  if (cuda) {
    gpus = std::move(cuda->gpus);
    search.note = std::move(cuda->note);
  } else {
    gpus = nvidia_from_proc(reader);
    if (!gpus.empty()) search.note = "libcuda.so.1 is not found, so programs started here cannot use the NVIDIA GPU";
  }
  if (gpus.empty()) return;
  const std::string version = nvidia_driver_version(reader);
  for (GpuFact& gpu : gpus) {
    gpu.driver_version = version;
    search.gpus.push_back(std::move(gpu));
  }
}

void add_amd(const MachineReader& reader, GpuSearch& search) {
  const std::string version = clean_name(text_of(reader, "/sys/module/amdgpu/version"));
  for (const std::string& card : reader.list_folder("/sys/class/drm")) {
    if (!is_numbered(card, "card") || search.gpus.size() >= most_gpus) continue;
    const std::string folder = "/sys/class/drm/" + card + "/device/";
    constexpr double amd_vendor = 0x1002;
    if (whole_number(text_of(reader, folder + "vendor")) != amd_vendor) continue;
    GpuFact gpu;
    gpu.vendor = "AMD";
    gpu.name = clean_name(text_of(reader, folder + "product_name"));
    if (gpu.name.empty()) gpu.name = "AMD GPU, PCI device " + clean_name(text_of(reader, folder + "device"));
    const auto bytes = whole_number(text_of(reader, folder + "mem_info_vram_total"));
    if (bytes && *bytes > 0) gpu.memory = units::Bytes{*bytes};
    gpu.driver_version = version;
    search.gpus.push_back(std::move(gpu));
  }
}

}  // namespace

GpuSearch find_gpus(const MachineReader& reader) {
  GpuSearch search;
  add_nvidia(reader, search);
  add_amd(reader, search);
  if (search.gpus.empty() && search.note.empty()) search.note = "No GPU found";
  return search;
}

}  // namespace corridor::measure
