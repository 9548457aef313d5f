// SPDX-License-Identifier: Apache-2.0
// Threads that stay alive between the passes of a probe, so that a pass does not pay for starting them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace corridor::measure {

/// The caller is worker 0. When the system refuses threads the team is smaller than asked; it is never empty.
class WorkerTeam {
 public:
  explicit WorkerTeam(int size);
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  ~WorkerTeam();

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }
  /// Runs task(0) … task(size − 1), one on each thread, and returns when all are done. The task must not throw.
  void run(const std::function<void(int)>& task);

 private:
  void serve(int index);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int)>* task_ = nullptr;
  unsigned round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace corridor::measure
