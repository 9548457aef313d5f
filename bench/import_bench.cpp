// SPDX-License-Identifier: Apache-2.0
// Reads a synthetic trace of the PyTorch profiler: MB/s and memory of our reader beside two JSON readers that keep the
// whole document.
//
//   import_bench [--mb 256] [--file TRACE]
//
//   reader                       CPU s    MB/s   anonymous MiB   × ours
//   corridor                      0.39     660              64     1.00
//   nlohmann::json                7.83      33            1610    20.17
//   python3 json.load             9.15      28             956    23.57
//
// Each reader runs in a process of its own, one after the other; the pages of the file count for none of them. Python
// is left out where it is not installed, and the two others where the file has more than 1 GB.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/base/file.h"
#include "corridor/profile/kineto/read_kineto.h"

namespace {

constexpr double mb = 1e6;

/// What one reader took.
struct Cost {
  bool ran = false;
  double cpu_s = 0, anonymous_bytes = 0;
};

/// One step of a decode loop: operations, launches, kernels, Python functions and arrows, as the profiler writes them.
std::string synthetic_event(std::size_t i) {
  const double ts = 1e12 + static_cast<double>(i) * 3.7;
  const std::size_t id = i / 5 + 1;
  switch (i % 5) {
    case 0:
      return fmt::format(
          R"({{"ph": "X", "cat": "cpu_op", "name": "aten::{}", "pid": 6583, "tid": 6583, "ts": {:.3f}, "dur": 21.337, )"
          R"("args": {{"External id": {}, "Record function id": 0, "Concrete Inputs": ["", "", ""], "Input type": )"
          R"(["c10::BFloat16", "c10::BFloat16", ""], "Input Strides": [[4096, 1], [1, 4096], []], "Input Dims": )"
          R"([[{}, 4096], [4096, 4096], []], "Ev Idx": {}}}}})",
          id % 3 == 0 ? "mm" : "mul", ts, id, id % 64 + 1, i);
    case 1:
      return fmt::format(
          R"({{"ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py({}): _call_impl", "pid": 6583, )"
          R"("tid": 6583, "ts": {:.3f}, "dur": 44.041, "args": {{"Python parent id": {}, "Python id": {}, "Ev Idx": {}}}}})",
          id % 2000, ts, i - 1, i, i);
    case 2:
      return fmt::format(
          R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 6583, "tid": 6583, "ts": {:.3f}, )"
          R"("dur": 5.121, "args": {{"External id": {}, "cbid": 211, "correlation": {}}}}})",
          ts, id, id);
    case 3:
      return fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, )"
          R"(at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16>, std::array<char*, 3ul> >", "pid": 0, )"
          R"("tid": 7, "ts": {:.3f}, "dur": 9.344, "args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, )"
          R"("stream": 7, "correlation": {}, "registers per thread": 32, "shared memory": 0, "blocks per SM": 13.27, )"
          R"("warps per SM": 53.09, "grid": [{}, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 65}}}})",
          ts, id, id, id % 512 + 1);
    default:
      return fmt::format(
          R"({{"ph": "f", "id": {}, "pid": 0, "tid": 7, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g", "bp": "e"}})", id,
          ts);
  }
}

bool write_trace(const std::string& path, double bytes) {
  std::ofstream out(path, std::ios::binary);
  out << R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}],)"
      << R"( "record_shapes": 1, "traceEvents": [)";
  for (std::size_t i = 0; out && static_cast<double>(out.tellp()) < bytes; ++i) {
    out << (i == 0 ? "\n  " : ",\n  ") << synthetic_event(i);
  }
  out << "\n]}\n";
  return static_cast<bool>(out);
}

/// Anonymous memory of this process now, from the kernel's own account.
double anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) * 1024;
  }
  return 0;
}

/// Runs `work` in a child; its largest anonymous memory is looked up every few milliseconds.
Cost cost_of(const std::function<bool()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<bool> done{false};
    std::atomic<double> most{0};
    std::thread watcher([&] {
      while (!done) {
        most = std::max(most.load(), anonymous_bytes());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    const bool ok = work();
    most = std::max(most.load(), anonymous_bytes());
    done = true;
    watcher.join();
    const double peak = most;
    const bool told = write(ends[1], &peak, sizeof peak) == static_cast<ssize_t>(sizeof peak);
    _exit(ok && told ? 0 : 1);
  }
  close(ends[1]);
  Cost cost;
  int status = 1;
  rusage used{};
  const bool read_all = read(ends[0], &cost.anonymous_bytes, sizeof(double)) == static_cast<ssize_t>(sizeof(double));
  close(ends[0]);
  cost.ran = child > 0 && wait4(child, &status, 0, &used) == child && status == 0 && read_all;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  cost.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  return cost;
}

bool read_ours(const std::string& path) {
  const auto mapped = corridor::MappedFile::open(path);
  if (!mapped) return false;
  const auto source = corridor::profile::open_bytes(mapped->text(), path);
  const auto trace = corridor::profile::read_kineto(*source, path);
  return trace && !trace->gpu.empty() && anonymous_bytes() > 0;
}

bool read_nlohmann(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const nlohmann::json document = nlohmann::json::parse(in, nullptr, false);
  return document.is_object() && !document["traceEvents"].empty();
}

/// Python's own account of its memory: it is another program, so the watcher cannot see it.
Cost read_python(const std::string& path) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const char* program =
        "import json, sys\n"
        "d = json.load(open(sys.argv[1]))\n"
        "assert d['traceEvents']\n"
        "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('RssAnon')][0])\n";
    execlp("python3", "python3", "-c", program, path.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  char text[64] = {};
  const ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  Cost cost;
  int status = 1;
  rusage used{};
  cost.ran = child > 0 && wait4(child, &status, 0, &used) == child && status == 0 && length > 0;
  cost.anonymous_bytes = std::strtod(text, nullptr) * 1024;
  cost.cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  return cost;
}

void print(const char* reader, const Cost& cost, double bytes, double ours_s) {
  if (!cost.ran) {
    std::printf("%-24s left out: it could not be run here\n", reader);
    return;
  }
  std::printf("%-24s %8.2f %8.0f %14.0f %8.2f\n", reader, cost.cpu_s, bytes / cost.cpu_s / mb,
              cost.anonymous_bytes / (1024.0 * 1024.0), cost.cpu_s / ours_s);
}

}  // namespace

int main(int argc, char** argv) {
  double megabytes = 256;
  std::string given;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--mb") {
      megabytes = std::strtod(argv[i + 1], nullptr);
    } else if (flag == "--file") {
      given = argv[i + 1];
    }
  }
  if (argc % 2 == 0 || (given.empty() && megabytes < 1)) {
    std::fprintf(stderr, "usage: import_bench [--mb 256] [--file TRACE]\n");
    return 2;
  }
  std::string path = given;
  if (given.empty()) {
    std::string pattern = "/tmp/import-bench-XXXXXX";
    const int descriptor = mkstemp(pattern.data());
    if (descriptor < 0 || close(descriptor) != 0 || !write_trace(pattern, megabytes * mb)) return 1;
    path = pattern;
  }
  double bytes = 0;
  {
    const auto mapped = corridor::MappedFile::open(path);
    if (mapped) bytes = static_cast<double>(mapped->text().size());
  }
  const Cost ours = cost_of([&] { return read_ours(path); });
  if (ours.ran) {
    std::printf("%.0f MB of JSON\n%-24s %8s %8s %14s %8s\n", bytes / mb, "reader", "CPU s", "MB/s", "anonymous MiB",
                "x ours");
    print("corridor", ours, bytes, ours.cpu_s);
    constexpr double most_whole = 1e9;  // a document kept whole takes several times its size
    if (bytes <= most_whole) {
      print("nlohmann::json", cost_of([&] { return read_nlohmann(path); }), bytes, ours.cpu_s);
      print("python3 json.load", read_python(path), bytes, ours.cpu_s);
    } else {
      std::printf("nlohmann::json and python3 json.load: left out, the file has more than 1 GB\n");
    }
  }
  if (given.empty()) std::remove(path.c_str());
  return ours.ran ? 0 : 1;
}
