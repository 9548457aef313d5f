// SPDX-License-Identifier: Apache-2.0
// Runs nvcc without a shell, its output in a folder of its own that is removed afterwards.
#include "corridor/app/nvcc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "corridor/base/file.h"

extern char** environ;

namespace corridor::app {
namespace {

constexpr std::chrono::minutes longest_compile{10};
constexpr std::chrono::milliseconds between_looks{10};
constexpr std::size_t most_ptx_bytes = 256U << 20U, most_said_bytes = 1U << 20U, longest_line = 300;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// A folder for two files, that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    const std::string given = variable("TMPDIR");
    std::string pattern = (given.empty() ? "/tmp" : given) + "/corridor-nvcc-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    if (path_.empty()) return;
    ::unlink(out().c_str());
    ::unlink(log().c_str());
    ::rmdir(path_.c_str());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] bool exists() const { return !path_.empty(); }
  [[nodiscard]] std::string out() const { return path_ + "/out.ptx"; }
  [[nodiscard]] std::string log() const { return path_ + "/log"; }

 private:
  std::string path_;
};

/// Starts a program with its output in a file; 0 or an error number.
int start(const std::vector<std::string>& words, const std::string& log, pid_t& child) {
  std::vector<char*> arguments;
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  const int failed = posix_spawn(&child, words[0].c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

/// The exit status, or -1 when it had to be stopped or was ended by a signal.
int wait_for(pid_t child) {
  const auto end = std::chrono::steady_clock::now() + longest_compile;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(between_looks);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The first line of a compiler's output that names an error, else its first line.
std::string first_error(const std::string& said) {
  std::string first;
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    const std::string line = said.substr(at, std::min(end - at, longest_line));
    at = end + 1;
    if (first.empty()) first = line;
    if (line.find("error") != std::string::npos) return line;
  }
  return first.empty() ? "it says nothing" : first;
}

}  // namespace

std::string named_nvcc() {
  const std::string given = variable("CORRIDOR_NVCC");
  return is_folder(given) ? given + "/nvcc" : given;
}

std::string program_on_path(std::string_view name) {
  const std::string path = variable("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string file = path.substr(at, end - at) + "/" + std::string(name);
    if (end > at && is_file(file) && ::access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return {};
}

std::string nvcc_on_path() {
  return program_on_path("nvcc");
}

Result<std::string> compile_with_nvcc(const std::string& nvcc, const std::string& source,
                                      const std::string& architecture) {
  const ScratchFolder folder;
  if (!folder.exists()) return fail("no folder for temporary files can be made", source, "set TMPDIR");
  // A leading "-" of a file name is no option.
  const std::string file = source.starts_with("-") ? "./" + source : source;
  pid_t child = 0;
  const int failed =
      start({nvcc, "-ptx", "-arch=" + architecture, "-O3", "-lineinfo", "-o", folder.out(), file}, folder.log(), child);
  if (failed != 0) {
    return fail(fmt::format("cannot be run: {}", std::strerror(failed)), nvcc,
                "name NVIDIA's compiler with CORRIDOR_NVCC=FILE, or give PTX");
  }
  const int status = wait_for(child);
  const std::string said = read_text_file(folder.log(), most_said_bytes).value_or("");
  if (status != 0) {
    return fail(status < 0 ? "nvcc was stopped or ended by a signal" : "nvcc does not compile it: " + first_error(said),
                source, "correct the source, or give PTX");
  }
  Result<std::string> text = read_text_file(folder.out(), most_ptx_bytes);
  if (!text) return fail("nvcc wrote no PTX", source, "run it by hand: nvcc -ptx " + source);
  return text;
}

}  // namespace corridor::app
