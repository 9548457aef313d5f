// SPDX-License-Identifier: Apache-2.0
// dlopen of libcuda.so.1 with our own declarations of the six calls used, and a time limit on its first answer.
#include "corridor/measure/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

// Declarations after the driver API's documentation: every call returns 0 on success.
using Init = int (*)(unsigned flags);
using GetCount = int (*)(int* count);
using GetDevice = int (*)(int* device, int ordinal);
using GetName = int (*)(char* name, int length, int device);
using TotalMemory = int (*)(std::size_t* bytes, int device);

constexpr int no_device = 100;  // CUDA_ERROR_NO_DEVICE
constexpr int most_gpus = 64;
constexpr std::chrono::seconds patience{5};  // cuInit takes about a second on a large node without persistence mode

struct Driver {
  Init init = nullptr;
  GetCount get_count = nullptr;
  GetDevice get_device = nullptr;
  GetName get_name = nullptr;
  TotalMemory total_memory = nullptr;
  [[nodiscard]] bool complete() const { return init && get_count && get_device && get_name && total_memory; }
};

template <class Function>
void load(void* library, const char* symbol, Function& target) {
  target = reinterpret_cast<Function>(dlsym(library, symbol));
}

GpuSearch ask(const Driver& driver) {
  GpuSearch search;
  int count = 0;
  int status = driver.init(0);
  if (status == 0) status = driver.get_count(&count);
  if (status != 0 || count <= 0) {
    const bool none = status == no_device || status == 0;
    search.note = none ? "the NVIDIA driver shows no GPU to this process"
                       : "the NVIDIA driver answers with error " + std::to_string(status);
    return search;
  }
  for (int i = 0; i < count && i < most_gpus; ++i) {
    int device = 0;
    std::array<char, 256> name{};
    if (driver.get_device(&device, i) != 0) continue;
    if (driver.get_name(name.data(), static_cast<int>(name.size()) - 1, device) != 0) continue;
    GpuFact gpu{clean_name(name.data()), "NVIDIA", std::nullopt, {}};
    std::size_t bytes = 0;
    if (driver.total_memory(&bytes, device) == 0 && bytes > 0) gpu.memory = units::Bytes{static_cast<double>(bytes)};
    search.gpus.push_back(std::move(gpu));
  }
  return search;
}

}  // namespace

std::optional<GpuSearch> ask_cuda_driver() {
  // Never closed: the driver keeps threads of its own that do not survive an unload.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Driver driver;
  load(library, "cuInit", driver.init);
  load(library, "cuDeviceGetCount", driver.get_count);
  load(library, "cuDeviceGet", driver.get_device);
  load(library, "cuDeviceGetName", driver.get_name);
  load(library, "cuDeviceTotalMem_v2", driver.total_memory);
  if (!driver.complete()) return GpuSearch{{}, "libcuda.so.1 lacks calls this program needs"};

  // A driver in a bad state can wait for ever inside cuInit: ask from a thread that may be left behind.
  try {
    std::packaged_task<GpuSearch()> task([driver] { return ask(driver); });
    std::future<GpuSearch> answer = task.get_future();
    std::thread(std::move(task)).detach();
    if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
  } catch (const std::system_error&) {
    return ask(driver);  // no thread to be had: ask directly
  } catch (const std::exception&) {
    return GpuSearch{{}, "asking the NVIDIA driver failed for lack of memory"};
  }
  return GpuSearch{{}, "the NVIDIA driver does not answer"};
}

}  // namespace corridor::measure
