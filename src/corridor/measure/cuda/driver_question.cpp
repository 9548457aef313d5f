// SPDX-License-Identifier: Apache-2.0
// The driver's table of functions, asked from a thread of its own with a time limit.
#include "corridor/measure/cuda/driver_question.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

constexpr int most_gpus = 64;
constexpr std::chrono::seconds patience{5};  // cuInit takes about a second on a large node without persistence mode

GpuSearch ask(const cuda::DriverApi& driver) {
  GpuSearch search;
  int count = 0;
  cuda::Status status = driver.init(0);
  if (status == cuda::success) status = driver.device_get_count(&count);
  if (status != cuda::success || count <= 0) {
    const bool none = status == cuda::no_device || status == cuda::success;
    search.note = none ? "the NVIDIA driver shows no GPU to this process"
                       : "the NVIDIA driver answers with error " + std::to_string(status);
    return search;
  }
  for (int i = 0; i < std::min(count, most_gpus); ++i) {
    cuda::DeviceHandle device = 0;
    std::array<char, 256> name{};
    if (driver.device_get(&device, i) != cuda::success) continue;
    if (driver.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device) != cuda::success) continue;
    GpuFact gpu{clean_name(name.data()), "NVIDIA", std::nullopt, {}};
    std::size_t bytes = 0;
    if (driver.device_total_mem(&bytes, device) == cuda::success && bytes > 0) {
      gpu.memory = units::Bytes{static_cast<double>(bytes)};
    }
    search.gpus.push_back(std::move(gpu));
  }
  return search;
}

}  // namespace

std::optional<GpuSearch> ask_cuda_driver() {
  const cuda::Found<cuda::DriverApi> driver = cuda::find_driver();
  if (!driver.api && driver.absent) return std::nullopt;
  if (!driver.api) return GpuSearch{{}, driver.missing};

  // A driver in a bad state can wait for ever inside cuInit: ask from a thread that may be left behind.
  try {
    std::packaged_task<GpuSearch()> task([api = *driver.api] { return ask(api); });
    std::future<GpuSearch> answer = task.get_future();
    std::thread(std::move(task)).detach();
    if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
  } catch (const std::system_error&) {
    return ask(*driver.api);  // no thread to be had: ask directly
  } catch (const std::exception&) {
    return GpuSearch{{}, "asking the NVIDIA driver failed for lack of memory"};
  }
  return GpuSearch{{}, "the NVIDIA driver does not answer"};
}

}  // namespace corridor::measure
