// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a launch wave by wave, and sums up what they counted.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "corridor/base/parallel_for.h"
#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/functional/setup.h"
#include "corridor/ptx/functional/summary.h"
#include "corridor/ptx/memory/footprint.h"

namespace corridor::ptx {
namespace {

constexpr std::uint64_t slice = 4'000'000;  // instructions of a block before the next has its turn
constexpr std::uint64_t most_state_bytes = std::uint64_t{1} << 30;  // of blocks that run at one time
constexpr std::uint64_t most_log = 16U << 20;  // sectors and requests of a wave between two looks at the caches
constexpr std::uint64_t least_block_log = 4096;
constexpr std::size_t chunks_of_wave = 16;
constexpr std::size_t most_cache_parts = 8;
constexpr std::uint32_t patience_rounds = 200;

std::vector<std::uint64_t> chosen_blocks(const Launch& launch, const RunOptions& options) {
  const std::uint64_t total = launch.grid.count();
  const std::uint64_t want = options.sample_blocks == 0 ? total : std::min(options.sample_blocks, total);
  std::vector<std::uint64_t> blocks(want);
  if (want == total) {
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  } else {
    for (std::uint64_t i = 0; i < want; ++i) {
      blocks[i] = want == 1 ? 0
                            : static_cast<std::uint64_t>(static_cast<double>(i) * static_cast<double>(total - 1) /
                                                         static_cast<double>(want - 1));
    }
  }
  return blocks;
}

/// The blocks that run at one time, each with its own part of the log. What they ask for passes the caches while they,
/// or those of the next wave, run on.
class Wave {
 public:
  Wave(const LaunchState& launch, std::size_t most, Hierarchy* caches, std::vector<WarpTrace>& traces)
      : launch_(launch),
        runs_(most),
        outcomes_(most),
        logs_(caches != nullptr ? most : 0),
        asked_(logs_.size()),
        caches_(caches),
        traces_(traces) {
    chunks_ = launch.parallel ? std::min(chunks_of_wave, most) : 1;
    tallies_.resize(chunks_);
    pools_.resize(chunks_);
    for (Tally& tally : tallies_) tally.ops.resize(launch.program->ops.size() + 1);
    log_limit_ = std::max(least_block_log, most_log / std::max<std::uint64_t>(most, 1));
  }

  /// Runs `blocks` to their ends, or until a fault ends the run.
  void run(std::span<const std::uint64_t> blocks, RunResult& result, std::uint64_t& instructions,
           std::vector<double>& per_block);
  /// Passes on what has been asked for so far.
  void finish_caches();
  Footprint* footprint = nullptr;  ///< of a sample

  [[nodiscard]] const std::vector<Tally>& tallies() const { return tallies_; }

 private:
  struct Outcome {
    bool started = false, done = false, stopped = false, waiting = false;
    std::vector<Fault> faults;
    std::string printed;
    std::uint64_t instructions = 0;
    std::vector<WarpTrace> traces;
  };

  void round(std::span<const std::uint64_t> blocks, std::uint64_t budget);
  void look_back(std::size_t task);
  void looked_back();
  void run_chunk(std::span<const std::uint64_t> blocks, std::size_t chunk, std::uint64_t budget);
  void step(std::uint64_t block, std::size_t i, std::size_t chunk, std::uint64_t budget);
  void close(std::size_t i, std::size_t chunk, bool stopped);

  const LaunchState& launch_;
  std::vector<std::unique_ptr<BlockRun>> runs_;
  std::vector<Outcome> outcomes_;
  std::vector<AccessLog> logs_;   ///< of the round that runs
  std::vector<AccessLog> asked_;  ///< of the round before it
  std::vector<std::uint32_t> asked_sm_;
  Hierarchy* caches_ = nullptr;
  std::vector<WarpTrace>& traces_;
  std::vector<Tally> tallies_;
  std::vector<std::vector<std::unique_ptr<BlockRun>>> pools_;
  std::size_t chunks_ = 1;
  std::uint64_t log_limit_ = 0;
};

void Wave::close(std::size_t i, std::size_t chunk, bool stopped) {
  Outcome& o = outcomes_[i];
  o.done = true;
  o.stopped = stopped;
  o.faults = std::move(runs_[i]->faults);
  o.printed = std::move(runs_[i]->printed);
  pools_[chunk].push_back(std::move(runs_[i]));
}

void Wave::step(std::uint64_t block, std::size_t i, std::size_t chunk, std::uint64_t budget) {
  Outcome& o = outcomes_[i];
  if (o.done) return;
  if (!o.started) {
    auto& pool = pools_[chunk];
    if (pool.empty()) {
      runs_[i] = std::make_unique<BlockRun>(launch_, tallies_[chunk]);
    } else {
      runs_[i] = std::move(pool.back());
      pool.pop_back();
    }
    runs_[i]->log_limit = log_limit_;
    runs_[i]->start(block, logs_.empty() ? nullptr : &logs_[i],
                    block < launch_.options->trace_blocks ? &o.traces : nullptr);
    o.started = true;
  }
  const BlockRun::Outcome outcome = runs_[i]->run(budget);
  o.instructions = runs_[i]->instructions();
  o.waiting = outcome == BlockRun::Outcome::waiting;
  if (outcome == BlockRun::Outcome::finished || outcome == BlockRun::Outcome::stopped) {
    close(i, chunk, outcome == BlockRun::Outcome::stopped);
  }
}

void Wave::run_chunk(std::span<const std::uint64_t> blocks, std::size_t chunk, std::uint64_t budget) {
  const std::size_t first = blocks.size() * chunk / chunks_, last = blocks.size() * (chunk + 1) / chunks_;
  for (std::size_t i = first; i < last; ++i) step(blocks[i], i, chunk, budget);
}

/// Task `task` of what the caches, and the footprint of a sample, have to do with the round before.
void Wave::look_back(std::size_t task) {
  const std::span<const AccessLog> asked = std::span(asked_).first(asked_sm_.size());
  if (task < caches_->tasks()) return caches_->run_task(task, asked, asked_sm_);
  if (footprint != nullptr) footprint->add(asked);
}

/// All tasks of looking back are done.
void Wave::looked_back() {
  caches_->advance();
  for (AccessLog& log : std::span(asked_).first(asked_sm_.size())) log.clear();
  asked_sm_.clear();
}

void Wave::finish_caches() {
  if (caches_ == nullptr) return;
  for (int stage = 0; stage < 2; ++stage) {
    caches_->expect(asked_sm_.size());
    parallel_for(caches_->tasks() + 1, [&](std::size_t task) { look_back(task); });
    looked_back();
  }
  caches_->finish();
}

/// Each block runs about `budget` instructions, while the caches see the rounds before.
void Wave::round(std::span<const std::uint64_t> blocks, std::uint64_t budget) {
  const std::size_t back = caches_ != nullptr ? caches_->tasks() + 1 : 0;
  if (caches_ != nullptr) caches_->expect(asked_sm_.size());
  parallel_for(back + chunks_, [&](std::size_t task) {
    if (task < back) return look_back(task);
    run_chunk(blocks, task - back, budget);
  });
  if (caches_ == nullptr) return;
  looked_back();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::swap(logs_[i], asked_[i]);
    asked_sm_.push_back(static_cast<std::uint32_t>(blocks[i] % std::max(1U, launch_.device->memory.sm_count)));
  }
}

void Wave::run(std::span<const std::uint64_t> blocks, RunResult& result, std::uint64_t& instructions,
               std::vector<double>& per_block) {
  const std::uint64_t limit = launch_.options->limits.max_instructions;
  const std::uint64_t before = instructions;
  std::fill(outcomes_.begin(), outcomes_.end(), Outcome{});
  std::uint32_t idle_rounds = 0;
  for (bool open = true; open;) {
    const std::uint64_t left = limit - std::min(limit, instructions);
    const std::uint64_t budget = std::clamp<std::uint64_t>(left / blocks.size(), 1, slice);
    round(blocks, budget);
    instructions = before;
    open = false;
    bool all_wait = true;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      instructions += outcomes_[i].instructions;
      if (outcomes_[i].done) continue;
      open = true;
      all_wait = all_wait && outcomes_[i].waiting;
    }
    idle_rounds = open && all_wait ? idle_rounds + 1 : 0;
    const bool over = instructions >= limit;
    if (!open || (!over && idle_rounds < patience_rounds)) continue;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (outcomes_[i].done) continue;
      if (over) {
        runs_[i]->give_up(Fault::Kind::limit,
                          fmt::format("the run has reached its limit of {} warp instructions; raise it, "
                                      "or look for a loop that does not end",
                                      limit));
      } else {
        runs_[i]->give_up(Fault::Kind::deadlock, "every block waits in a loop for something that does not come");
      }
      close(i, launch_.parallel ? i * chunks_ / blocks.size() : 0, true);
    }
    open = false;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Outcome& o = outcomes_[i];
    if (o.stopped) result.completed = false;
    per_block.push_back(static_cast<double>(o.instructions));
    add_faults(result.faults, o.faults);
    if (result.printed.size() < 1U << 20) result.printed += o.printed;
    for (WarpTrace& trace : o.traces) traces_.push_back(std::move(trace));
  }
}

bool must_end(const RunResult& result, const RunOptions& options) {
  if (result.faults.size() >= std::max<std::size_t>(options.max_faults, 1)) return true;
  return std::any_of(result.faults.begin(), result.faults.end(), [](const Fault& f) {
    return f.kind == Fault::Kind::unsupported || f.kind == Fault::Kind::limit || f.kind == Fault::Kind::deadlock;
  });
}

double standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return mean > 0 ? std::sqrt(squares / (n - 1) / n) / mean : 0;
}

}  // namespace

Result<RunResult> run(const Program& program, const Launch& launch, DeviceMemory& memory, const RunDevice& device,
                      const RunOptions& options) {
  auto set = set_up(program, launch, memory, device, options);
  if (!set) return tl::unexpected(set.error());
  const LaunchState& state = *set;
  const std::uint64_t total = launch.grid.count();
  if (options.sample_blocks == 0 && total > options.limits.max_instructions) {
    return fail(fmt::format("{} blocks are more than the limit of {} warp instructions", total,
                            options.limits.max_instructions),
                launch.kernel, "use a smaller grid, sample blocks, or raise the limit");
  }
  const std::vector<std::uint64_t> blocks = chosen_blocks(launch, options);
  const std::uint64_t room = std::max<std::uint64_t>(1, most_state_bytes / bytes_of_block(state));
  const std::uint64_t resident =
      std::uint64_t{std::max(1U, device.blocks_per_sm)} * std::max(1U, device.memory.sm_count);
  const auto wave_blocks =
      static_cast<std::size_t>(std::min({resident, room, std::uint64_t{blocks.size()}, std::uint64_t{1} << 16}));
  RunResult result;
  result.completed = true;
  Footprint footprint;
  std::unique_ptr<Hierarchy> caches;
  if (options.caches) caches = std::make_unique<Hierarchy>(device.memory, std::min(most_cache_parts, usable_cores()));
  Wave wave(state, wave_blocks, caches.get(), result.traces);
  if (options.sample_blocks != 0) wave.footprint = &footprint;
  std::uint64_t instructions = 0;
  std::vector<double> per_block;
  for (std::size_t first = 0; first < blocks.size(); first += wave_blocks) {
    const std::size_t count = std::min(wave_blocks, blocks.size() - first);
    wave.run(std::span(blocks).subspan(first, count), result, instructions, per_block);
    if (first + count < blocks.size() && must_end(result, options)) {
      result.completed = false;
      break;
    }
  }
  wave.finish_caches();
  result.blocks_run = per_block.size();
  const CacheCounters counters = caches ? caches->counters() : CacheCounters{};
  summarise(state, wave.tallies(), caches ? &counters : nullptr, result);
  if (result.blocks_run < total) {
    result.sampling_error = standard_error(per_block);
    if (options.sample_blocks != 0) {
      scale(result, static_cast<double>(total) / static_cast<double>(result.blocks_run), footprint.sectors());
    }
  }
  return result;
}

}  // namespace corridor::ptx
