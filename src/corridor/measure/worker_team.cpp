// SPDX-License-Identifier: Apache-2.0
// A round counter starts the workers; a count of busy ones ends the round.
#include "corridor/measure/worker_team.h"

#include <algorithm>
#include <system_error>

namespace corridor::measure {

namespace {
constexpr int most_workers = 1024;
}

WorkerTeam::WorkerTeam(int size) {
  const int wanted = std::clamp(size, 1, most_workers);
  threads_.reserve(static_cast<std::size_t>(wanted - 1));
  try {
    for (int i = 1; i < wanted; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {  // the system gives no more threads: the team stays as it is
  }
}

WorkerTeam::~WorkerTeam() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(const std::function<void(int)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    busy_ = static_cast<int>(threads_.size());
    ++round_;
  }
  start_.notify_all();
  task(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void WorkerTeam::serve(int index) {
  unsigned seen = 0;
  while (true) {
    const std::function<void(int)>* task = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      task = task_;
    }
    (*task)(index);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace corridor::measure
