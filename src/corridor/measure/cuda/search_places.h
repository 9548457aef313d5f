// SPDX-License-Identifier: Apache-2.0
// Where NVIDIA's libraries may lie: the loader's own search path, then the folders of packages, wheels and containers.
#pragma once

#include <string>
#include <vector>

#include "corridor/measure/cuda/libraries.h"

namespace corridor::measure::cuda {

struct Place {
  std::string path;                  ///< a bare name or a file
  std::vector<std::string> helpers;  ///< files to be opened first (wheels carry no search path of their own)
};

struct Search {
  std::vector<Place> places;  ///< in the order in which they are tried
  std::string looked_in;      ///< the folders, for a message
};

[[nodiscard]] Search driver_places(LibraryOpener& opener);
[[nodiscard]] Search nvml_places(LibraryOpener& opener);
[[nodiscard]] Search nvrtc_places(LibraryOpener& opener);
/// `driver_major`: only versions up to it are tried (0: all).
[[nodiscard]] Search blas_places(LibraryOpener& opener, int driver_major);

}  // namespace corridor::measure::cuda
