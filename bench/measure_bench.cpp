// SPDX-License-Identifier: Apache-2.0
// Our figures beside what others reach on the same machine in the same minutes: STREAM's loops and a plain sum compiled
// -O3 -march=native, likwid-bench and OpenBLAS when they are installed. Prints the table of bench/README.md.
//
//   build/bench/measure_bench [ROUNDS]      // default 5; everything takes its turn in each round
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/measure/cpu/cpu_probe.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/estimator.h"
#include "corridor/measure/machine_reader.h"
#include "corridor/measure/measure_cpu.h"
#include "corridor/measure/worker_team.h"
#include "native_loops.h"

namespace corridor::bench {
namespace {

using measure::Traffic;
using units::Bytes;
using units::Seconds;

/// One thing that is measured in every round; a negative figure means that it cannot be measured here.
struct Row {
  std::string what, who;
  double scale = 1;
  const char* unit = "";
  std::function<double()> run;
  std::vector<double> figures;
};

/// Lets the calling thread use all processors again while it lives: a team binds its caller, and what other programs
/// and libraries start would inherit the one processor.
class Unbound {
 public:
  explicit Unbound(const std::vector<int>& processors) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &all);
    sched_getaffinity(0, sizeof before_, &before_);
    sched_setaffinity(0, sizeof all, &all);
  }
  Unbound(const Unbound&) = delete;
  Unbound& operator=(const Unbound&) = delete;
  ~Unbound() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

double median(const std::vector<double>& figures) {
  return measure::percentile(figures, 0.5);
}

/// Native loops on bound threads, each on memory that it touched first.
class NativeBench {
 public:
  NativeBench(const std::vector<int>& processors, std::size_t bytes, const measure::Clock& clock)
      : team_(static_cast<int>(processors.size()), processors), clock_(clock) {
    part_ = bytes / 3 / sizeof(double) / static_cast<std::size_t>(team_.size()) / 1024 * 1024;
    memory_ = std::make_unique<measure::Memory>(3 * part_ * sizeof(double) * static_cast<std::size_t>(team_.size()));
    team_.run([&](int i) { std::fill(array(i, 0), array(i, 0) + 3 * part_, 1.0); });
  }
  [[nodiscard]] double rate(double bytes_a_word, std::size_t words, const std::function<void(int)>& loop) {
    measure::EstimatorSettings settings;
    settings.budget = Seconds{0.6};
    const auto samples = measure::time_passes(settings, clock_, [&](double repeats) {
      team_.run([&](int i) {
        for (double k = 0; k < repeats; ++k) loop(i);
      });
    });
    if (!samples) return -1;
    return bytes_a_word * static_cast<double>(words) * team_.size() / samples->median.value();
  }
  /// The three arrays of one thread lie side by side, so a plain sum reads them as one.
  [[nodiscard]] double sum() { return sum_of(3 * part_); }
  [[nodiscard]] double sum_of(std::size_t words) {
    return rate(8, words, [this, words](int i) {
      const std::uint64_t sum = native_sum(reinterpret_cast<const std::uint64_t*>(array(i, 0)), words);
      asm volatile("" : : "r"(sum) : "memory");
    });
  }
  [[nodiscard]] double stream(int kernel) {
    const double bytes = kernel < 2 ? 16 : 24;
    return rate(bytes, part_, [this, kernel](int i) {
      double *a = array(i, 0), *b = array(i, 1), *c = array(i, 2);
      if (kernel == 0) stream_copy(c, a, part_);
      if (kernel == 1) stream_scale(b, c, 3.0, part_);
      if (kernel == 2) stream_add(c, a, b, part_);
      if (kernel == 3) stream_triad(a, b, c, 0.5, part_);
    });
  }

 private:
  double* array(int thread, std::size_t k) {
    return reinterpret_cast<double*>(memory_->data()) + (static_cast<std::size_t>(thread) * 3 + k) * part_;
  }
  measure::WorkerTeam team_;
  const measure::Clock& clock_;
  std::size_t part_ = 0;  ///< doubles of one array of one thread
  std::unique_ptr<measure::Memory> memory_;
};

/// "MByte/s:  49096.19" or "MFlops/s: …" of likwid-bench's output; negative when it is not installed.
double likwid(const std::string& test, std::size_t bytes, const std::vector<int>& processors, const char* key) {
  const Unbound unbound(processors);
  const std::string command =
      fmt::format("likwid-bench -t {} -w S0:{}kB:{} 2>/dev/null", test, bytes / 1000, processors.size());
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return -1;
  double figure = -1;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::strncmp(line, key, std::strlen(key)) == 0) figure = std::strtod(line + std::strlen(key), nullptr) * 1e6;
  }
  pclose(pipe);
  return figure;
}

/// OpenBLAS's single-precision product of two square matrices; negative when the library is not installed.
class Sgemm {
 public:
  explicit Sgemm(const std::vector<int>& processors)
      : processors_(processors), a_(side * side, 1.0F), b_(side * side, 0.5F), c_(side * side) {
    const Unbound unbound(processors);
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) return;
    product_ = reinterpret_cast<Product>(dlsym(library, "cblas_sgemm"));
    const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    if (set_threads != nullptr) set_threads(static_cast<int>(processors.size()));
  }
  [[nodiscard]] double run(const measure::Clock& clock) {
    if (product_ == nullptr) return -1;
    const Unbound unbound(processors_);
    const Seconds start = clock.now();
    constexpr int n = static_cast<int>(side);
    product_(101, 111, 111, n, n, n, 1.0F, a_.data(), n, b_.data(), n, 0.0F, c_.data(), n);
    return 2.0 * side * side * side / (clock.now() - start).value();
  }

 private:
  static constexpr std::size_t side = 4096;
  using Product = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                           int);
  Product product_ = nullptr;
  std::vector<int> processors_;
  std::vector<float> a_, b_, c_;
};

void print_table(const std::vector<Row>& rows) {
  std::printf("| what | who | median | lowest – highest round | ours ÷ it |\n|---|---|---:|---:|---:|\n");
  double ours = 0;
  for (const Row& row : rows) {
    if (row.figures.empty() || median(row.figures) <= 0) {
      std::printf("| %s | %s | not installed | | |\n", row.what.c_str(), row.who.c_str());
      continue;
    }
    const double mid = median(row.figures);
    if (row.who == "corridor") ours = mid;
    const auto [low, high] = std::minmax_element(row.figures.begin(), row.figures.end());
    const std::string ratio = row.who == "corridor" || row.who == "–" ? "" : fmt::format("{:.3f}", ours / mid);
    std::printf("| %s | %s | %.1f %s | %.1f – %.1f | %s |\n", row.what.c_str(), row.who.c_str(), mid * row.scale,
                row.unit, *low * row.scale, *high * row.scale, ratio.c_str());
  }
}

double value_of(const Result<measure::Figure>& figure) {
  return figure ? figure->value : -1;
}

/// All that is compared, ready to run.
class Comparison {
 public:
  Comparison(measure::CpuProbe& ours, const std::vector<int>& processors, const measure::Clock& clock)
      : ours_(ours),
        processors_(processors),
        clock_(clock),
        bytes_(static_cast<std::size_t>(ours.largest().value())),
        native_(processors, bytes_, clock),
        sgemm_(processors) {}

  [[nodiscard]] std::vector<Row> rows() {
    std::vector<Row> out = memory_rows();
    for (auto part : {cache_rows(), peak_rows(), latency_rows()}) {
      std::move(part.begin(), part.end(), std::back_inserter(out));
    }
    return out;
  }

 private:
  static constexpr double giga = 1e-9;
  static constexpr const char* gb = "GB/s";
  static constexpr const char* gflop = "GFLOP/s";
  static constexpr std::size_t l1_words = 4000, l2_words = 125000;  ///< 32 kB and 1 MB a thread

  [[nodiscard]] Row rate(const char* what, Traffic kind, std::size_t size) {
    const Bytes all{static_cast<double>(size)};
    return {
        what, "corridor", giga, gb, [=, this] { return value_of(ours_.traffic(kind, all, ours_.threads(), budget_)); },
        {}};
  }
  [[nodiscard]] Row likwid_row(const char* test, std::size_t size, bool flops = false) {
    return {"",
            std::string("likwid-bench ") + test,
            giga,
            flops ? gflop : gb,
            [=, this] { return likwid(test, size, processors_, flops ? "MFlops/s:" : "MByte/s:"); },
            {}};
  }
  [[nodiscard]] Row native_row(const char* who, std::function<double()> run) {
    return {"", who, giga, gb, std::move(run), {}};
  }
  [[nodiscard]] std::size_t of_all(std::size_t words) const {
    return words * 8 * static_cast<std::size_t>(ours_.threads());
  }

  [[nodiscard]] std::vector<Row> memory_rows() {
    return {rate("main memory, read", Traffic::read, bytes_),
            native_row("plain sum, -O3 -march=native", [this] { return native_.sum(); }),
            native_row("STREAM copy, -O3 -march=native", [this] { return native_.stream(0); }),
            native_row("STREAM scale", [this] { return native_.stream(1); }),
            native_row("STREAM add", [this] { return native_.stream(2); }),
            native_row("STREAM triad", [this] { return native_.stream(3); }),
            likwid_row("load_avx512", bytes_),
            likwid_row("load_mem", bytes_),
            rate("main memory, copy", Traffic::copy, bytes_),
            native_row("STREAM copy", [this] { return native_.stream(0); }),
            likwid_row("copy_mem_avx512", bytes_),
            rate("main memory, triad", Traffic::triad, bytes_),
            native_row("STREAM triad", [this] { return native_.stream(3); }),
            likwid_row("stream_mem_avx512", bytes_)};
  }
  [[nodiscard]] std::vector<Row> cache_rows() {
    return {rate("L1, read, 32 kB a thread", Traffic::read, of_all(l1_words)),
            likwid_row("load_avx512", of_all(l1_words)),
            native_row("plain sum", [this] { return native_.sum_of(l1_words); }),
            rate("L2, read, 1 MB a thread", Traffic::read, of_all(l2_words)),
            likwid_row("load_avx512", of_all(l2_words)),
            native_row("plain sum", [this] { return native_.sum_of(l2_words); })};
  }
  [[nodiscard]] Row own_peak(const char* what, const measure::PeakKernel& kernel) {
    return {what, "corridor", giga, gflop, [this, kernel] { return value_of(ours_.peak(kernel, budget_)); }, {}};
  }
  [[nodiscard]] std::vector<Row> peak_rows() {
    return {own_peak("fp32 multiply-adds", measure::best_kernels().f32),
            {"", "OpenBLAS sgemm, n = 4096", giga, gflop, [this] { return sgemm_.run(clock_); }, {}},
            likwid_row("peakflops_sp_avx512_fma", of_all(l1_words), true),
            own_peak("fp64 multiply-adds", measure::best_kernels().f64),
            likwid_row("peakflops_avx512_fma", of_all(l1_words), true)};
  }
  [[nodiscard]] Row latency(const char* what, double size) {
    return {what, "–", 1e9, "ns", [this, size] { return value_of(ours_.latency(Bytes{size}, budget_)); }, {}};
  }
  [[nodiscard]] std::vector<Row> latency_rows() {
    return {latency("latency, 16 KiB", 16384), latency("latency, 512 KiB", 524288),
            latency("latency, largest set", ours_.largest().value())};
  }

  measure::CpuProbe& ours_;
  std::vector<int> processors_;
  const measure::Clock& clock_;
  std::size_t bytes_;
  NativeBench native_;
  Sgemm sgemm_;
  Seconds budget_{0.6};
};

int run(int rounds) {
  const measure::SystemClock clock;
  std::vector<int> processors = measure::allowed_processors();  // before the probe binds this thread to one of them
  const auto facts = measure::read_machine_facts(*measure::system_reader());
  const Bytes working_set = measure::working_set(facts, measure::Effort::normal);
  const auto probe = measure::system_cpu_probe(facts, clock, {working_set, Seconds{60}});
  if (!probe) {
    std::fprintf(stderr, "%s\n", probe.error().line().c_str());
    return 1;
  }
  const auto threads = static_cast<std::size_t>((*probe)->threads());
  if (processors.size() > threads) processors.resize(threads);
  Comparison comparison(**probe, processors, clock);
  std::vector<Row> rows = comparison.rows();
  for (int round = 0; round < rounds; ++round) {
    std::fprintf(stderr, "round %d of %d\n", round + 1, rounds);
    for (Row& row : rows) row.figures.push_back(row.run());
  }
  std::printf("%s, %zu threads, working set %.0f MB, %d rounds, %s.\n\n", facts.cpu_name.c_str(), threads,
              (*probe)->largest().value() / 1e6, rounds, clock.today().c_str());
  print_table(rows);
  return 0;
}

}  // namespace
}  // namespace corridor::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  return corridor::bench::run(std::clamp(rounds, 1, 1000));
}
