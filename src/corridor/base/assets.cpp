// SPDX-License-Identifier: Apache-2.0
// Assets: the embedded table, with files of an override folder laid over it.
#include "corridor/base/assets.h"

#include <algorithm>

#include "corridor/base/embedded.h"
#include "corridor/base/file.h"

namespace corridor {

Result<Assets> Assets::open(std::optional<std::string> folder) {
  Assets assets;
  for (const EmbeddedFile& file : embedded_files()) {
    assets.files_.push_back({std::string(file.path), file.text, {}, {}});
  }
  if (folder) {
    if (!is_folder(*folder)) {
      return fail(exists(*folder) ? "not a folder" : "no such folder", "--data " + *folder,
                  "give a folder that holds devices/, models/, engines/ or kernels/");
    }
    for (const char* sub : {"devices", "models", "engines", "kernels"}) {
      for (const std::string& entry : folder_entries(*folder + "/" + sub)) {
        const std::string path = std::string(sub) + "/" + entry;
        std::erase_if(assets.files_, [&](const File& file) { return file.path == path; });
        assets.files_.push_back({path, {}, *folder + "/" + path, {}});
      }
    }
  }
  std::sort(assets.files_.begin(), assets.files_.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return assets;
}

Result<std::string_view> Assets::read(const std::string& path) const {
  const auto found = std::lower_bound(files_.begin(), files_.end(), path,
                                      [](const File& file, const std::string& wanted) { return file.path < wanted; });
  if (found == files_.end() || found->path != path) return fail("no such data file", path);
  if (found->on_disk.empty()) return found->embedded;
  if (!found->loaded) {
    Result<std::string> text = read_text_file(found->on_disk);
    if (!text) return tl::unexpected(text.error());
    found->loaded = std::move(*text);
  }
  return std::string_view(*found->loaded);
}

std::vector<std::string> Assets::list(std::string_view folder) const {
  std::vector<std::string> paths;
  for (const File& file : files_) {
    const std::string_view path = file.path;
    if (path.size() <= folder.size() + 1 || !path.starts_with(folder) || path[folder.size()] != '/') continue;
    if (path.find('/', folder.size() + 1) == std::string_view::npos) paths.emplace_back(path);
  }
  return paths;
}

std::string Assets::describe(const std::string& path) const {
  for (const File& file : files_) {
    if (file.path == path && !file.on_disk.empty()) return file.on_disk;
  }
  return "data/" + path + " (built in)";
}

}  // namespace corridor
