// SPDX-License-Identifier: Apache-2.0
// Finds NVIDIA's libraries at run time: the driver (needed), the compiler NVRTC (needed to measure), NVML and cuBLASLt
// (optional). Each is looked for by name, then in the folders where packages, wheels and containers put it.
//
//   CORRIDOR_NVRTC=/opt/cuda/lib64 corridor measure --on cuda:0     // a folder or a file; taken before all others
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/api.h"

namespace corridor::measure::cuda {

/// How libraries are opened, so that tests can answer in the system's place.
class LibraryOpener {
 public:
  LibraryOpener() = default;
  LibraryOpener(const LibraryOpener&) = delete;
  LibraryOpener& operator=(const LibraryOpener&) = delete;
  virtual ~LibraryOpener() = default;
  /// A handle, or null. `path` is a bare name (the loader's search path) or a file.
  [[nodiscard]] virtual void* open(const std::string& path) = 0;
  [[nodiscard]] virtual void* symbol(void* library, const char* name) = 0;
  /// Names in a folder, sorted; empty when there is none.
  [[nodiscard]] virtual std::vector<std::string> list(const std::string& folder) = 0;
  [[nodiscard]] virtual std::string environment(const char* name) = 0;
};

/// An optional library: the table when it is there, and else why not.
template <class Api>
struct Found {
  std::optional<Api> api;
  std::string path;     ///< where it was found
  std::string missing;  ///< "libnvrtc was not found; looked in …" when `api` is empty
  bool absent = false;  ///< `api` is empty because no such file was found, not because calls are lacking
};

struct CudaLibraries {
  DriverApi driver;
  std::string driver_path;
  Found<NvrtcApi> nvrtc;
  Found<NvmlApi> nvml;
  Found<BlasApi> blas;
};

/// Fails when libcuda.so.1 is not found (the message lists where it was looked for) or lacks a needed call. Libraries
/// stay open until the program ends: the driver keeps threads of its own that do not survive an unload.
[[nodiscard]] Result<CudaLibraries> find_cuda_libraries();
[[nodiscard]] Result<CudaLibraries> find_cuda_libraries(LibraryOpener& opener);

/// The driver alone.
[[nodiscard]] Found<DriverApi> find_driver();
[[nodiscard]] Found<DriverApi> find_driver(LibraryOpener& opener);

/// The compiler alone: kernels compile to PTX without a driver and without a GPU.
[[nodiscard]] Found<NvrtcApi> find_nvrtc();
/// Prefers the newest whose major version the driver (`driver_version` as cuDriverGetVersion counts, 0: none) can load.
[[nodiscard]] Found<NvrtcApi> find_nvrtc(LibraryOpener& opener, int driver_version);

}  // namespace corridor::measure::cuda
