// SPDX-License-Identifier: Apache-2.0
// This machine as a Device: its GPU when the catalogue knows it, else its processor with the bandwidth measured now.
//
//   Result<hardware::ResolvedDevice> here = local_device(assets);
//   here->device.memory_bandwidth->basis   // Basis::measured on a machine without a known GPU
//   here->note                             // "Xeon is not in the catalogue: described from what the system tells; …"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/measure/machine_facts.h"
#include "corridor/measure/machine_reader.h"
#include "corridor/measure/quick_probe.h"

namespace corridor::measure {

/// The names under which `--device` means this machine.
[[nodiscard]] bool names_this_machine(std::string_view name);

/// All that was found out on the way to the device.
struct LocalMachine {
  MachineFacts facts;
  std::optional<ReadBandwidth> bandwidth;  ///< empty when the device is a GPU
  std::optional<FmaPeak> fma;              ///< empty when the device is a GPU
  hardware::Device device;
  std::vector<std::string> notes;  ///< how the device was chosen, one clause each
};

/// Looks at the machine behind `reader`; measures with `prober` only when the answer is a processor. Fails when neither
/// the catalogue nor a measurement gives a memory bandwidth.
[[nodiscard]] Result<LocalMachine> look_at_machine(const Assets& assets, const MachineReader& reader,
                                                   const Prober& prober);

/// The same for this machine.
[[nodiscard]] Result<LocalMachine> look_at_this_machine(const Assets& assets);

/// A GPU of the catalogue by its driver's name; where several share the name, the memory size chooses.
[[nodiscard]] std::optional<hardware::ResolvedDevice> find_gpu(const Assets& assets, const GpuFact& gpu);

/// The device alone, with the notes joined.
[[nodiscard]] Result<hardware::ResolvedDevice> local_device(const Assets& assets);

}  // namespace corridor::measure
