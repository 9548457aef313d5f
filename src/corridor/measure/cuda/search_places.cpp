// SPDX-License-Identifier: Apache-2.0
// Folders of the driver, of the CUDA toolkit, of Python wheels and of conda, newest version first.
#include "corridor/measure/cuda/search_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace corridor::measure::cuda {
namespace {

constexpr const char* loader_path = "the loader's search path (LD_LIBRARY_PATH, ld.so.cache)";

std::string inside(const std::string& folder, const std::string& file) {
  return fmt::format("{}/{}", folder, file);
}

/// Folders of the driver's own libraries: distributions, WSL, managed container hosts, NixOS.
std::vector<std::string> driver_folders() {
  return {"/usr/lib/x86_64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu",
          "/usr/lib64",
          "/usr/lib/wsl/lib",
          "/usr/local/nvidia/lib64",
          "/run/opengl-driver/lib",
          "/usr/lib/aarch64-linux-gnu/nvidia"};
}

void add_if(std::vector<std::string>& folders, const std::string& root, const std::string& below) {
  if (!root.empty()) folders.push_back(root + below);
}

/// site-packages/nvidia/*/lib of one Python installation.
void add_wheels(LibraryOpener& opener, std::vector<std::string>& folders, const std::string& library_folder) {
  for (const std::string& python : opener.list(library_folder)) {
    if (!python.starts_with("python3")) continue;
    for (const char* packages : {"/site-packages/nvidia", "/dist-packages/nvidia"}) {
      const std::string root = fmt::format("{}/{}{}", library_folder, python, packages);
      std::vector<std::string> parts = opener.list(root);
      std::reverse(parts.begin(), parts.end());  // cu13 … cuda_nvrtc, cublas
      for (const std::string& part : parts) folders.push_back(fmt::format("{}/{}/lib", root, part));
    }
  }
}

/// Folders of the toolkit, then of wheels, then of conda.
std::vector<std::string> toolkit_folders(LibraryOpener& opener) {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    add_if(folders, opener.environment(name), "/lib64");
    add_if(folders, opener.environment(name), "/lib");
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  std::vector<std::string> versions = opener.list("/usr/local");
  std::reverse(versions.begin(), versions.end());
  for (const std::string& version : versions) {
    if (version.starts_with("cuda-")) folders.push_back("/usr/local/" + version + "/lib64");
  }
  folders.emplace_back("/opt/cuda/lib64");
  for (const std::string& root : {opener.environment("VIRTUAL_ENV"), opener.environment("CONDA_PREFIX")}) {
    if (root.empty()) continue;
    add_wheels(opener, folders, root + "/lib");
    folders.push_back(root + "/lib");
  }
  if (const std::string home = opener.environment("HOME"); !home.empty()) {
    add_wheels(opener, folders, home + "/.local/lib");
  }
  add_wheels(opener, folders, "/usr/local/lib");
  add_wheels(opener, folders, "/usr/lib");
  return folders;
}

/// Bare names first, then every file of a folder that is one of the names.
Search search_for(LibraryOpener& opener, const std::vector<std::string>& names, const std::vector<std::string>& folders,
                  const std::string& helper_stem) {
  Search search;
  for (const std::string& name : names) search.places.push_back({name, {}});
  search.looked_in = loader_path;
  for (const std::string& folder : folders) {
    search.looked_in += ", " + folder;
    const std::vector<std::string> files = opener.list(folder);
    Place place;
    for (const std::string& file : files) {
      if (!helper_stem.empty() && file.starts_with(helper_stem)) place.helpers.push_back(inside(folder, file));
    }
    for (const std::string& name : names) {
      if (std::find(files.begin(), files.end(), name) == files.end()) continue;
      place.path = inside(folder, name);
      search.places.push_back(place);
    }
  }
  return search;
}

/// What a variable names goes before all else: a folder (its libraries) or a file.
void put_first(LibraryOpener& opener, Search& search, const char* variable, const std::vector<std::string>& names,
               const std::string& helper_stem) {
  const std::string given = opener.environment(variable);
  if (given.empty()) return;
  Search first = search_for(opener, names, {given}, helper_stem);
  std::erase_if(first.places, [](const Place& place) { return place.path.find('/') == std::string::npos; });
  if (first.places.empty()) {
    Place file{given, {}};
    const std::string folder = given.substr(0, given.find_last_of('/'));
    for (const std::string& name : opener.list(folder)) {
      if (!helper_stem.empty() && name.starts_with(helper_stem)) file.helpers.push_back(inside(folder, name));
    }
    first.places.push_back(std::move(file));
  }
  search.places.insert(search.places.begin(), first.places.begin(), first.places.end());
  search.looked_in = fmt::format("{}={}, {}", variable, given, search.looked_in);
}

}  // namespace

Search driver_places(LibraryOpener& opener) {
  return search_for(opener, {"libcuda.so.1"}, driver_folders(), {});
}

Search nvml_places(LibraryOpener& opener) {
  return search_for(opener, {"libnvidia-ml.so.1"}, driver_folders(), {});
}

Search nvrtc_places(LibraryOpener& opener) {
  const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
  const std::string helper = "libnvrtc-builtins.so";
  Search search = search_for(opener, names, toolkit_folders(opener), helper);
  put_first(opener, search, "CORRIDOR_NVRTC", names, helper);
  return search;
}

Search blas_places(LibraryOpener& opener, int driver_major) {
  std::vector<std::string> names;
  for (const int major : {13, 12, 11}) {
    if (driver_major == 0 || major <= driver_major) names.push_back(fmt::format("libcublasLt.so.{}", major));
  }
  return search_for(opener, names, toolkit_folders(opener), {});
}

}  // namespace corridor::measure::cuda
