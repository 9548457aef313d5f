// SPDX-License-Identifier: Apache-2.0
// The face of the operating system as the fact readers see it, so that tests can put another machine in its place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corridor/measure/machine_facts.h"

namespace corridor::measure {

class MachineReader {
 public:
  virtual ~MachineReader() = default;

  /// Text of a small file of /proc or /sys (the first 8 MiB); empty when it cannot be read.
  [[nodiscard]] virtual std::optional<std::string> read_file(const std::string& path) const = 0;
  /// Names of the entries of a folder, sorted; empty when it cannot be read.
  [[nodiscard]] virtual std::vector<std::string> list_folder(const std::string& path) const = 0;
  /// Capacity of one data cache of a level as the C library knows it; empty when it does not.
  [[nodiscard]] virtual std::optional<units::Bytes> cache_size(int level) const = 0;
  /// Logical processors this process may run on; at least 1.
  [[nodiscard]] virtual int allowed_cpus() const = 0;
  /// NVIDIA GPUs as the driver's library names them; empty optional when that library is absent.
  [[nodiscard]] virtual std::optional<GpuSearch> ask_cuda() const = 0;

 protected:
  MachineReader() = default;
  MachineReader(const MachineReader&) = default;
  MachineReader& operator=(const MachineReader&) = default;
};

/// The real machine.
[[nodiscard]] std::unique_ptr<MachineReader> system_reader();

}  // namespace corridor::measure
