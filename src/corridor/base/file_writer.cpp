// SPDX-License-Identifier: Apache-2.0
// A temporary neighbour, renamed when it is whole.
#include "corridor/base/file_writer.h"

#include <filesystem>
#include <fstream>

#include "corridor/base/file.h"

namespace corridor {

struct FileWriter::State {
  std::string path, written_path;
  std::ofstream out;
  bool finished = false;

  ~State() {
    if (finished || written_path == path) return;
    out.close();
    std::error_code ignored;
    std::filesystem::remove(written_path, ignored);
  }
};

FileWriter::FileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileWriter::FileWriter(FileWriter&& other) noexcept = default;
FileWriter& FileWriter::operator=(FileWriter&& other) noexcept = default;
FileWriter::~FileWriter() = default;

Result<FileWriter> FileWriter::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  const bool in_place = path.starts_with("/dev/");
  if (!in_place && exists(path) && !is_file(path)) {
    return fail("not a regular file", path, "give the name of a new file or of one to replace");
  }
  state->written_path = in_place ? path : path + ".part";
  if (in_place) {
    if (Result<std::size_t> may = write_text_file(path, ""); !may) return tl::unexpected(may.error());
  }
  state->out.open(state->written_path, std::ios::binary | std::ios::trunc);
  if (!state->out) return fail("cannot write", path, "check the folder and its permissions");
  return FileWriter(std::move(state));
}

Result<int> FileWriter::write(std::string_view bytes) {
  state_->out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!state_->out) return fail("cannot write", state_->path, "is the disk full?");
  return 0;
}

Result<int> FileWriter::finish() {
  state_->out.close();
  if (!state_->out) return fail("cannot write", state_->path, "is the disk full?");
  if (state_->written_path != state_->path) {
    std::error_code failed;
    std::filesystem::rename(state_->written_path, state_->path, failed);
    if (failed) return fail("cannot write", state_->path, "check the folder and its permissions");
  }
  state_->finished = true;
  return 0;
}

}  // namespace corridor
