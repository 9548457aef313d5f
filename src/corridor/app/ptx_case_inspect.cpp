// SPDX-License-Identifier: Apache-2.0
// Static facts of a module's kernels, and how many of their blocks each device holds.
#include <algorithm>
#include <utility>

#include "corridor/app/ptx_case.h"
#include "corridor/app/ptx_case_manifest.h"

namespace corridor::app {
namespace {

struct InspectedDevice {
  hardware::Device device;
  ptx::Machine machine;
};

/// Every device of the catalogue that can be simulated, or the one that is named.
Result<std::vector<InspectedDevice>> devices_for(const Assets& assets, const std::string& name) {
  std::vector<InspectedDevice> out;
  const std::vector<std::string> ids = name.empty() ? hardware::device_ids(assets) : std::vector<std::string>{name};
  for (const std::string& id : ids) {
    Result<hardware::ResolvedDevice> device = hardware::find_device(assets, id);
    if (!device) return tl::unexpected(device.error());
    Result<PtxMachine> machine = ptx_machine(device->device);
    if (machine) {
      out.push_back({std::move(device->device), std::move(machine->machine)});
    } else if (!name.empty()) {
      return tl::unexpected(machine.error());
    }
  }
  return out;
}

PtxInspectedKernel inspect_kernel(const ptx::Module& module, const ptx::Function& function,
                                  const std::optional<std::uint32_t>& threads,
                                  const std::vector<InspectedDevice>& devices) {
  constexpr std::uint32_t usual_threads = 256;
  PtxInspectedKernel out{function.name, 0, ptx::static_facts(module, function), {}};
  const std::uint32_t most = function.max_threads.value_or(usual_threads);
  out.threads = threads.value_or(function.required_threads.value_or(std::min(usual_threads, most)));
  const ptx::BlockNeeds needs{out.threads, out.facts.registers, out.facts.static_shared_bytes};
  for (const InspectedDevice& each : devices) {
    PtxInspectedKernel::On on{each.device.id, each.device.name, {}, {}};
    const Result<ptx::Occupancy> occupancy = ptx::occupancy(needs, each.machine);
    if (occupancy) {
      on.occupancy = *occupancy;
    } else {
      on.why_not = occupancy.error().line();
    }
    out.devices.push_back(std::move(on));
  }
  return out;
}

}  // namespace

Result<PtxInspection> inspect_ptx(const Assets& assets, const PtxInspectRequest& request) {
  PtxRequest named;
  named.file = request.file;
  std::string about;
  const Result<PtxRequest> full = complete_ptx(assets, named, about);
  if (!full) return tl::unexpected(full.error());
  Result<PtxSource> source = ptx_source(assets, full->file);
  if (!source) return tl::unexpected(source.error());
  PtxInspection out;
  out.source = std::move(*source);
  const Result<std::vector<InspectedDevice>> devices = devices_for(assets, request.device);
  if (!devices) return tl::unexpected(devices.error());
  const ptx::Module& module = out.source.program->module();
  const ptx::Function* only = nullptr;
  if (!request.kernel.empty()) {
    const auto found = ptx_kernel(module, request.kernel, out.source.file);
    if (!found) return tl::unexpected(found.error());
    only = *found;
  }
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration || (only != nullptr && only != &function)) continue;
    out.kernels.push_back(inspect_kernel(module, function, request.threads, *devices));
  }
  return out;
}

}  // namespace corridor::app
