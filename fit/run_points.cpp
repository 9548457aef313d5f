// SPDX-License-Identifier: Apache-2.0
// Resolves the rows of a table of runs and compares each in its own metric.
#include "run_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "corridor/base/file.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"
#include "corridor/profile/points/words.h"

namespace corridor::fit {
namespace {

using profile::MeasuredPoint;
using profile::PointMetric;

/// Loads every name once.
class Loader {
 public:
  explicit Loader(const Assets& assets) : assets_(assets), files_(assets) {}

  Result<RunPoint> load(const MeasuredPoint& point) {
    RunPoint run;
    run.point = point;
    if (Result<int> ok = take_model(run); !ok) return tl::unexpected(ok.error());
    if (Result<int> ok = take_device(run); !ok) return tl::unexpected(ok.error());
    const std::string version = profile::version_of(point.engine);
    const auto key = std::pair(point.engine, point.date);
    if (engines_.count(key) == 0) {
      engines_[key] = roofline::engine_for(assets_, point.engine, version, point.date);
    }
    run.engine = engines_[key];
    if (run.engine.empty()) return fail("no profile for engine " + point.engine, point.id);
    fill_scenario(run);
    return run;
  }

 private:
  Result<int> take_model(RunPoint& run) {
    const auto key = std::pair(run.point.model, run.point.weights);
    if (models_.count(key) == 0) {
      Result<model::ResolvedModel> found = model::find_model(assets_, run.point.model);
      if (!found) return tl::unexpected(found.error());
      model::ModelSpec spec = std::move(found->model);
      if (!run.point.weights.empty()) {
        const auto format = model::find_weight_format(profile::weight_format_word(run.point.weights));
        if (!format) return fail("unknown weight format " + run.point.weights, run.point.id);
        spec = model::with_weight_format(std::move(spec), *format);
      }
      roofline::ModelFacts facts(spec);
      models_[key] = std::make_shared<LoadedModel>(LoadedModel{std::move(spec), std::move(facts)});
    }
    run.model = models_[key];
    return 0;
  }

  Result<int> take_device(RunPoint& run) {
    const std::string& name = run.point.device;
    if (devices_.count(name) == 0) {
      Result<hardware::ResolvedDevice> found = hardware::find_device(assets_, name);
      if (!found) return tl::unexpected(found.error());
      Result<roofline::KernelConstants> constants = files_.constants(found->device);
      if (!constants) return tl::unexpected(constants.error());
      devices_[name] = std::make_shared<hardware::Device>(std::move(found->device));
      constants_[name] = std::make_shared<roofline::KernelConstants>(std::move(*constants));
    }
    run.device = devices_[name];
    run.constants = constants_[name];
    return 0;
  }

  static void fill_scenario(RunPoint& run) {
    const MeasuredPoint& p = run.point;
    graph::Scenario& s = run.scenario;
    s.parallelism.tp = p.tp.value_or(p.devices.value_or(1));
    s.parallelism.pp = p.pp.value_or(1);
    s.parallelism.ep = p.ep.value_or(1);
    s.load = p.load == profile::PointLoad::concurrency ? graph::Load::concurrency : graph::Load::batch;
    s.sequences = p.sequences.value_or(1);
    s.input = std::max<std::int64_t>(1, static_cast<std::int64_t>(p.input.value_or(1)));
    s.output = std::max<std::int64_t>(1, static_cast<std::int64_t>(p.output.value_or(1)));
    s.context = p.context.value_or(static_cast<double>(s.input) + static_cast<double>(s.output) / 2);
    const auto kv = model::find_weight_format(profile::weight_format_word(p.kv));
    s.kv = kv ? *kv : run.model->model.kv_format.value_or(*model::find_weight_format("bf16"));
    s.engine = run.engine;
    if (p.tokens_per_step && p.draft_tokens) {
      s.speculation.draft_tokens = static_cast<std::int64_t>(*p.draft_tokens);
      s.speculation.acceptance = graph::acceptance_for(s.speculation.draft_tokens, *p.tokens_per_step);
    }
  }

  const Assets& assets_;
  roofline::ConstantFiles files_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const LoadedModel>> models_;
  std::map<std::pair<std::string, std::string>, std::string> engines_;
  std::map<std::string, std::shared_ptr<const hardware::Device>> devices_;
  std::map<std::string, std::shared_ptr<const roofline::KernelConstants>> constants_;
};

struct Three {
  double mid, low, high, limit;
};

/// The row's metric as a time, and the same time of a prediction.
Result<RunTimes> in_metric(const RunPoint& run, const roofline::Prediction& p, const roofline::Prediction* plain) {
  const double tokens = p.decode.tokens_per_sequence;
  const Three tpot{p.decode.expected.mid.value() / tokens, p.decode.expected.low.value() / tokens,
                   p.decode.expected.high.value() / tokens, p.decode.limit.value() / tokens};
  const Three ttft{p.prefill.first_token.mid.value(), p.prefill.first_token.low.value(),
                   p.prefill.first_token.high.value(), p.prefill.limit.value()};
  const double rest = static_cast<double>(run.scenario.output) - 1;
  const auto latency = [&](double Three::*part) { return ttft.*part + rest * (tpot.*part); };
  const Three whole{latency(&Three::mid), latency(&Three::low), latency(&Three::high), latency(&Three::limit)};
  const double n = run.scenario.sequences;
  const double input = static_cast<double>(run.scenario.input);
  const double output = static_cast<double>(run.scenario.output);
  const double value = run.point.value;
  const auto times = [&](double observed, const Three& t) {
    return RunTimes{observed, t.mid, t.limit, t.low, t.high, p.memory.sequences < n};
  };
  switch (run.point.metric) {
    case PointMetric::tpot:
      return times(value, tpot);
    case PointMetric::decode_per_user:
      return times(1 / value, tpot);
    case PointMetric::ttft:
      return times(value, ttft);
    case PointMetric::latency:
      return times(value, whole);
    case PointMetric::output_total:
      return times(n * output / value, whole);
    case PointMetric::total_tokens:
      return times(n * (input + output) / value, whole);
    case PointMetric::prefill_rate:
      return times(n * input / value, ttft);
    case PointMetric::speedup: {
      const double before = plain->decode.expected.mid.value();
      const Three t{tpot.mid / before, tpot.low / before, tpot.high / before, tpot.limit / before};
      return times(1 / value, t);
    }
    default:
      return fail("metric has no run", run.point.id);
  }
}

}  // namespace

Result<RunTable> load_runs(const Assets& assets, const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  Result<profile::PointTable> table = profile::read_points(*text, path);
  if (!table) return tl::unexpected(table.error());
  RunTable runs;
  Loader loader(assets);
  for (const MeasuredPoint& point : table->points) {
    if (!point.not_usable.empty()) {
      runs.left_out.push_back(point.id + ": " + point.not_usable);
      continue;
    }
    Result<RunPoint> run = loader.load(point);
    if (run) {
      runs.points.push_back(std::move(*run));
    } else {
      runs.left_out.push_back(point.id + ": " + run.error().what);
    }
  }
  return runs;
}

Result<RunTimes> time_run(const RunPoint& run, const roofline::EngineProfile& engine) {
  const roofline::PredictInput input{run.model->model, *run.device, run.scenario,      engine,
                                     *run.constants,   nullptr,     &run.model->facts, false};
  const Result<roofline::Prediction> prediction = roofline::predict(input);
  if (!prediction) return tl::unexpected(prediction.error());
  if (run.point.metric != PointMetric::speedup) return in_metric(run, *prediction, nullptr);
  graph::Scenario plain = run.scenario;
  plain.speculation = {};
  const roofline::PredictInput without{run.model->model, *run.device,       plain, engine, *run.constants,
                                       nullptr,          &run.model->facts, false};
  const Result<roofline::Prediction> base = roofline::predict(without);
  if (!base) return tl::unexpected(base.error());
  return in_metric(run, *prediction, &*base);
}

}  // namespace corridor::fit
