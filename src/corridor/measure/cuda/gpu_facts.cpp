// SPDX-License-Identifier: Apache-2.0
// Attributes of one GPU, each in the unit of its field; what is optional stays zero when the driver refuses.
#include "corridor/measure/cuda/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "corridor/measure/cuda/driver_error.h"
#include "corridor/measure/text_scan.h"

namespace corridor::measure::cuda {
namespace {

class Attributes {
 public:
  Attributes(const DriverApi& api, DeviceHandle device) : api_(api), device_(device) {}
  /// Zero when the driver does not answer or answers with nonsense.
  [[nodiscard]] int operator()(Attribute attribute) const {
    int value = 0;
    if (api_.device_get_attribute(&value, static_cast<int>(attribute), device_) != success) return 0;
    return std::max(value, 0);
  }
  [[nodiscard]] units::Bytes bytes(Attribute attribute) const {
    return units::Bytes{static_cast<double>((*this)(attribute))};
  }
  [[nodiscard]] units::Hertz khz(Attribute attribute) const {
    return units::Hertz{1e3 * static_cast<double>((*this)(attribute))};
  }

 private:
  const DriverApi& api_;
  DeviceHandle device_;
};

void read_names(const DriverApi& api, DeviceHandle device, GpuFacts& facts) {
  std::array<char, 256> text{};
  constexpr int length = static_cast<int>(text.size()) - 1;
  if (api.device_get_name(text.data(), length, device) == success) facts.name = clean_name(text.data());
  if (facts.name.empty()) facts.name = fmt::format("NVIDIA GPU {}", facts.ordinal);
  text.fill('\0');
  if (api.device_get_pci_bus_id != nullptr && api.device_get_pci_bus_id(text.data(), length, device) == success) {
    facts.pci_bus_id = clean_name(text.data());
  }
}

void read_limits(const Attributes& attribute, GpuFacts& facts) {
  facts.major = attribute(Attribute::major);
  facts.minor = attribute(Attribute::minor);
  facts.sm_count = attribute(Attribute::sm_count);
  if (const int warp = attribute(Attribute::warp_size); warp > 0) facts.warp_size = warp;
  facts.max_threads_per_block = attribute(Attribute::max_threads_per_block);
  facts.max_threads_per_sm = attribute(Attribute::max_threads_per_sm);
  facts.max_blocks_per_sm = attribute(Attribute::max_blocks_per_sm);
  facts.shared_per_sm = attribute.bytes(Attribute::shared_per_sm);
  facts.shared_per_block = attribute.bytes(Attribute::shared_per_block);
  constexpr double bytes_per_register = 4;
  facts.registers_per_sm = attribute.bytes(Attribute::registers_per_sm) * bytes_per_register;
}

}  // namespace

Result<GpuFacts> read_gpu_facts(const DriverApi& api, int ordinal, DeviceHandle device) {
  GpuFacts facts;
  facts.ordinal = ordinal;
  read_names(api, device, facts);
  const Attributes attribute(api, device);
  read_limits(attribute, facts);
  facts.clock = attribute.khz(Attribute::clock_khz);
  facts.memory_clock = attribute.khz(Attribute::memory_clock_khz);
  facts.memory_bus_bits = attribute(Attribute::memory_bus_bits);
  facts.l2 = attribute.bytes(Attribute::l2_bytes);
  facts.integrated = attribute(Attribute::integrated) != 0;
  facts.ecc = attribute(Attribute::ecc) != 0;
  std::size_t bytes = 0;
  if (api.device_total_mem(&bytes, device) == success) facts.memory_total = units::Bytes{static_cast<double>(bytes)};
  if (api.driver_get_version(&facts.driver_version) != success) facts.driver_version = 0;
  constexpr int most_sms = 10000;
  if (facts.major <= 0 || facts.sm_count <= 0 || facts.sm_count > most_sms || facts.max_threads_per_block < 256 ||
      facts.max_threads_per_sm < 256) {
    return fail(fmt::format("the driver describes this GPU as sm_{}{} with {} SMs and {} threads a block", facts.major,
                            facts.minor, facts.sm_count, facts.max_threads_per_block),
                facts.name, "update the driver");
  }
  return facts;
}

}  // namespace corridor::measure::cuda
