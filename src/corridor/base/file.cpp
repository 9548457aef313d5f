// SPDX-License-Identifier: Apache-2.0
// Files by POSIX calls: the one place of the lower floors that touches the disk.
#include "corridor/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace corridor {
namespace {

Error system_error(const std::string& path) {
  return {std::strerror(errno), path, "check the path and its permissions"};
}

/// True when a file may be written there: nothing exists yet, a regular file does, or it is this program's own output.
bool may_be_written(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return true;
  return path == "/dev/stdout" || path == "/dev/stderr" || path == "/dev/null" || path.starts_with("/dev/fd/");
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK the call would wait for somebody to write into a named pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return tl::unexpected(system_error(path));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return fail("not a regular file", path, "give a file, not a folder, pipe or device");
  }
  MappedFile file;
  file.size_ = static_cast<std::size_t>(status.st_size);
  if (file.size_ > 0) {
    void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      file.size_ = 0;
      ::close(descriptor);
      return tl::unexpected(system_error(path));
    }
    file.data_ = static_cast<const char*>(address);
  }
  ::close(descriptor);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::vector<std::string> folder_entries(const std::string& path) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (std::filesystem::directory_iterator it(path, ignored), end; !ignored && it != end; it.increment(ignored)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  if (file->text().size() > max_bytes) {
    return fail("file of " + std::to_string(file->text().size()) + " bytes is larger than the " +
                    std::to_string(max_bytes) + " this kind may have",
                path, "is it the right file?");
  }
  return std::string(file->text());
}

Result<std::size_t> write_text_file(const std::string& path, std::string_view text) {
  if (!may_be_written(path)) {
    return fail("not a regular file", path, "give the name of a new file or of one to replace");
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
  if (!out) return fail("cannot write", path, "check the folder and its permissions");
  return text.size();
}

}  // namespace corridor
