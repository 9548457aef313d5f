// SPDX-License-Identifier: Apache-2.0
// Words for the driver's codes; the advice is ours, the name and the sentence are the driver's.
#include "corridor/measure/cuda/driver_error.h"

#include <fmt/format.h>

#include <iterator>

#include "corridor/measure/text_scan.h"

namespace corridor::measure::cuda {
namespace {

struct Advice {
  Status status;
  const char* text;
};

constexpr const char* older_nvrtc =
    "this driver cannot load the code: update the driver, or name an older compiler with CORRIDOR_NVRTC=FOLDER";

constexpr Advice advices[] = {
    {out_of_memory, "close other programs that use this GPU (nvidia-smi lists them)"},
    {no_device,
     "the driver shows no GPU to this process: look at CUDA_VISIBLE_DEVICES and at the container's GPU access"},
    {invalid_device, "there is no GPU of this number: nvidia-smi lists them"},
    {no_binary_for_gpu, older_nvrtc},
    {invalid_ptx, older_nvrtc},
    {unsupported_ptx_version, older_nvrtc},
    {operating_system, "the system refused: are the files /dev/nvidia* open to this user?"},
    {illegal_address, "this GPU must be released: end the program and start it again"},
    {launch_timeout, "the display watchdog stopped a kernel: measure on a GPU that drives no screen"},
    {not_permitted, "this user may not use the GPU: ask for access to the files /dev/nvidia*"},
    {system_not_ready, "the GPU is not ready: on NVSwitch machines nvidia-fabricmanager must run"},
    {driver_mismatch, "the driver's library and its kernel module differ: restart the machine or reinstall the driver"},
};

const char* advice(Status status) {
  for (const Advice& entry : advices) {
    if (entry.status == status) return entry.text;
  }
  return "";
}

}  // namespace

Error driver_error(const DriverApi& api, Status status, std::string_view call, std::string_view where) {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (api.get_error_name != nullptr && api.get_error_name(status, &name) != success) name = nullptr;
  if (api.get_error_string != nullptr && api.get_error_string(status, &sentence) != success) sentence = nullptr;
  std::string what = fmt::format("{} failed: {} ({})", call, name == nullptr ? "error" : clean_name(name), status);
  if (sentence != nullptr) what += ", " + clean_name(sentence);
  return {std::move(what), std::string(where), advice(status)};
}

}  // namespace corridor::measure::cuda
