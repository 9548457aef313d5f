// SPDX-License-Identifier: Apache-2.0
// Threads that stay alive between the passes of a measurement, so that a pass does not pay for starting them.
//
// A waiting worker first looks for its next task in a short loop, as the thread pools of inference engines do, and
// sleeps only when none comes: the dispatch of a task costs about a microsecond while the team is busy.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace corridor::measure {

/// Logical processors this process may run on, in their order; empty where the system does not tell.
[[nodiscard]] std::vector<int> allowed_processors();

/// Binds the calling thread to one processor for the life of the object, then gives it back what it had. `held` is
/// false where the system refuses.
class PinnedThread {
 public:
  explicit PinnedThread(int processor);
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  ~PinnedThread();
  [[nodiscard]] bool held() const { return !before_.empty(); }

 private:
  std::vector<int> before_;
};

/// The caller is worker 0. When the system refuses threads the team is smaller than asked; it is never empty.
class WorkerTeam {
 public:
  /// With `processors`, worker i runs only on processors[i mod their number], the caller too while the team lives.
  explicit WorkerTeam(int size, const std::vector<int>& processors = {});
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  ~WorkerTeam();

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }
  /// True when every worker is bound to its processor.
  [[nodiscard]] bool pinned() const { return pinned_ > 0 && pinned_ == size(); }
  /// Runs task(0) … task(size − 1), one on each thread, and returns when all are done. The task must not throw.
  void run(const std::function<void(int)>& task);

 private:
  void serve(int index);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int)>* task_ = nullptr;  ///< written before round_ moves
  std::atomic<unsigned> round_{0};
  std::atomic<int> busy_{0};
  std::atomic<int> pinned_{0};
  std::atomic<bool> stop_{false};
  std::optional<PinnedThread> caller_;
  std::vector<int> processors_;
  std::vector<std::thread> threads_;
};

}  // namespace corridor::measure
