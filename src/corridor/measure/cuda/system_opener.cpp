// SPDX-License-Identifier: Apache-2.0
// The real machine behind LibraryOpener: dlopen, folders and the environment.
#include <dlfcn.h>

#include <cstdlib>

#include "corridor/base/file.h"
#include "corridor/measure/cuda/libraries.h"

namespace corridor::measure::cuda {
namespace {

class SystemOpener : public LibraryOpener {
 public:
  /// Never closed: see find_cuda_libraries.
  [[nodiscard]] void* open(const std::string& path) override { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
  [[nodiscard]] void* symbol(void* library, const char* name) override { return dlsym(library, name); }
  [[nodiscard]] std::vector<std::string> list(const std::string& folder) override { return folder_entries(folder); }
  [[nodiscard]] std::string environment(const char* name) override {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
  }
};

}  // namespace

Result<CudaLibraries> find_cuda_libraries() {
  SystemOpener opener;
  return find_cuda_libraries(opener);
}

Found<DriverApi> find_driver() {
  SystemOpener opener;
  return find_driver(opener);
}

Found<NvrtcApi> find_nvrtc() {
  SystemOpener opener;
  return find_nvrtc(opener, 0);
}

}  // namespace corridor::measure::cuda
