// SPDX-License-Identifier: Apache-2.0
// Reads /proc/cpuinfo one "key : value" line at a time; the kernel writes one paragraph a logical processor.
#include "corridor/measure/cpu_info.h"

#include <algorithm>
#include <set>
#include <utility>

#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

struct FlagName {
  std::string_view flag;  ///< as the kernel writes it
  std::string_view name;
};
constexpr FlagName flags_of_interest[] = {
    {"sse4_2", "sse4.2"},
    {"avx", "avx"},
    {"avx2", "avx2"},
    {"fma", "fma"},
    {"f16c", "f16c"},
    {"avx_vnni", "avx_vnni"},
    {"avx512f", "avx512f"},
    {"avx512_vnni", "avx512_vnni"},
    {"avx512_bf16", "avx512_bf16"},
    {"avx512_fp16", "avx512_fp16"},
    {"amx_tile", "amx"},
    {"amx_bf16", "amx_bf16"},
    {"neon", "neon"},
    {"asimd", "neon"},
    {"asimddp", "dotprod"},
    {"sve", "sve"},
    {"sve2", "sve2"},
    {"bf16", "bf16"},
    {"i8mm", "i8mm"},
    {"sme", "sme"},
};

struct ArmPart {
  double implementer, part;
  std::string_view name;
};
/// Designs by the numbers ARM and its licensees put into MIDR_EL1 (kernel: arch/arm64/include/asm/cputype.h).
constexpr ArmPart arm_parts[] = {
    {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd05, "Cortex-A55"},  {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},  {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse N1"}, {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse V1"}, {0x41, 0xd41, "Cortex-A78"},  {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd49, "Neoverse N2"}, {0x41, 0xd4f, "Neoverse V2"},
    {0x41, 0xd84, "Neoverse V3"}, {0x41, 0xd85, "Cortex-X925"}, {0x41, 0xd8e, "Neoverse N3"},
    {0xc0, 0xac3, "Ampere One"},  {0x48, 0xd01, "Kunpeng 920"}, {0x46, 0x001, "A64FX"},
};

std::string vendor_from(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"GenuineIntel", "Intel"}, {"AuthenticAMD", "AMD"}, {"HygonGenuine", "Hygon"}, {"CentaurHauls", "Zhaoxin"}};
  for (const auto& [spelling, vendor] : known) {
    if (text == spelling) return std::string(vendor);
  }
  return clean_name(text);
}

std::string vendor_from_implementer(double implementer) {
  constexpr std::pair<int, std::string_view> known[] = {{0x41, "ARM"},    {0x46, "Fujitsu"},  {0x48, "HiSilicon"},
                                                        {0x4e, "NVIDIA"}, {0x51, "Qualcomm"}, {0x61, "Apple"},
                                                        {0xc0, "Ampere"}};
  for (const auto& [number, vendor] : known) {
    if (static_cast<double>(number) == implementer) return std::string(vendor);
  }
  return {};
}

/// Gathers the lines of all processors; the names come from the first that has one.
class Gatherer {
 public:
  void line(std::string_view key, std::string_view value) {
    if (key == "processor" && whole_number(value))
      start_processor();
    else if (key == "physical id")
      socket_ = whole_number(value).value_or(0);
    else if (key == "core id")
      core_ = whole_number(value);
    else if (key == "cpu MHz" || key == "clock")
      take_clock(value);
    else if (key == "vendor_id")
      keep(info_.vendor, vendor_from(value));
    else if (key == "flags" || key == "Features")
      take_flags(value);
    else if (key == "CPU implementer")
      implementer_ = whole_number(value);
    else if (key == "CPU part")
      take_part(value);
    else
      take_name(key, value);
  }

  CpuInfo finish() {
    end_processor();
    info_.physical_cores = static_cast<int>(cores_.size());
    info_.sockets = static_cast<int>(sockets_.size());
    for (const FlagName& each : flags_of_interest) {
      const std::string name(each.name);
      const bool listed =
          std::find(info_.instruction_sets.begin(), info_.instruction_sets.end(), name) != info_.instruction_sets.end();
      if (!listed && flags_.count(std::string(each.flag)) != 0) info_.instruction_sets.push_back(name);
    }
    info_.name = !names_[0].empty() ? names_[0] : !part_names_.empty() ? joined_parts() : names_[1];
    return info_;
  }

 private:
  static void keep(std::string& target, std::string value) {
    if (target.empty()) target = std::move(value);
  }
  void start_processor() {
    end_processor();
    ++info_.logical_cpus;
  }
  void end_processor() {
    if (core_) {
      cores_.insert({socket_, *core_});
      sockets_.insert(socket_);
    }
    core_.reset();
    socket_ = 0;
  }
  void take_clock(std::string_view value) {
    if (value.ends_with("MHz")) value.remove_suffix(3);
    const std::optional<double> mhz = decimal_number(value);
    if (mhz && *mhz > 0 && *mhz < 1e5) info_.highest_mhz = std::max(info_.highest_mhz.value_or(0), *mhz);
  }
  void take_flags(std::string_view value) {
    if (!flags_.empty()) return;  // the same for every processor; a server repeats them hundreds of times
    while (const auto word = take_word(value)) flags_.insert(std::string(*word));
  }
  void take_part(std::string_view value) {
    const std::optional<double> part = whole_number(value);
    if (!part || !implementer_) return;
    keep(info_.vendor, vendor_from_implementer(*implementer_));
    for (const ArmPart& each : arm_parts) {
      if (each.implementer != *implementer_ || each.part != *part) continue;
      if (std::find(part_names_.begin(), part_names_.end(), each.name) == part_names_.end()) {
        part_names_.push_back(each.name);
      }
    }
  }
  void take_name(std::string_view key, std::string_view value) {
    if (key == "model name" || key == "cpu model") keep(names_[0], clean_name(value));
    if (key == "cpu" || key == "uarch" || key == "Hardware" || key == "Processor") keep(names_[1], clean_name(value));
  }
  [[nodiscard]] std::string joined_parts() const {
    std::string out = info_.vendor == "ARM" ? "ARM" : "";
    for (const std::string_view part : part_names_) {
      if (!out.empty()) out += part == part_names_.front() ? " " : " + ";
      out += part;
    }
    return out;
  }

  CpuInfo info_;
  std::set<std::pair<double, double>> cores_;  ///< (socket, core)
  std::set<double> sockets_;
  std::set<std::string> flags_;
  std::string names_[2];  ///< sure names, then poorer ones
  std::vector<std::string_view> part_names_;
  std::optional<double> implementer_, core_;
  double socket_ = 0;
};

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  Gatherer gatherer;
  while (const auto line = take_line(text)) {
    if (const auto pair = key_value(*line)) gatherer.line(pair->first, pair->second);
  }
  return gatherer.finish();
}

}  // namespace corridor::measure
