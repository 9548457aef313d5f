// SPDX-License-Identifier: Apache-2.0
// Capture, instantiation and launch of a graph; both objects are destroyed on every path.
#include "corridor/measure/cuda/graph.h"

#include "corridor/measure/cuda/driver_error.h"

namespace corridor::measure::cuda {

Graph::~Graph() {
  if (exec_ != nullptr) gpu_.api().graph_exec_destroy(exec_);
  if (graph_ != nullptr) gpu_.api().graph_destroy(graph_);
}

bool Graph::available(const DriverApi& api) {
  return api.stream_begin_capture != nullptr && api.stream_end_capture != nullptr && api.graph_instantiate != nullptr &&
         api.graph_launch != nullptr && api.graph_destroy != nullptr && api.graph_exec_destroy != nullptr;
}

Result<void> Graph::capture(const std::function<Result<void>()>& work) {
  constexpr int thread_local_capture = 1;
  const DriverApi& api = gpu_.api();
  if (auto done = check(api, api.stream_begin_capture(gpu_.stream(), thread_local_capture), "cuStreamBeginCapture_v2");
      !done) {
    return done;
  }
  const Result<void> worked = work();
  // The capture ends in any case: a stream that is left capturing refuses all later work.
  const auto ended = check(api, api.stream_end_capture(gpu_.stream(), &graph_), "cuStreamEndCapture");
  if (!worked) return worked;
  if (!ended) return ended;
  return check(api, api.graph_instantiate(&exec_, graph_, 0), "cuGraphInstantiateWithFlags");
}

Result<void> Graph::launch() const {
  return check(gpu_.api(), gpu_.api().graph_launch(exec_, gpu_.stream()), "cuGraphLaunch");
}

}  // namespace corridor::measure::cuda
