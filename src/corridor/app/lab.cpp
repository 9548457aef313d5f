// SPDX-License-Identifier: Apache-2.0
// Looks at this machine, runs an experiment, and predicts the decode loop with the functions `predict` uses.
#include "corridor/app/lab.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "corridor/app/case_loader.h"
#include "corridor/app/measure.h"
#include "corridor/app/scenario_builder.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/model/readers.h"

namespace corridor::app {
namespace {

const std::vector<std::size_t>& decode_contexts() {
  // The first is what `predict` takes when no lengths are given: 1024 in, 256 / 2 out.
  static const std::vector<std::size_t> contexts = {1152, 8192, 32768};
  return contexts;
}

std::size_t size(std::int64_t value) {
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

}  // namespace

Error unknown_experiment(const std::string& name) {
  std::string names;
  for (const measure::Experiment& e : measure::experiments()) {
    names += (names.empty() ? "" : ", ") + std::string(e.name);
  }
  return {"no experiment of that name", "lab " + name.substr(0, 80), "the experiments are " + names};
}

Result<measure::DecodeShape> decode_shape(const model::ModelSpec& model) {
  const auto refuse = [&](const std::string& why) {
    return fail(why, model.id,
                "name a dense model with one kind of layer, for example " + std::string(default_decode_model));
  };
  if (model.layers.size() != 1) return refuse("its layers are not all alike");
  const model::LayerGroup& group = model.layers.front();
  const auto* attention = std::get_if<model::SoftmaxAttention>(&group.mixer);
  if (attention == nullptr || attention->qk_dim != attention->v_dim)
    return refuse("its attention is not a plain softmax");
  if (group.feed_forward.experts > 0 || !group.feed_forward.gated)
    return refuse("its feed-forward is not dense and gated");
  if (!model.tied_embeddings) return refuse("its head is a table of its own");
  measure::DecodeShape shape;
  shape.model = model.id;
  shape.layers = size(group.count);
  shape.hidden = size(model.hidden);
  shape.heads = size(attention->heads);
  shape.kv_heads = size(attention->kv_heads);
  shape.head_dim = size(attention->qk_dim);
  shape.intermediate = size(group.feed_forward.intermediate);
  shape.vocab = size(model.vocab);
  if (const std::string fault = shape.fault(); !fault.empty()) return refuse(fault);
  return shape;
}

Result<std::vector<measure::DecodePoint>> predict_decode(const Assets& assets, const hardware::Device& device,
                                                         const std::string& model,
                                                         const std::vector<std::size_t>& contexts) {
  PredictRequest request;
  request.model = model;
  request.weights = "bf16";
  PredictAnswer answer;
  answer.device = device;
  Result<model::ResolvedModel> found = model::find_model(assets, model);
  if (!found) return tl::unexpected(found.error());
  answer.model = std::move(found->model);
  Result<roofline::KernelConstants> constants = roofline::ConstantFiles(assets).constants(device);
  if (!constants) return tl::unexpected(constants.error());
  answer.constants = std::move(*constants);
  std::vector<measure::DecodePoint> points;
  for (const std::size_t context : contexts) {
    request.context = static_cast<std::int64_t>(context);
    if (Result<int> ok = ScenarioBuilder(request, answer).build(); !ok) return tl::unexpected(ok.error());
    if (answer.engine.id != answer.scenario.engine) {
      Result<roofline::EngineProfile> engine = roofline::load_engine(assets, answer.scenario.engine);
      if (!engine) return tl::unexpected(engine.error());
      answer.engine = std::move(*engine);
    }
    const Result<roofline::Prediction> prediction = predict_case(answer, answer.scenario);
    if (!prediction) return tl::unexpected(prediction.error());
    points.push_back({context, prediction->decode.expected.mid.value()});
  }
  return points;
}

Result<LabBench> LabBench::open(const Assets& assets, int threads, const Progress& progress, units::Bytes memory) {
  if (progress) progress("looking at this machine");
  LabBench bench;
  bench.assets_ = &assets;
  bench.clock_ = std::make_unique<measure::SystemClock>();
  Result<measure::LabMachine> machine = measure::look_for_lab(assets, *bench.clock_, threads, memory);
  if (!machine) return tl::unexpected(machine.error());
  bench.machine_ = std::make_unique<measure::LabMachine>(std::move(*machine));
  bench.team_ = std::make_unique<measure::WorkerTeam>(bench.machine_->threads, measure::allowed_processors());
  return bench;
}

Result<measure::LabResult> LabBench::run(const std::string& name, double effort, const std::string& model) {
  const measure::Experiment* experiment = measure::find_experiment(name);
  if (experiment == nullptr) return tl::unexpected(unknown_experiment(name));
  const measure::LabContext context{*machine_, *clock_, *team_, effort};
  Result<measure::LabResult> result;
  if (experiment->run != nullptr) {
    result = experiment->run(context);
  } else if (name == "decode") {
    const std::string id = model.empty() ? default_decode_model : model;
    const Result<model::ResolvedModel> found = model::find_model(*assets_, id);
    if (!found) return tl::unexpected(found.error());
    const Result<measure::DecodeShape> shape = decode_shape(found->model);
    if (!shape) return tl::unexpected(shape.error());
    const auto points = predict_decode(*assets_, machine_->device, id, decode_contexts());
    if (!points) return tl::unexpected(points.error());
    result = measure::run_decode(context, *shape, *points);
    if (result) {
      result->notes.push_back(
          fmt::format("The same prediction: corridor predict {} --weights bf16 --device local --context {}", id,
                      decode_contexts().front()));
    }
  } else {
    return fail("this experiment needs a GPU", "lab " + name, "run it on a machine with one");
  }
  if (!result) return result;
  result->name = name;
  result->claim = experiment->sentence;
  return result;
}

namespace {

Result<LabAnswer> run_on_gpu(const measure::Experiment& experiment, const LabRequest& request, int ordinal,
                             const Progress& progress) {
  const auto refused = [&](const Error& why) {
    LabAnswer out;
    out.result.name = experiment.name;
    out.result.claim = experiment.sentence;
    out.needs = why.line();
    return out;
  };
  const auto libraries = measure::cuda::find_cuda_libraries();
  if (!libraries) return refused(libraries.error());
  const auto tell = [&](std::string_view what, double done) {
    if (progress) progress(fmt::format("{:3.0f} %  {}", 100 * done, what));
  };
  const auto bench = measure::GpuLabBench::open(*libraries, ordinal, request.memory, tell);
  if (!bench) return refused(bench.error());
  if (progress) progress("running " + request.name);
  const measure::Effort effort = request.effort < 1 ? measure::Effort::quick : measure::Effort::normal;
  Result<measure::LabResult> result = (*bench)->run(experiment, effort);
  if (!result) return refused(result.error());
  return LabAnswer{(*bench)->machine(), std::move(*result), {}};
}

/// The GPU of `request.on`; empty for the processor.
Result<std::optional<int>> gpu_of(const LabRequest& request, const measure::Experiment& experiment) {
  if (request.on.empty()) return experiment.needs_gpu ? std::optional<int>(0) : std::nullopt;
  const Result<MeasureTarget> target = parse_target(request.on);
  if (!target || target->every_gpu) {
    return fail(fmt::format("\"{}\" names nothing to run on", request.on.substr(0, 40)), "--on",
                "write cpu or cuda:0 (the number nvidia-smi prints)");
  }
  if (!target->gpu && experiment.needs_gpu) {
    return fail("this experiment needs a GPU", "lab " + request.name + " --on " + request.on, "write --on cuda:0");
  }
  return target->gpu;
}

}  // namespace

Result<LabAnswer> run_lab(const Assets& assets, const LabRequest& request, const Progress& progress) {
  const measure::Experiment* experiment = measure::find_experiment(request.name);
  if (experiment == nullptr) return tl::unexpected(unknown_experiment(request.name));
  if (!request.model.empty() && request.name != "decode") {
    return fail("only decode runs a model", "--model", "leave it out, or run corridor lab decode");
  }
  const Result<std::optional<int>> gpu = gpu_of(request, *experiment);
  if (!gpu) return tl::unexpected(gpu.error());
  if (*gpu) {
    if (request.threads > 0) return fail("a GPU runs with all its threads", "--threads", "leave it out");
    if (!request.model.empty()) {
      return fail("on a GPU decode runs shapes of its own", "--model", "leave it out, or run it on the processor");
    }
    return run_on_gpu(*experiment, request, **gpu, progress);
  }
  Result<LabBench> bench = LabBench::open(assets, request.threads, progress, request.memory);
  if (!bench) return tl::unexpected(bench.error());
  if (progress) progress("running " + request.name);
  Result<measure::LabResult> result = bench->run(request.name, request.effort, request.model);
  if (!result) return tl::unexpected(result.error());
  return LabAnswer{bench->machine(), std::move(*result), {}};
}

}  // namespace corridor::app
