// SPDX-License-Identifier: Apache-2.0
// Predicts the grid as `corridor predict` does, and reads and writes the table.
#include "validation/gate_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/scenario_builder.h"
#include "corridor/app/validate_names.h"
#include "corridor/base/parallel_for.h"
#include "corridor/roofline/predict.h"

namespace corridor::test {
namespace {

constexpr std::array models = {
    "meta-llama/Llama-3.2-1B", "meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B", "mistralai/Mistral-7B-v0.3",
    "Qwen/Qwen3-32B",          "Qwen/Qwen3-30B-A3B",      "google/gemma-3-27b",       "mistralai/Mixtral-8x7B-v0.1",
    "openai/gpt-oss-120b",     "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3-Next-80B-A3B",  "moonshotai/Kimi-K2",
};
constexpr std::array devices = {
    "a100-sxm-80", "h100-sxm", "h200", "b200",         "mi300x",     "l40s",      "l4",           "rtx-4090",
    "rtx-5090",    "rtx-3090", "gb10", "m2-ultra-76c", "strix-halo", "epyc-9654", "rtx-pro-6000",
};

struct GateScenario {
  const char* name;
  void (*ask)(app::PredictRequest&);
};

constexpr std::array<GateScenario, 7> scenarios = {{
    {"one user", [](app::PredictRequest&) {}},
    {"batch 16 fp8 context 4096",
     [](app::PredictRequest& r) {
       r.batch = 16;
       r.context = 4096;
       r.weights = "fp8";
     }},
    {"concurrency 64 tp 4",
     [](app::PredictRequest& r) {
       r.concurrency = 64;
       r.tp = 4;
     }},
    {"one user q4_k_m context 2000",
     [](app::PredictRequest& r) {
       r.weights = "q4_k_m";
       r.context = 2000;
     }},
    {"long prompt tp 8",
     [](app::PredictRequest& r) {
       r.input = 32768;
       r.output = 128;
       r.tp = 8;
     }},
    {"batch 64 w4 tp 2",
     [](app::PredictRequest& r) {
       r.batch = 64;
       r.weights = "int4-g128";
       r.tp = 2;
     }},
    {"concurrency 16 kv fp8 ep 8",
     [](app::PredictRequest& r) {
       r.concurrency = 16;
       r.input = 512;
       r.output = 512;
       r.kv = "fp8";
       r.tp = 8;
       r.ep = 8;
     }},
}};

/// One place of the grid: names read once for all of it, the scenario chosen as `corridor predict` chooses it.
struct GateCase {
  std::string key;
  const app::PointModel* model;
  const app::PointDevice* device;
  const app::PointEngine* engine;
  graph::Scenario scenario;
};

std::optional<GateCase> prepare(app::PointNames& names, const char* model, const char* device,
                                const GateScenario& scenario) {
  app::PredictRequest request;
  scenario.ask(request);
  profile::MeasuredPoint point;
  point.model = model;
  point.weights = request.weights;
  const auto spec = names.model(point);
  const auto board = names.device(device);
  if (!spec || !board) return std::nullopt;
  const auto engine = names.engine(point, (*board)->device);
  if (!engine) return std::nullopt;
  request.engine = (*engine)->profile.id;
  GateCase out{fmt::format("{},{},{}", model, device, scenario.name), *spec, *board, *engine, {}};
  app::ScenarioBuilder builder(request, (*spec)->spec, (*board)->device, out.scenario);
  if (!builder.build()) return std::nullopt;
  return out;
}

std::optional<GateRow> predict(const GateCase& c) {
  const auto p = roofline::predict({c.model->spec, c.device->device, c.scenario, c.engine->profile, c.device->constants,
                                    nullptr, &c.model->facts, false});
  if (!p) return std::nullopt;
  const auto token = [&](units::Seconds step) { return p->decode.tpot_s(step); };
  return GateRow{p->prefill.first_token.mid.value(), p->prefill.limit.value(), token(p->decode.expected.mid),
                 token(p->decode.limit)};
}

int number_after(const std::string& line, const std::string& words) {
  const std::size_t at = line.find(words);
  return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + words.size());
}

std::string row_text(const std::string& key, const GateRow& r) {
  return fmt::format("{},{:.6g},{:.6g},{:.6g},{:.6g}\n", key, r.ttft_mid, r.ttft_limit, r.tpot_mid, r.tpot_limit);
}

}  // namespace

GateTable predict_grid(const Assets& assets) {
  app::PointNames names(assets, "");
  std::vector<GateCase> cases;
  for (const char* model : models) {
    for (const char* device : devices) {
      for (const GateScenario& scenario : scenarios) {
        if (auto one = prepare(names, model, device, scenario)) cases.push_back(std::move(*one));
      }
    }
  }
  std::vector<std::optional<GateRow>> rows(cases.size());
  parallel_for(cases.size(), [&](std::size_t i) { rows[i] = predict(cases[i]); });
  GateTable table;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (rows[i]) table.emplace(cases[i].key, *rows[i]);
  }
  return table;
}

GateFile parse_gate(const std::string& text) {
  GateFile out;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (out.head.empty()) {
      out.head = line;
      out.table = number_after(line, "# table ");
    } else if (line.starts_with("# rows of table ")) {
      out.rows_of = number_after(line, "# rows of table ");
    } else {
      GateRow row;
      std::size_t at = line.size();
      for (int i = 0; i < 4 && at != std::string::npos; ++i) at = line.rfind(',', at - 1);
      if (at == std::string::npos) continue;
      const int read = std::sscanf(line.c_str() + at, ",%lf,%lf,%lf,%lf", &row.ttft_mid, &row.ttft_limit, &row.tpot_mid,
                                   &row.tpot_limit);
      if (read == 4) out.rows.emplace(line.substr(0, at), row);
    }
  }
  return out;
}

std::string print_gate(const GateFile& file) {
  std::string out = fmt::format("{}\n# rows of table {}\n", file.head, file.rows_of);
  out += "model,device,scenario,ttft_mid_s,ttft_limit_s,tpot_mid_s,tpot_limit_s\n";
  for (const auto& [key, row] : file.rows) out += row_text(key, row);
  return out;
}

std::string update_refused(const GateFile& file) {
  if (file.table <= 0) return "the first line must be \"# table N, DATE: why the predictions moved\"";
  if (!file.rows.empty() && file.table <= file.rows_of) {
    return fmt::format("these rows are table {} already: raise the number in the first line and say why they moved",
                       file.rows_of);
  }
  return "";
}

std::vector<std::string> moved(const GateTable& accepted, const GateTable& now, double share) {
  std::vector<std::string> out;
  const auto apart = [&](double a, double b) {
    return !(std::fabs(a - b) <= share * std::max(std::fabs(a), std::fabs(b)));
  };
  for (const auto& [key, was] : accepted) {
    const auto found = now.find(key);
    if (found == now.end()) {
      out.push_back(key + ": is not predicted any more");
      continue;
    }
    const GateRow& is = found->second;
    if (apart(was.ttft_mid, is.ttft_mid) || apart(was.ttft_limit, is.ttft_limit) || apart(was.tpot_mid, is.tpot_mid) ||
        apart(was.tpot_limit, is.tpot_limit)) {
      out.push_back("- " + row_text(key, was) + "    + " + row_text(key, is));
    }
  }
  for (const auto& [key, row] : now) {
    if (!accepted.contains(key)) out.push_back(key + ": is not in the table");
  }
  return out;
}

}  // namespace corridor::test
