// SPDX-License-Identifier: Apache-2.0
// Coordinate descent over the constants of one engine profile at a time, through the program's own predict.
#include "engines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "constant_lines.h"
#include "interval_fit.h"
#include "residuals.h"
#include "run_points.h"

namespace corridor::fit {
namespace {

using profile::PointMetric;
using roofline::EngineProfile;

/// One constant: where it is, between what it is looked for, and where the search starts, whatever the file says.
struct Constant {
  const char* key;
  double EngineProfile::*at;
  double low, high;
  const char* unit;
  double start;
};

enum class Rows { decode, loaded_ttft, prompt, speedup };

/// Constants of one profile that are fitted together on one kind of rows; without any the profile is only judged.
struct Task {
  const char* profile;
  Rows rows;
  std::vector<Constant> constants;
};

constexpr Constant per_step{"host_per_step_s", &EngineProfile::host_per_step_s, 0, 0.02, "s", 2e-4};
constexpr Constant per_request{"host_per_request_s", &EngineProfile::host_per_request_s, 0, 0.001, "s", 2e-5};
constexpr Constant interference{"prefill_interference", &EngineProfile::prefill_interference, 0.2, 1, "1", 0.9};
constexpr Constant eager_gap{"launch_gap_eager_s", &EngineProfile::launch_gap_eager_s, 1e-6, 1.5e-4, "s", 2e-5};
constexpr Constant meeting{"queue_meeting", &EngineProfile::queue_meeting, 0, 4, "1", 0.5};
constexpr Constant wave{"queue_wave", &EngineProfile::queue_wave, 0, 0.6, "1", 0.05};
constexpr Constant round{"speculation_round_s", &EngineProfile::speculation_round_s, 0, 0.05, "s", 5e-3};
constexpr Constant overlap{"turn_overlap", &EngineProfile::turn_overlap, 0, 1, "1", 0.5};

std::vector<Task> tasks() {
  return {
      {"vllm", Rows::decode, {per_step, per_request, interference}},
      {"vllm", Rows::loaded_ttft, {meeting, wave}},
      {"vllm-2025", Rows::decode, {per_step, per_request, interference}},
      {"vllm-2025", Rows::loaded_ttft, {meeting, wave}},
      {"tensorrt-llm", Rows::decode, {per_step, per_request, interference}},
      {"tensorrt-llm", Rows::loaded_ttft, {meeting, wave}},
      {"tensorrt-llm-2025", Rows::decode, {per_step, per_request, interference}},
      {"tensorrt-llm-2025", Rows::loaded_ttft, {meeting, wave}},
      {"sglang", Rows::decode, {per_step, per_request, interference}},
      {"sglang", Rows::loaded_ttft, {meeting, wave}},
      {"vllm-2024", Rows::decode, {per_step, per_request}},
      {"vllm-2023", Rows::decode, {eager_gap}},
      {"tensorrt-llm-2024", Rows::decode, {per_step, per_request}},
      {"deepspeed", Rows::decode, {per_step, per_request}},
      {"lmdeploy", Rows::decode, {per_step, per_request}},
      {"transformers", Rows::decode, {eager_gap}},
      {"transformers", Rows::speedup, {round}},
      {"transformers-draft", Rows::speedup, {round}},
      {"transformers-lookup", Rows::speedup, {round}},
      {"ctranslate2", Rows::decode, {eager_gap}},
      {"exllamav2", Rows::decode, {eager_gap}},
      {"llama.cpp-2024", Rows::decode, {eager_gap}},
      {"llama.cpp-2025", Rows::decode, {}},
      {"llama.cpp-2025", Rows::prompt, {overlap}},
      {"llama.cpp", Rows::decode, {}},
      {"llama.cpp", Rows::prompt, {}},
      {"gpt-fast", Rows::decode, {}},
      {"vllm-2024", Rows::prompt, {}},
      {"vllm-2023", Rows::prompt, {}},
      {"deepspeed", Rows::prompt, {}},
      {"tensorrt-llm-2024", Rows::prompt, {}},
      {"lmdeploy", Rows::prompt, {}},
  };
}

Rows rows_of(const RunPoint& run) {
  switch (run.point.metric) {
    case PointMetric::speedup:
      return Rows::speedup;
    case PointMetric::ttft:
    case PointMetric::prefill_rate:
      return run.scenario.load == graph::Load::concurrency ? Rows::loaded_ttft : Rows::prompt;
    default:
      return Rows::decode;
  }
}

/// Rows that say little about an engine: kernels of the device were never measured, boards that are held back, prompts
/// that choose the same experts, numbers faster than memory allows.
bool tells_engine(const RunPoint& run) {
  const std::string& note = run.point.notes;
  const auto says = [&](const char* word) { return note.find(word) != std::string::npos; };
  return run.constants->measured && !says("power-capped") && !says("identical") && !says("outlier") && !says("faster");
}

constexpr double knee = 0.1;  // of the loss: beyond 10 % an error counts linearly, not squared

double loss_of(const std::vector<const RunPoint*>& runs, const EngineProfile& engine) {
  double sum = 0;
  for (const RunPoint* run : runs) {
    const Result<RunTimes> times = time_run(*run, engine);
    if (!times) continue;
    const double x = std::log(times->predicted / times->observed) / knee;
    sum += std::sqrt(1 + x * x) - 1;
  }
  return sum;
}

/// Golden section between the bounds of one constant; the same steps whatever the data.
double best_value(const Constant& constant, EngineProfile& engine, const std::vector<const RunPoint*>& runs) {
  constexpr double ratio = 0.6180339887498949;
  constexpr int steps = 18;
  // Searched on a root scale: constants of a few microseconds matter as much as those of milliseconds.
  double low = std::sqrt(constant.low);
  double high = std::sqrt(constant.high);
  const auto at = [&](double root) {
    engine.*constant.at = root * root;
    return loss_of(runs, engine);
  };
  double a = high - ratio * (high - low);
  double b = low + ratio * (high - low);
  double loss_a = at(a);
  double loss_b = at(b);
  for (int i = 0; i < steps; ++i) {
    if (loss_a <= loss_b) {
      high = b;
      b = a;
      loss_b = loss_a;
      a = high - ratio * (high - low);
      loss_a = at(a);
    } else {
      low = a;
      a = b;
      loss_a = loss_b;
      b = low + ratio * (high - low);
      loss_b = at(b);
    }
  }
  return std::pow((low + high) / 2, 2);
}

double rounded(double value) {
  if (value < 1e-7) return 0;  // what the search leaves of a constant that the rows do not ask for
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

EngineProfile fitted(const Task& task, EngineProfile engine, const std::vector<const RunPoint*>& runs) {
  const int sweeps = task.constants.size() > 1 ? 5 : 1;
  for (const Constant& constant : task.constants) engine.*constant.at = constant.start;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const Constant& constant : task.constants) engine.*constant.at = best_value(constant, engine, runs);
  }
  for (const Constant& constant : task.constants) engine.*constant.at = rounded(engine.*constant.at);
  return engine;
}

std::vector<Residual> residuals_of(const std::vector<const RunPoint*>& runs, const EngineProfile& engine) {
  std::vector<Residual> residuals;
  for (const RunPoint* run : runs) {
    const Result<RunTimes> times = time_run(*run, engine);
    if (times) residuals.push_back({run, *times});
  }
  return residuals;
}

using Groups = std::map<std::string, std::vector<const RunPoint*>>;

/// Rows that are left out together: one model on one device; where there is but one such group, one layout; else one
/// prompt length.
Groups groups_of(const std::vector<const RunPoint*>& runs) {
  using Name = std::string (*)(const RunPoint&);
  const std::array<Name, 3> names = {
      [](const RunPoint& run) { return run.point.model + " on " + run.device->id; },
      [](const RunPoint& run) { return fmt::format("tp {}", run.scenario.parallelism.tp); },
      [](const RunPoint& run) { return fmt::format("input {}", run.scenario.input); }};
  Groups groups;
  for (const Name name : names) {
    groups.clear();
    for (const RunPoint* run : runs) groups[name(*run)].push_back(run);
    if (groups.size() > 1) break;
  }
  return groups;
}

/// Every row predicted by a fit that has not seen its group.
std::vector<Residual> left_out(const Task& task, const EngineProfile& start, const std::vector<const RunPoint*>& runs) {
  std::vector<Residual> all;
  for (const auto& [name, group] : groups_of(runs)) {
    const std::set<const RunPoint*> inside(group.begin(), group.end());
    std::vector<const RunPoint*> others;
    for (const RunPoint* run : runs) {
      if (inside.count(run) == 0) others.push_back(run);
    }
    const EngineProfile engine = others.empty() ? start : fitted(task, start, others);
    for (const Residual& residual : residuals_of(group, engine)) all.push_back(residual);
  }
  return all;
}

const char* word(Rows rows) {
  switch (rows) {
    case Rows::decode:
      return "decode";
    case Rows::loaded_ttft:
      return "first token under load";
    case Rows::prompt:
      return "prompt";
    case Rows::speedup:
      return "speculation";
  }
  return "";
}

}  // namespace

int fit_engines(const Assets& assets, const EngineFitOptions& options) {
  const Result<RunTable> table = load_runs(assets, options.data + "/validation/runs.csv");
  if (!table) {
    fmt::print(stderr, "{}: {}\n", table.error().where, table.error().what);
    return 2;
  }
  fmt::print("{} rows, {} left out\n", table->points.size(), table->left_out.size());
  std::map<std::string, EngineProfile> engines;
  for (const RunPoint& run : table->points) {
    if (engines.count(run.engine) > 0) continue;
    Result<EngineProfile> engine = roofline::load_engine(assets, run.engine);
    if (!engine) {
      fmt::print(stderr, "{}: {}\n", engine.error().where, engine.error().what);
      return 2;
    }
    engines[run.engine] = std::move(*engine);
  }
  std::map<const RunPoint*, Residual> unseen;  // the residual that counts for intervals: left out where there is a fit
  for (const Task& task : tasks()) {
    if (!options.only.empty() && options.only != task.profile) continue;
    std::vector<const RunPoint*> runs;
    for (const RunPoint& run : table->points) {
      if (run.engine == task.profile && rows_of(run) == task.rows && tells_engine(run)) runs.push_back(&run);
    }
    if (runs.empty()) continue;
    EngineProfile& engine = engines[task.profile];
    const EngineProfile before = engine;
    const std::vector<Residual> old_residuals = residuals_of(runs, before);
    for (const Residual& residual : left_out(task, before, runs)) unseen[residual.run] = residual;
    engine = fitted(task, before, runs);
    const Spread in_sample = spread_of(residuals_of(runs, engine));
    std::vector<Residual> out;
    for (const RunPoint* run : runs) {
      if (unseen.count(run) > 0) out.push_back(unseen[run]);
    }
    fmt::print("{} {} {} rows: before {}; in sample {}; left out {}\n", task.profile, word(task.rows), runs.size(),
               text(spread_of(old_residuals)), text(in_sample), text(spread_of(out)));
    for (const Constant& constant : task.constants) {
      fmt::print("    {} {:.3g} -> {:.3g} {}\n", constant.key, before.*constant.at, engine.*constant.at, constant.unit);
      if (!options.write) continue;
      const ConstantLine line{constant.key, engine.*constant.at, constant.unit, "fit", in_sample};
      if (Result<int> ok = write_constant(options.data + "/engines/" + task.profile + ".toml", line); !ok) {
        fmt::print(stderr, "{}: {}\n", ok.error().where, ok.error().what);
        return 2;
      }
    }
  }
  // Rows without a fit of their own are predicted by what they had no part in.
  std::vector<Residual> all;
  for (const RunPoint& run : table->points) {
    const auto known = unseen.find(&run);
    if (known != unseen.end()) {
      all.push_back(known->second);
      continue;
    }
    const Result<RunTimes> times = time_run(run, engines[run.engine]);
    if (times) all.push_back({&run, *times});
  }
  return fit_intervals(all, engines, options.data + "/intervals.toml", options.write);
}

}  // namespace corridor::fit
