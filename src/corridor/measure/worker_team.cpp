// SPDX-License-Identifier: Apache-2.0
// A round counter starts the workers; a count of busy ones ends the round. Both are looked at for a while before the
// thread sleeps.
#include "corridor/measure/worker_team.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace corridor::measure {
namespace {

constexpr int most_workers = 1024;
constexpr int looks_before_sleep = 4000;  // some tens of microseconds, about what waking a thread costs

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Ready>
bool look_for(const Ready& ready) {
  for (int i = 0; i < looks_before_sleep; ++i) {
    if (ready()) return true;
    pause();
  }
  return ready();
}

bool bind_to(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    if (processor < 0 || processor >= CPU_SETSIZE) return false;
    CPU_SET(static_cast<std::size_t>(processor), &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) out.push_back(i);
  }
  return out;
}

PinnedThread::PinnedThread(int processor) {
  std::vector<int> before = allowed_processors();
  if (!before.empty() && bind_to({processor})) before_ = std::move(before);
}

PinnedThread::~PinnedThread() {
  if (held()) bind_to(before_);
}

WorkerTeam::WorkerTeam(int size, const std::vector<int>& processors) : processors_(processors) {
  const int wanted = std::clamp(size, 1, most_workers);
  if (!processors_.empty()) {
    caller_.emplace(processors_.front());
    if (caller_->held()) ++pinned_;
  }
  threads_.reserve(static_cast<std::size_t>(wanted - 1));
  try {
    for (int i = 1; i < wanted; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {  // the system gives no more threads: the team stays as it is
  }
  run([](int) {});  // after it every worker has bound itself
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
  if (threads_.empty()) return task(0);
  busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    round_.fetch_add(1, std::memory_order_release);
  }
  start_.notify_all();
  task(0);
  const auto all_done = [this] { return busy_.load(std::memory_order_acquire) == 0; };
  if (look_for(all_done)) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, all_done);
}

void WorkerTeam::serve(int index) {
  if (!processors_.empty()) {
    const std::size_t place = static_cast<std::size_t>(index) % processors_.size();
    if (bind_to({processors_[place]})) ++pinned_;
  }
  unsigned seen = 0;
  const auto called = [&] {
    return stop_.load(std::memory_order_acquire) || round_.load(std::memory_order_acquire) != seen;
  };
  while (true) {
    if (!look_for(called)) {
      std::unique_lock lock(mutex_);
      start_.wait(lock, called);
    }
    if (stop_.load(std::memory_order_acquire)) return;
    seen = round_.load(std::memory_order_acquire);
    (*task_)(index);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);  // the caller may be on its way to sleep
      done_.notify_one();
    }
  }
}

}  // namespace corridor::measure
