// SPDX-License-Identifier: Apache-2.0
// Chooses the device: the first GPU the catalogue knows, else the processor, known or described from facts.
#include "corridor/measure/local_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "corridor/base/lower.h"
#include "corridor/measure/cpu_device.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using hardware::Device;
using hardware::ResolvedDevice;

constexpr double memory_tolerance = 0.08;  // drivers keep some percent back; variants differ by a quarter or more
constexpr double busy_share = 0.5;         // of the processors in use before the measurement started
constexpr double gibi = 1024.0 * 1024.0 * 1024.0;

/// A name as find_device should see it: "w/" must not look like a path.
std::string without_slashes(std::string name) {
  std::replace(name.begin(), name.end(), '/', ' ');
  return name;
}

bool memory_agrees(const Device& device, const GpuFact& gpu) {
  if (!gpu.memory || !device.memory_capacity) return true;
  const double listed = device.memory_capacity->value.value();
  return std::abs(gpu.memory->value() - listed) <= memory_tolerance * listed;
}

}  // namespace

/// A size behind the name chooses among variants that share it.
std::optional<ResolvedDevice> find_gpu(const Assets& assets, const GpuFact& gpu) {
  const std::string name = without_slashes(gpu.name);
  Result<ResolvedDevice> found = hardware::find_device(assets, name);
  if (found && found->device.kind == hardware::DeviceKind::cpu) found = fail("names a processor", name);
  if (found && memory_agrees(found->device, gpu)) return std::move(*found);
  if (gpu.memory) {
    const std::string sized = fmt::format("{} {:.0f}GB", name, std::round(gpu.memory->value() / gibi));
    Result<ResolvedDevice> variant = hardware::find_device(assets, sized);
    if (variant && memory_agrees(variant->device, gpu)) return std::move(*variant);
  }
  if (!found) return std::nullopt;
  return std::move(*found);
}

namespace {

/// Takes the first known GPU into `machine`; names the unknown ones. True when one was taken.
bool take_gpu(const Assets& assets, const Prober& prober, LocalMachine& machine) {
  for (const GpuFact& gpu : machine.facts.gpu_search.gpus) {
    std::optional<ResolvedDevice> found = find_gpu(assets, gpu);
    if (!found) {
      machine.notes.push_back(
          fmt::format("GPU {} is not in the catalogue; a device file given to --device would "
                      "describe it",
                      gpu.name));
      continue;
    }
    machine.device = std::move(found->device);
    if (!found->note.empty()) machine.notes.push_back(found->note);
    if (!memory_agrees(machine.device, gpu)) {
      machine.notes.push_back(fmt::format("the driver tells {} of memory, the catalogue {}: the driver's is used",
                                          units::print(*gpu.memory),
                                          units::print(machine.device.memory_capacity->value)));
      machine.device.memory_capacity = {*gpu.memory, hardware::Basis::measured, "read by corridor on this machine",
                                        prober.today(), "told by the driver"};
    }
    const auto same = std::count_if(machine.facts.gpu_search.gpus.begin(), machine.facts.gpu_search.gpus.end(),
                                    [&](const GpuFact& other) { return other.name == gpu.name; });
    if (same > 1) machine.notes.push_back(fmt::format("{} GPUs of this kind are here; the numbers are for one", same));
    return true;
  }
  return false;
}

/// Names under which the catalogue may know the processor, best first.
std::vector<std::string> cpu_names(const MachineFacts& facts) {
  std::vector<std::string> names = {facts.cpu_name};
  if (!facts.board.empty()) {
    names.push_back(facts.board);
    names.push_back(facts.board.substr(0, facts.board.find(" Model")));
  }
  std::string name = facts.cpu_name.substr(0, facts.cpu_name.find(" @"));  // "… CPU @ 2.00GHz"
  names.push_back(name);
  for (const char* words : {" Processor", " CPU", "-Core"}) {  // "16-Core Processor" loses its number as well
    const std::size_t at = name.rfind(words);
    if (at != std::string::npos) name.resize(at);
  }
  while (!name.empty() && name.back() >= '0' && name.back() <= '9' && name.size() < facts.cpu_name.size() &&
         facts.cpu_name.compare(name.size(), 5, "-Core") == 0) {
    name.pop_back();
  }
  names.push_back(name);
  for (std::string& each : names) each = without_slashes(each);
  return names;
}

/// The processor in the catalogue, by the first of its names that is known.
std::optional<Device> find_cpu(const Assets& assets, const MachineFacts& facts) {
  for (const std::string& name : cpu_names(facts)) {
    Result<ResolvedDevice> found = hardware::find_device(assets, name);
    if (found && found->device.kind == hardware::DeviceKind::cpu) return std::move(found->device);
  }
  return std::nullopt;
}

Measured measure_cpu(const MachineFacts& facts, const Prober& prober, std::vector<std::string>& notes) {
  Measured measured;
  measured.date = prober.today();
  BandwidthRequest request;
  request.last_level_cache = facts.last_level_cache();
  request.memory_available = facts.memory_available.value_or(facts.memory.value_or(units::Bytes{}));
  request.threads = facts.usable_cpus;
  const Result<ReadBandwidth> bandwidth = prober.read_bandwidth(request);
  if (bandwidth)
    measured.bandwidth = *bandwidth;
  else
    notes.push_back(bandwidth.error().line());
  const Result<FmaPeak> fma = prober.fma_peak(facts.usable_cpus);
  if (fma)
    measured.fma = *fma;
  else
    notes.push_back(fma.error().line());
  return measured;
}

}  // namespace

bool names_this_machine(std::string_view name) {
  const std::string word = lower(name);
  return word == "local" || word == "this machine" || word == "this-machine";
}

Result<LocalMachine> look_at_machine(const Assets& assets, const MachineReader& reader, const Prober& prober) {
  LocalMachine machine;
  machine.facts = read_machine_facts(reader);
  if (!machine.facts.gpu_search.note.empty()) machine.notes.push_back(machine.facts.gpu_search.note);
  if (take_gpu(assets, prober, machine)) return machine;

  const Measured measured = measure_cpu(machine.facts, prober, machine.notes);
  machine.bandwidth = measured.bandwidth;
  if (measured.bandwidth && measured.bandwidth->near_cache) {
    machine.notes.push_back(
        fmt::format("The {} read are less than twice the last-level cache ({}): a part may have "
                    "come from it",
                    units::print(measured.bandwidth->buffer), units::print(machine.facts.last_level_cache())));
  }
  const std::optional<double> load = machine.facts.load;
  if (measured.bandwidth && load && *load > busy_share * machine.facts.usable_cpus) {
    machine.notes.push_back(
        fmt::format("Other programs keep this machine busy (load {:.1f} on {} processors): the "
                    "measured numbers are lower than it can reach",
                    *load, machine.facts.usable_cpus));
  }
  machine.fma = measured.fma;
  std::optional<Device> known = find_cpu(assets, machine.facts);
  if (known) {
    machine.notes.push_back(fmt::format("Processor taken as {}", known->id));
    machine.device = cpu_from_catalogue(std::move(*known), machine.facts, measured, machine.notes);
  } else {
    machine.notes.push_back(fmt::format("{} is not in the catalogue: described by what was read and measured here",
                                        machine.facts.cpu_name));
    machine.device = cpu_from_facts(machine.facts, measured);
  }
  if (!machine.device.memory_bandwidth) {
    return fail("the memory bandwidth of this machine could not be measured", "this machine",
                "name a device with --device (corridor devices lists them)");
  }
  return machine;
}

Result<LocalMachine> look_at_this_machine(const Assets& assets) {
  return look_at_machine(assets, *system_reader(), *system_prober());
}

Result<ResolvedDevice> local_device(const Assets& assets) {
  Result<LocalMachine> machine = look_at_this_machine(assets);
  if (!machine) return tl::unexpected(machine.error());
  ResolvedDevice out{std::move(machine->device), {}};
  for (const std::string& note : machine->notes) out.note += (out.note.empty() ? "" : "; ") + note;
  return out;
}

}  // namespace corridor::measure
