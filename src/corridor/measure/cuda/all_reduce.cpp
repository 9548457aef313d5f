// SPDX-License-Identifier: Apache-2.0
// Rounds run inside one kernel on each GPU; the cost of a round is the difference between many and few of them.
#include "corridor/measure/cuda/all_reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "corridor/measure/cuda/driver_error.h"
#include "corridor/measure/cuda/passes.h"

namespace corridor::measure::cuda {
namespace {

constexpr std::uint32_t words = 256;  // 1 KiB of floats
constexpr unsigned few_rounds = 20, many_rounds = 220;
constexpr int most_ranks = 8;
constexpr double patience_s = 1;  // then a kernel gives up waiting for a rank
constexpr double usual_clock_hz = 2e9;
constexpr Status already_enabled = 704;  // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED

/// What one GPU holds: its input, its flags, its output, the tables of all inputs and of all flags, its status.
struct Rank {
  std::unique_ptr<Gpu> gpu;
  std::vector<Buffer> buffers;  ///< in that order
  [[nodiscard]] DevicePointer input() const { return buffers[0].place(); }
  [[nodiscard]] DevicePointer flags() const { return buffers[1].place(); }
  [[nodiscard]] DevicePointer out() const { return buffers[2].place(); }
  [[nodiscard]] DevicePointer inputs() const { return buffers[3].place(); }
  [[nodiscard]] DevicePointer all_flags() const { return buffers[4].place(); }
  [[nodiscard]] DevicePointer status() const { return buffers[5].place(); }
};

class Ring {
 public:
  explicit Ring(std::vector<Rank> ranks) : ranks_(std::move(ranks)) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  /// Buffers go before their context, each with its own context current.
  ~Ring() {
    for (Rank& rank : ranks_) {
      if (rank.gpu->use()) rank.buffers.clear();
    }
  }
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  [[nodiscard]] Result<void> prepare();
  /// Seconds of `rounds` rounds on rank 0, and a check that nobody was late.
  [[nodiscard]] Result<units::Seconds> run(unsigned rounds);

 private:
  [[nodiscard]] Result<void> launch(std::size_t index, unsigned rounds) const;
  std::vector<Rank> ranks_;
  std::uint32_t stage_ = 0;
};

Result<void> Ring::prepare() {
  for (Rank& rank : ranks_) {
    if (auto done = rank.gpu->use(); !done) return done;
    for (const std::size_t bytes :
         {4UL * words, 4UL * most_ranks, 4UL * words, 8UL * most_ranks, 8UL * most_ranks, 4UL}) {
      Result<Buffer> buffer = rank.gpu->allocate(bytes);
      if (!buffer) return tl::unexpected(buffer.error());
      if (auto done = rank.gpu->clear(*buffer); !done) return done;
      rank.buffers.push_back(std::move(*buffer));
    }
  }
  std::vector<DevicePointer> inputs, flags;
  for (const Rank& rank : ranks_) {
    inputs.push_back(rank.input());
    flags.push_back(rank.flags());
  }
  for (const Rank& rank : ranks_) {
    if (auto done = rank.gpu->use(); !done) return done;
    const std::size_t bytes = inputs.size() * sizeof(DevicePointer);
    if (auto done = rank.gpu->write(rank.inputs(), inputs.data(), bytes); !done) return done;
    if (auto done = rank.gpu->write(rank.all_flags(), flags.data(), bytes); !done) return done;
  }
  // Compile and load everywhere first: a rank that still compiles while the others wait would be late.
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (auto done = launch(i, 0); !done) return done;
    if (auto done = ranks_[i].gpu->synchronize(); !done) return done;
  }
  return {};
}

Result<void> Ring::launch(std::size_t index, unsigned rounds) const {
  const Rank& rank = ranks_[index];
  const double clock = rank.gpu->facts().clock.value() > 0 ? rank.gpu->facts().clock.value() : usual_clock_hz;
  const auto patience = static_cast<std::uint64_t>(patience_s * clock);
  if (auto done = rank.gpu->use(); !done) return done;
  return rank.gpu->launch("all_reduce", Shape{1, 256}, rank.inputs(), rank.all_flags(), rank.out(),
                          static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(ranks_.size()), words, rounds,
                          stage_, patience, rank.status());
}

Result<units::Seconds> Ring::run(unsigned rounds) {
  const Rank& first = ranks_.front();
  if (auto done = first.gpu->use(); !done) return tl::unexpected(done.error());
  const auto time = first.gpu->time([&]() -> Result<void> {
    // Rank 0 last: when its kernel starts, the others wait for it already.
    for (std::size_t i = ranks_.size(); i-- > 0;) {
      if (auto done = launch(i, rounds); !done) return done;
    }
    return {};
  });
  if (!time) return time;
  stage_ += 2 * rounds;
  for (const Rank& rank : ranks_) {
    if (auto done = rank.gpu->use(); !done) return tl::unexpected(done.error());
    if (auto done = rank.gpu->synchronize(); !done) return tl::unexpected(done.error());
    std::uint32_t late = 0;
    if (auto done = rank.gpu->read_back(&late, rank.status(), sizeof(late)); !done) return tl::unexpected(done.error());
    if (late != 0) return fail("a GPU did not answer within a second", "all-reduce");
  }
  return time;
}

/// Every GPU must reach every other; returns why not, empty when they do.
std::string connect(const std::vector<Rank>& ranks) {
  for (const Rank& from : ranks) {
    const DriverApi& api = from.gpu->api();
    if (api.device_can_access_peer == nullptr || api.ctx_enable_peer_access == nullptr) {
      return "the driver lacks the calls of peer access";
    }
    for (const Rank& to : ranks) {
      if (&from == &to) continue;
      int can = 0;
      if (api.device_can_access_peer(&can, from.gpu->device(), to.gpu->device()) != success || can == 0) {
        return fmt::format("GPU {} cannot reach the memory of GPU {}", from.gpu->facts().ordinal,
                           to.gpu->facts().ordinal);
      }
      if (!from.gpu->use()) return "a context cannot be made current";
      const Status status = api.ctx_enable_peer_access(to.gpu->context(), 0);
      if (status != success && status != already_enabled) {
        return driver_error(api, status, "cuCtxEnablePeerAccess", "all-reduce").line();
      }
    }
  }
  return {};
}

Result<std::vector<Rank>> open_all(const CudaLibraries& libraries, int count) {
  std::vector<Rank> ranks;
  for (int i = 0; i < count; ++i) {
    Result<std::unique_ptr<Gpu>> gpu = Gpu::open(libraries, i);
    if (!gpu) return tl::unexpected(gpu.error());
    ranks.push_back({std::move(*gpu), {}});
  }
  return ranks;
}

/// Median over pairs of a short and a long run.
Result<Figure> time_rounds(Ring& ring, Effort effort) {
  EstimatorSettings settings = pass_settings(effort);
  std::optional<Error> failure;
  const auto samples = estimate(settings, [&]() -> units::Seconds {
    if (failure) return {};
    const auto few = ring.run(few_rounds);
    const auto many = few ? ring.run(many_rounds) : few;
    if (many) return *many - *few;
    failure = many.error();
    return {};
  });
  if (failure) return tl::unexpected(std::move(*failure));
  if (!samples) return tl::unexpected(samples.error());
  return time_figure(
      many_rounds - few_rounds, *samples,
      fmt::format("one-shot all-reduce of 1 KiB between {} GPUs, own kernel, launches not counted", ring.size()));
}

}  // namespace

Result<std::optional<Figure>> measure_all_reduce(const CudaLibraries& libraries, const MeasureSettings& settings,
                                                 std::vector<std::string>& warnings) {
  const Result<int> count = start_driver(libraries.driver);
  if (!count) return tl::unexpected(count.error());
  if (*count < 2) return std::optional<Figure>();
  Result<std::vector<Rank>> ranks = open_all(libraries, std::min(*count, most_ranks));
  if (!ranks) return tl::unexpected(ranks.error());
  if (const std::string why = connect(*ranks); !why.empty()) {
    warnings.push_back("the all-reduce is not measured: " + why);
    return std::optional<Figure>();
  }
  Ring ring(std::move(*ranks));
  if (auto done = ring.prepare(); !done) return tl::unexpected(done.error());
  Result<Figure> figure = time_rounds(ring, settings.effort);
  if (!figure) return tl::unexpected(figure.error());
  return std::optional<Figure>(std::move(*figure));
}

}  // namespace corridor::measure::cuda
