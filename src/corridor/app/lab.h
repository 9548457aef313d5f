// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor lab`: one law, predicted from this machine's own ladder and measured on it now.
//
//   const Result<LabAnswer> answer = run_lab(assets, {"fusion"}, {});
//   answer->result.holds()          // the exit code says it too
//
// `decode` is judged against `predict`: the same model, scenario and device go through roofline::predict.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/measure/lab/decode_loop.h"
#include "corridor/measure/lab/experiment.h"

namespace corridor::app {

/// The model whose shapes `lab decode` runs when none is named.
inline constexpr const char* default_decode_model = "Qwen/Qwen2.5-0.5B";

struct LabRequest {
  std::string name;     ///< of the experiment
  int threads = 0;      ///< 0: all that this process may use
  std::string model;    ///< of decode; empty = default_decode_model
  double effort = 1;    ///< scales the time an experiment takes
  units::Bytes memory;  ///< an experiment's largest array at most; zero: no limit
  std::string on;       ///< "cpu", "cuda:N"; empty: the processor, or GPU 0 for what needs one
};

struct LabAnswer {
  measure::LabMachine machine;
  measure::LabResult result;
  std::string needs;  ///< why it could not run here: no such GPU, no driver; empty when it ran
};

/// Called with what is being done, for a line on the terminal.
using Progress = std::function<void(const std::string&)>;

/// This machine, looked at once, on which experiments run one after another.
class LabBench {
 public:
  [[nodiscard]] static Result<LabBench> open(const Assets& assets, int threads, const Progress& progress,
                                             units::Bytes memory = {});

  [[nodiscard]] const measure::LabMachine& machine() const { return *machine_; }
  /// Runs one experiment; `effort` scales its time. Fails on an unknown name, naming the nearest ones, on an experiment
  /// that needs a GPU, and when the system gives no memory.
  [[nodiscard]] Result<measure::LabResult> run(const std::string& name, double effort, const std::string& model = {});

 private:
  LabBench() = default;
  const Assets* assets_ = nullptr;
  std::unique_ptr<measure::Clock> clock_;
  std::unique_ptr<measure::LabMachine> machine_;
  std::unique_ptr<measure::WorkerTeam> team_;
};

/// Runs one experiment on this machine. A GPU that cannot be used is an answer (`needs`). Fails on a name that is no
/// experiment, on `on` that names nothing, and on a wish that the place cannot fulfil (threads of a GPU).
[[nodiscard]] Result<LabAnswer> run_lab(const Assets& assets, const LabRequest& request, const Progress& progress);

/// The error for a name that is no experiment.
[[nodiscard]] Error unknown_experiment(const std::string& name);

/// The shapes of a model as the decode loop runs them. Fails on a model that is not plain dense softmax attention.
[[nodiscard]] Result<measure::DecodeShape> decode_shape(const model::ModelSpec& model);

/// What `predict MODEL --device local --weights bf16 --context C` expects for a token, for each context, on `device`.
[[nodiscard]] Result<std::vector<measure::DecodePoint>> predict_decode(const Assets& assets,
                                                                       const hardware::Device& device,
                                                                       const std::string& model,
                                                                       const std::vector<std::size_t>& contexts);

}  // namespace corridor::app
