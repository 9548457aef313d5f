// SPDX-License-Identifier: Apache-2.0
// Finds models and devices by name and puts a case together in the order in which its messages are read.
#include "corridor/app/case_loader.h"

#include "corridor/app/scenario_builder.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/measure/local_device.h"
#include "corridor/model/readers.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

Result<model::ModelSpec> load_model(const Assets& assets, const std::string& name, const std::string& params,
                                    std::vector<std::string>& notes) {
  if (!params.empty() && !name.empty()) {
    return fail("both a model and --params are given", "--params " + params, "give one of the two");
  }
  if (!params.empty()) {
    const Result<double> count = units::parse_count(params);
    if (!count) return fail(count.error().what, "--params " + params, count.error().fix);
    notes.push_back("--params gives no shapes: weights only, no KV cache, no attention");
    return model::plain_dense_model(*count);
  }
  if (name.empty()) {
    return fail("no model given", "corridor predict",
                "name one (corridor models lists them), a folder, or --params 70B");
  }
  Result<model::ResolvedModel> found = model::find_model(assets, name);
  if (!found) return tl::unexpected(found.error());
  if (!found->note.empty()) notes.push_back(found->note);
  return std::move(found->model);
}

Result<hardware::Device> load_device(const Assets& assets, const std::string& name, std::vector<std::string>& notes) {
  Result<hardware::ResolvedDevice> found =
      measure::names_this_machine(name) ? measure::local_device(assets) : hardware::find_device(assets, name);
  if (!found) return tl::unexpected(found.error());
  if (!found->note.empty()) notes.push_back(found->note);
  if (!found->device.warning.empty()) notes.push_back(found->device.id + ": " + found->device.warning);
  return std::move(found->device);
}

void append(const std::vector<std::string>& from, std::vector<std::string>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<int> CaseLoader::take_model(const PredictRequest& request, PredictAnswer& answer) {
  const std::pair key(request.model, request.params);
  auto known = models_.find(key);
  if (known == models_.end()) {
    std::vector<std::string> notes;
    Result<model::ModelSpec> model = load_model(assets_, request.model, request.params, notes);
    if (!model) return tl::unexpected(model.error());
    known = models_.emplace(key, Loaded<model::ModelSpec>{std::move(*model), std::move(notes)}).first;
  }
  answer.model = known->second.value;
  append(known->second.notes, answer.notes);
  return 0;
}

Result<int> CaseLoader::take_device(const std::string& name, PredictAnswer& answer) {
  auto known = devices_.find(name);
  if (known == devices_.end()) {
    std::vector<std::string> notes;
    Result<hardware::Device> device = load_device(assets_, name, notes);
    if (!device) return tl::unexpected(device.error());
    known = devices_.emplace(name, Loaded<hardware::Device>{std::move(*device), std::move(notes)}).first;
  }
  answer.device = known->second.value;
  append(known->second.notes, answer.notes);
  return 0;
}

Result<int> CaseLoader::take_draft(const PredictRequest& request, PredictAnswer& answer) {
  const std::string& name = request.spec_draft;
  if (name.empty() || name == "ngram" || answer.scenario.speculation.draft_tokens == 0) return 0;
  const bool is_count = units::parse_count(name).has_value();
  Result<model::ModelSpec> draft = load_model(assets_, is_count ? "" : name, is_count ? name : "", answer.notes);
  if (!draft) {
    return fail(draft.error().what, "--spec-draft " + name, "name a model, a parameter count like 1B, or ngram");
  }
  answer.draft = std::move(*draft);
  return 0;
}

Result<PredictAnswer> CaseLoader::prepare(const PredictRequest& request) {
  PredictAnswer answer;
  if (Result<int> ok = take_model(request, answer); !ok) return tl::unexpected(ok.error());
  if (Result<int> ok = take_device(request.device, answer); !ok) return tl::unexpected(ok.error());
  ScenarioBuilder builder(request, answer);
  if (Result<int> ok = builder.build(); !ok) return tl::unexpected(ok.error());
  if (Result<int> ok = take_draft(request, answer); !ok) return tl::unexpected(ok.error());

  Result<roofline::EngineProfile> engine = roofline::load_engine(assets_, answer.scenario.engine);
  if (!engine) return tl::unexpected(engine.error());
  answer.engine = std::move(*engine);
  Result<roofline::KernelConstants> constants = constants_.constants(answer.device);
  if (!constants) return tl::unexpected(constants.error());
  answer.constants = std::move(*constants);
  if (answer.scenario.graphs && !answer.engine.graphs_default && !request.no_graphs) {
    answer.notes.push_back("engine " + answer.engine.id + " launches its kernels one by one (no graph capture)");
  }
  return answer;
}

Result<roofline::Prediction> predict_case(const PredictAnswer& prepared, const graph::Scenario& scenario,
                                          const roofline::ModelFacts* facts) {
  return roofline::predict({prepared.model, prepared.device, scenario, prepared.engine, prepared.constants,
                            prepared.draft ? &*prepared.draft : nullptr, facts, facts == nullptr});
}

}  // namespace corridor::app
