// SPDX-License-Identifier: Apache-2.0
// One program at a time through NVRTC; the program object is destroyed on every path.
#include "corridor/measure/cuda/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/base/assets.h"

namespace corridor::measure::cuda {
namespace {

constexpr std::size_t most_log_bytes = 2000;  // a message, not a listing
constexpr std::size_t most_code_bytes = 256U << 20U;

class ProgramGuard {
 public:
  explicit ProgramGuard(const NvrtcApi& nvrtc) : nvrtc_(nvrtc) {}
  ProgramGuard(const ProgramGuard&) = delete;
  ProgramGuard& operator=(const ProgramGuard&) = delete;
  ~ProgramGuard() {
    if (program_ != nullptr) nvrtc_.destroy_program(&program_);
  }
  Program* place() { return &program_; }
  [[nodiscard]] Program get() const { return program_; }

 private:
  const NvrtcApi& nvrtc_;
  Program program_ = nullptr;
};

std::string words(const NvrtcApi& nvrtc, Status status) {
  const char* text = nvrtc.get_error_string(status);
  return text == nullptr ? fmt::format("error {}", status) : fmt::format("{} ({})", text, status);
}

/// The log on one line, cut to a message's length.
std::string log_of(const NvrtcApi& nvrtc, Program program) {
  std::size_t size = 0;
  if (nvrtc.get_log_size(program, &size) != success || size <= 1 || size > most_code_bytes) return {};
  std::string log(size, '\0');
  if (nvrtc.get_log(program, log.data()) != success) return {};
  log.resize(std::min(log.find('\0'), most_log_bytes));
  for (char& c : log) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return log;
}

Result<std::vector<char>> code_of(const NvrtcApi& nvrtc, Program program, bool machine_code) {
  std::size_t size = 0;
  Status status = machine_code ? nvrtc.get_cubin_size(program, &size) : nvrtc.get_ptx_size(program, &size);
  if (status == success && (size == 0 || size > most_code_bytes)) {
    return fail(fmt::format("NVRTC gave {} bytes of code", size), "NVRTC");
  }
  std::vector<char> code(size);
  if (status == success) {
    status = machine_code ? nvrtc.get_cubin(program, code.data()) : nvrtc.get_ptx(program, code.data());
  }
  if (status != success) return fail("no code from NVRTC: " + words(nvrtc, status), "NVRTC");
  return code;
}

}  // namespace

Result<std::string> kernel_source(std::string_view file) {
  const Result<Assets> assets = Assets::open();
  if (!assets) return tl::unexpected(assets.error());
  const Result<std::string_view> text = assets->read(std::string(file));
  if (!text) return tl::unexpected(text.error());
  return std::string(*text);
}

Result<Target> target_for(const NvrtcApi& nvrtc, int major, int minor) {
  int count = 0;
  constexpr int most_archs = 1000;
  Status status = nvrtc.get_num_supported_archs(&count);
  std::vector<int> archs(static_cast<std::size_t>(std::clamp(count, 0, most_archs)));
  if (status == success && count > 0 && count <= most_archs) status = nvrtc.get_supported_archs(archs.data());
  if (status != success || archs.empty()) {
    return fail("NVRTC does not tell what it compiles for: " + words(nvrtc, status), "NVRTC");
  }
  const int wanted = major * 10 + minor;
  int newest_older = 0;
  for (const int arch : archs) {
    if (arch <= wanted) newest_older = std::max(newest_older, arch);
  }
  if (newest_older == 0) {
    return fail(fmt::format("this NVRTC ({}) compiles for sm_{} and newer; the GPU is sm_{}", nvrtc_version(nvrtc),
                            *std::min_element(archs.begin(), archs.end()), wanted),
                "NVRTC", "name an older one with CORRIDOR_NVRTC=FOLDER (CUDA 12 for sm_50 to sm_72)");
  }
  constexpr int hopper = 90;
  if (newest_older == wanted) {
    return Target{fmt::format("sm_{}{}", wanted, wanted == hopper ? "a" : ""), true};
  }
  return Target{fmt::format("compute_{}", newest_older), false};
}

Result<std::vector<char>> compile(const NvrtcApi& nvrtc, const std::string& source, const std::string& name,
                                  const Target& target, const std::vector<std::string>& more) {
  ProgramGuard program(nvrtc);
  Status status = nvrtc.create_program(program.place(), source.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (status != success) return fail("NVRTC takes no program: " + words(nvrtc, status), name);
  const std::string architecture = "--gpu-architecture=" + target.architecture;
  std::vector<const char*> options{architecture.c_str()};
  for (const std::string& option : more) options.push_back(option.c_str());
  status = nvrtc.compile_program(program.get(), static_cast<int>(options.size()), options.data());
  if (status != success) {
    return fail(fmt::format("NVRTC {} does not compile it for {}: {}: {}", nvrtc_version(nvrtc), target.architecture,
                            words(nvrtc, status), log_of(nvrtc, program.get())),
                name, "name another NVRTC with CORRIDOR_NVRTC=FOLDER");
  }
  return code_of(nvrtc, program.get(), target.machine_code);
}

std::string nvrtc_version(const NvrtcApi& nvrtc) {
  int major = 0, minor = 0;
  if (nvrtc.version(&major, &minor) != success) return {};
  return fmt::format("{}.{}", major, minor);
}

}  // namespace corridor::measure::cuda
