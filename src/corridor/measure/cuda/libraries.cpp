// SPDX-License-Identifier: Apache-2.0
// Tables of functions filled from the libraries that are found; names and folders in the order in which they are tried.
#include "corridor/measure/cuda/libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/measure/cuda/search_places.h"

namespace corridor::measure::cuda {
namespace {

enum class Need { required, optional };

/// Fills the members of one table from one library and notes the first required symbol that is absent.
class Binder {
 public:
  Binder(LibraryOpener& opener, void* library) : opener_(opener), library_(library) {}
  template <class Function>
  void operator()(const char* symbol, Function*& target, Need need = Need::required) {
    target = reinterpret_cast<Function*>(opener_.symbol(library_, symbol));
    if (target == nullptr && need == Need::required && lacking_.empty()) lacking_ = symbol;
  }
  [[nodiscard]] const std::string& lacking() const { return lacking_; }

 private:
  LibraryOpener& opener_;
  void* library_;
  std::string lacking_;
};

void bind_memory(Binder& bind, DriverApi& api) {
  bind("cuMemGetInfo_v2", api.mem_get_info);
  bind("cuMemAlloc_v2", api.mem_alloc);
  bind("cuMemFree_v2", api.mem_free);
  bind("cuMemcpyHtoD_v2", api.memcpy_htod);
  bind("cuMemcpyDtoH_v2", api.memcpy_dtoh);
  bind("cuMemsetD8_v2", api.memset_d8);
}

void bind_streams(Binder& bind, DriverApi& api) {
  bind("cuStreamCreate", api.stream_create);
  bind("cuStreamDestroy_v2", api.stream_destroy);
  bind("cuStreamSynchronize", api.stream_synchronize);
  bind("cuEventCreate", api.event_create);
  bind("cuEventDestroy_v2", api.event_destroy);
  bind("cuEventRecord", api.event_record);
  bind("cuEventSynchronize", api.event_synchronize);
  bind("cuEventElapsedTime", api.event_elapsed_time);
  bind("cuStreamBeginCapture_v2", api.stream_begin_capture, Need::optional);
  bind("cuStreamEndCapture", api.stream_end_capture, Need::optional);
  bind("cuGraphInstantiateWithFlags", api.graph_instantiate, Need::optional);
  bind("cuGraphLaunch", api.graph_launch, Need::optional);
  bind("cuGraphDestroy", api.graph_destroy, Need::optional);
  bind("cuGraphExecDestroy", api.graph_exec_destroy, Need::optional);
}

void bind_all(Binder& bind, DriverApi& api) {
  bind("cuInit", api.init);
  bind("cuDriverGetVersion", api.driver_get_version);
  bind("cuDeviceGetCount", api.device_get_count);
  bind("cuDeviceGet", api.device_get);
  bind("cuDeviceGetName", api.device_get_name);
  bind("cuDeviceGetAttribute", api.device_get_attribute);
  bind("cuDeviceTotalMem_v2", api.device_total_mem);
  bind("cuDeviceGetPCIBusId", api.device_get_pci_bus_id, Need::optional);
  bind("cuDevicePrimaryCtxRetain", api.primary_ctx_retain);
  bind("cuDevicePrimaryCtxRelease_v2", api.primary_ctx_release);
  bind("cuCtxSetCurrent", api.ctx_set_current);
  bind_memory(bind, api);
  bind("cuModuleLoadDataEx", api.module_load_data);
  bind("cuModuleUnload", api.module_unload);
  bind("cuModuleGetFunction", api.module_get_function);
  bind("cuFuncSetAttribute", api.func_set_attribute, Need::optional);
  bind("cuLaunchKernel", api.launch_kernel);
  bind_streams(bind, api);
  bind("cuDeviceCanAccessPeer", api.device_can_access_peer, Need::optional);
  bind("cuCtxEnablePeerAccess", api.ctx_enable_peer_access, Need::optional);
  bind("cuGetErrorName", api.get_error_name);
  bind("cuGetErrorString", api.get_error_string);
}

void bind_all(Binder& bind, NvrtcApi& api) {
  bind("nvrtcVersion", api.version);
  bind("nvrtcGetNumSupportedArchs", api.get_num_supported_archs);
  bind("nvrtcGetSupportedArchs", api.get_supported_archs);
  bind("nvrtcCreateProgram", api.create_program);
  bind("nvrtcDestroyProgram", api.destroy_program);
  bind("nvrtcCompileProgram", api.compile_program);
  bind("nvrtcGetPTXSize", api.get_ptx_size);
  bind("nvrtcGetPTX", api.get_ptx);
  bind("nvrtcGetCUBINSize", api.get_cubin_size);
  bind("nvrtcGetCUBIN", api.get_cubin);
  bind("nvrtcGetProgramLogSize", api.get_log_size);
  bind("nvrtcGetProgramLog", api.get_log);
  bind("nvrtcGetErrorString", api.get_error_string);
}

void bind_all(Binder& bind, NvmlApi& api) {
  bind("nvmlInit_v2", api.init);
  bind("nvmlShutdown", api.shutdown);
  bind("nvmlSystemGetDriverVersion", api.system_get_driver_version);
  bind("nvmlDeviceGetHandleByPciBusId_v2", api.device_by_pci_bus_id);
  bind("nvmlDeviceGetClockInfo", api.clock_mhz, Need::optional);
  bind("nvmlDeviceGetMaxClockInfo", api.max_clock_mhz, Need::optional);
  bind("nvmlDeviceGetEnforcedPowerLimit", api.power_limit_mw, Need::optional);
  bind("nvmlDeviceGetTemperature", api.temperature_c, Need::optional);
  bind("nvmlDeviceGetCurrentClocksThrottleReasons", api.throttle_reasons, Need::optional);
  bind("nvmlDeviceGetUtilizationRates", api.utilization, Need::optional);
}

void bind_all(Binder& bind, BlasApi& api) {
  bind("cublasLtCreate", api.create);
  bind("cublasLtDestroy", api.destroy);
  bind("cublasLtMatmulDescCreate", api.desc_create);
  bind("cublasLtMatmulDescSetAttribute", api.desc_set);
  bind("cublasLtMatmulDescDestroy", api.desc_destroy);
  bind("cublasLtMatrixLayoutCreate", api.layout_create);
  bind("cublasLtMatrixLayoutDestroy", api.layout_destroy);
  bind("cublasLtMatmulPreferenceCreate", api.preference_create);
  bind("cublasLtMatmulPreferenceSetAttribute", api.preference_set);
  bind("cublasLtMatmulPreferenceDestroy", api.preference_destroy);
  bind("cublasLtMatmulAlgoGetHeuristic", api.heuristic);
  bind("cublasLtMatmul", api.matmul);
}

/// Opens one file, its helper library first where it has one beside it.
void* open_place(LibraryOpener& opener, const Place& place) {
  for (const std::string& helper : place.helpers) {
    [[maybe_unused]] void* ignored = opener.open(helper);  // kept open: the library asks for it by its bare name
  }
  return opener.open(place.path);
}

/// The first place that opens, holds every required call and is `wanted`; else the first complete one.
template <class Api, class Wanted>
Found<Api> find(LibraryOpener& opener, const std::string& what, const Search& search, const Wanted& wanted) {
  Found<Api> fallback, found;
  std::string lacking;
  for (const Place& place : search.places) {
    void* library = open_place(opener, place);
    if (library == nullptr) continue;
    Api api;
    Binder bind(opener, library);
    bind_all(bind, api);
    if (!bind.lacking().empty()) {
      lacking = fmt::format("{} was found as {} but lacks {}", what, place.path, bind.lacking());
      continue;
    }
    found = {api, place.path, {}, false};
    if (wanted(api)) return found;
    if (!fallback.api) fallback = found;
  }
  if (!fallback.api) {
    fallback.absent = lacking.empty();
    fallback.missing =
        fallback.absent ? fmt::format("{} was not found; looked in {}", what, search.looked_in) : lacking;
  }
  return fallback;
}

constexpr auto any = [](const auto&) { return true; };

}  // namespace

Found<NvrtcApi> find_nvrtc(LibraryOpener& opener, int driver_version) {
  const int driver_major = driver_version / 1000;
  return find<NvrtcApi>(opener, "libnvrtc", nvrtc_places(opener), [&](const NvrtcApi& api) {
    int major = 0, minor = 0;
    return driver_major == 0 || (api.version(&major, &minor) == success && major <= driver_major);
  });
}

Found<DriverApi> find_driver(LibraryOpener& opener) {
  return find<DriverApi>(opener, "libcuda.so.1", driver_places(opener), any);
}

Result<CudaLibraries> find_cuda_libraries(LibraryOpener& opener) {
  const Found<DriverApi> driver = find_driver(opener);
  if (!driver.api) {
    return fail(driver.missing, "NVIDIA driver",
                "install NVIDIA's driver, or start the container with GPU access; without a GPU use --on cpu");
  }
  CudaLibraries libraries;
  libraries.driver = *driver.api;
  libraries.driver_path = driver.path;
  int version = 0;
  if (libraries.driver.driver_get_version(&version) != success) version = 0;
  libraries.nvrtc = find_nvrtc(opener, version);
  libraries.nvml = find<NvmlApi>(opener, "libnvidia-ml.so.1", nvml_places(opener), any);
  libraries.blas = find<BlasApi>(opener, "libcublasLt", blas_places(opener, version / 1000), any);
  return libraries;
}

}  // namespace corridor::measure::cuda
