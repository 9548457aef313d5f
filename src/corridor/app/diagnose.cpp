// SPDX-License-Identifier: Apache-2.0
// Merges flags and text, predicts the case, and hands both to the diagnosis.
#include "corridor/app/diagnose.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/app/case_loader.h"
#include "corridor/app/levers.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"

namespace corridor::app {
namespace {

// Servers run at most this many sequences at once unless told otherwise (vLLM's default max-num-seqs, read 2026-11-29).
constexpr double usual_max_sequences = 256;

Result<hardware::Device> rated_device(const Assets& assets, const PredictRequest& base, DiagnoseAnswer& answer) {
  if (base.device.empty()) return fail("no device given", "--device", "rates mean nothing without the device's peaks");
  Result<hardware::ResolvedDevice> device = hardware::find_device(assets, base.device);
  if (!device) return tl::unexpected(device.error());
  if (!device->note.empty()) answer.remarks.push_back(device->note);
  return std::move(device->device);
}

/// From two rates and the device; `executed`: the type that a named model's products compute in.
Result<DiagnoseAnswer> from_rates(hardware::Device device, const std::string& math,
                                  std::optional<hardware::ComputeType> executed, DiagnoseAnswer answer) {
  if (!answer.seen.bytes_per_s || !answer.seen.flop_per_s) {
    return fail("only one of the two rates is given", "corridor diagnose",
                "give both --bytes-per-s and --flop-per-s, or a model and an observed speed such as --observed-tpot");
  }
  std::optional<hardware::ComputeType> type =
      executed ? executed : hardware::executed_type(device, hardware::ComputeType::bf16);
  if (!math.empty()) type = hardware::compute_type_from(math);
  if (!type) return fail("unknown arithmetic type", "--math " + math, "choose bf16, fp16, fp8, int8, tf32 or fp32");
  Result<diagnose::RateDiagnosis> rates =
      diagnose::diagnose_rates(device, *type, *answer.seen.bytes_per_s, *answer.seen.flop_per_s, answer.seen.meter);
  if (!rates) return tl::unexpected(rates.error());
  answer.rates = std::move(*rates);
  answer.device = std::move(device);
  return answer;
}

/// Requests a second that the case can serve when as many sequences run as memory and the engine allow.
std::optional<double> capacity(const PredictAnswer& a, const std::optional<double>& max_sequences) {
  graph::Scenario full = a.scenario;
  full.load = graph::Load::concurrency;
  const double replicas = static_cast<double>(full.parallelism.dp);
  full.sequences = std::max(replicas, max_sequences.value_or(usual_max_sequences * replicas));
  const Result<roofline::Prediction> p = predict_case(a, full);
  if (!p) return std::nullopt;
  const double users = p->decode.sequences * static_cast<double>(full.parallelism.dp);
  const double answer_s =
      p->prefill.expected.mid.value() + p->decode.tpot_s(p->decode.expected.mid) * static_cast<double>(full.output - 1);
  return users / answer_s;
}

/// Boards of the catalogue whose id begins with the same family name ("h100-").
std::vector<diagnose::BoardVariant> variants(CaseLoader& loader, const PredictAnswer& a,
                                             const diagnose::Observation& seen) {
  std::vector<diagnose::BoardVariant> found;
  const std::string family = a.device.id.substr(0, a.device.id.find('-') + 1);
  if (family.empty() || a.device.kind != hardware::DeviceKind::gpu) return found;
  if (family == "rtx-") return found;  // the number after it makes the family: no variants share it
  for (const std::string& id : hardware::device_ids(loader.assets())) {
    if (id == a.device.id || !id.starts_with(family)) continue;
    PredictAnswer other = a;
    Result<hardware::ResolvedDevice> device = hardware::find_device(loader.assets(), id);
    if (!device) continue;
    other.device = std::move(device->device);
    Result<roofline::KernelConstants> constants = loader.constants().constants(other.device);
    if (!constants) continue;
    other.constants = std::move(*constants);
    const Result<roofline::Prediction> p = predict_case(other, other.scenario);
    if (!p) continue;
    const bool first_token = !seen.tpot_s && !seen.tok_s_per_user && !seen.output_tok_s && !seen.total_tok_s;
    const auto &here = a.device.link.bandwidth_per_direction, &there = other.device.link.bandwidth_per_direction;
    found.push_back({id,
                     first_token ? p->prefill.expected.mid : units::Seconds{p->decode.tpot_s(p->decode.expected.mid)},
                     here && (!there || there->value < here->value)});
  }
  return found;
}

/// Changes that make a case fit which does not, each checked by counting its memory again.
std::vector<std::string> what_fits(const PredictAnswer& a) {
  std::vector<std::string> found;
  const auto fits = [&](const model::ModelSpec& model, const graph::Scenario& scenario) {
    return roofline::fit_memory(model, a.device, scenario, a.engine).fits;
  };
  const double bits = a.model.stored(model::TensorRole::dense_mlp).format.bits_per_weight;
  for (const char* name : {"fp8", "int4"}) {
    const auto format = model::find_weight_format(name);
    if (!format || format->bits_per_weight >= bits) continue;
    if (fits(model::with_weight_format(a.model, *format), a.scenario))
      found.push_back(fmt::format("weights in {}: --weights {}", format->name, name));
  }
  if (a.scenario.kv.bits_per_weight > 8 && !a.model.plain_parameters) {
    graph::Scenario narrow = a.scenario;
    narrow.kv = *model::find_weight_format("fp8");
    if (fits(a.model, narrow)) found.emplace_back("KV cache in fp8: --kv fp8");
  }
  graph::Scenario fewer = a.scenario;
  while (fewer.sequences > static_cast<double>(fewer.parallelism.dp) && !fits(a.model, fewer))
    fewer.sequences = std::max(static_cast<double>(fewer.parallelism.dp), std::floor(fewer.sequences / 2));
  if (fewer.sequences < a.scenario.sequences && fits(a.model, fewer)) {
    found.push_back(fmt::format("fewer sequences: --{} {:.0f}",
                                a.scenario.load == graph::Load::batch ? "batch" : "concurrency", fewer.sequences));
  }
  const std::int64_t devices = a.prediction.memory.devices_needed;
  if (devices > 0)
    found.push_back(fmt::format("more devices: {} of {} hold it (--devices {})", devices, a.device.id, devices));
  return found;
}

Result<int> check_gathered(const GatheredRun& run, const DiagnoseRequest& request) {
  if (run.understood_nothing && run.seen.empty()) {
    std::size_t bytes = 0;
    for (const RunFile& text : request.texts) bytes += text.bytes.size();
    return fail(
        fmt::format("nothing in the {} bytes of text was understood", bytes), "pasted text",
        "paste a serve command, a benchmark result block or engine log lines, or give --observed-tpot and the like");
  }
  if (run.asks_for_concurrency) {
    return fail("a throughput of many requests, and nothing tells how many requests ran at once", "pasted text",
                "add --concurrency N");
  }
  return 0;
}

/// Nothing to predict, or nothing to compare a prediction with: the metrics stand alone.
bool is_metrics_alone(const PredictRequest& base, const DiagnoseRequest& request, const diagnose::Observation& seen) {
  const bool case_known = (!base.model.empty() || !base.params.empty()) && !base.device.empty();
  return !(case_known && !seen.empty()) && request.seen.empty() && request.results.empty();
}

/// The device of metrics that stand alone, when it is known: its bandwidth tells what an activity may mean.
Result<DiagnoseAnswer> name_known_device(const Assets& assets, const PredictRequest& base, DiagnoseAnswer answer) {
  const bool model = !base.model.empty() || !base.params.empty();
  if (base.device.empty()) {
    answer.remarks.emplace_back(model ? "no device is known, so nothing is predicted: add --device"
                                      : "neither model nor device is known, so nothing is predicted: name them");
    return answer;
  }
  Result<hardware::ResolvedDevice> device = hardware::find_device(assets, base.device);
  if (!device) return tl::unexpected(device.error());
  if (!device->note.empty()) answer.remarks.push_back(device->note);
  answer.device = std::move(device->device);
  answer.remarks.emplace_back(model ? "the page tells no speed, so nothing is compared: take two pages under load"
                                    : "no model is known, so nothing is predicted: name it first");
  return answer;
}

bool rates_alone(const diagnose::Observation& seen) {
  return (seen.bytes_per_s || seen.flop_per_s) && !seen.has_speed() && !seen.request_rate && !seen.request_per_s;
}

}  // namespace

Result<DiagnoseAnswer> diagnose(const Assets& assets, const DiagnoseRequest& request) {
  DiagnoseAnswer answer;
  Result<GatheredRun> taken = gather_run(assets, request);
  if (!taken) return tl::unexpected(taken.error());
  if (Result<int> ok = check_gathered(*taken, request); !ok) return tl::unexpected(ok.error());
  PredictRequest base = std::move(taken->base);
  answer.seen = taken->seen;
  answer.metrics = std::move(taken->metrics);
  answer.understood = std::move(taken->understood);
  answer.ignored = std::move(taken->ignored);
  answer.remarks = std::move(taken->remarks);
  if (answer.metrics && is_metrics_alone(base, request, answer.seen)) {
    answer.metrics_alone = judge_metrics(*answer.metrics);
    return name_known_device(assets, base, std::move(answer));
  }
  if (base.model.empty() && base.params.empty()) {
    if (answer.seen.bytes_per_s || answer.seen.flop_per_s) {
      Result<hardware::Device> device = rated_device(assets, base, answer);
      if (!device) return tl::unexpected(device.error());
      return from_rates(std::move(*device), base.math, std::nullopt, std::move(answer));
    }
    return fail("the model is not known", "corridor diagnose",
                "name it first, e.g. corridor diagnose meta-llama/Llama-3.1-8B …");
  }
  if (base.device.empty()) {
    return fail("the device is not known", "--device",
                "add it as nvidia-smi prints it, e.g. --device \"NVIDIA H100 80GB HBM3\"");
  }
  if (answer.seen.request_rate && !base.batch && !base.concurrency) {
    // Under an offered rate the engine decides how many run at once: as many as arrive, up to its usual most.
    base.concurrency = taken->max_sequences.value_or(usual_max_sequences * static_cast<double>(base.dp.value_or(1)));
    answer.remarks.push_back(fmt::format(
        "a request rate is given and no concurrency: up to {:.0f} sequences at once are taken", *base.concurrency));
  }
  CaseLoader loader(assets);
  Result<PredictAnswer> predicted = predict(loader, base);
  if (!predicted) return tl::unexpected(predicted.error());
  const hardware::ComputeType arithmetic = predicted->prediction.arithmetic.type;
  answer.predicted = std::move(*predicted);
  PredictAnswer& a = *answer.predicted;
  answer.device = a.device;
  if (rates_alone(answer.seen)) {
    answer.remarks.emplace_back("no speed is given, so of the model only the type of its arithmetic has an effect");
    answer.predicted.reset();
    hardware::Device device = answer.device;
    return from_rates(std::move(device), base.math, arithmetic, std::move(answer));
  }

  const bool estimated = !request.seen.bytes_per_s && answer.seen.bytes_per_s;
  if (estimated && !diagnose::check_rates(a.device, arithmetic, answer.seen.bytes_per_s, answer.seen.flop_per_s)) {
    answer.remarks.emplace_back(
        "the engine's own estimate of bytes and FLOPs is above what the device can do: left out");
    answer.seen.bytes_per_s.reset();
    answer.seen.flop_per_s.reset();
  }
  const roofline::PredictInput input{a.model,  a.device,    a.scenario,
                                     a.engine, a.constants, a.draft ? &*a.draft : nullptr};
  answer.ladder = result_ladder(taken->results, a);
  const bool rate_known = answer.seen.request_rate || answer.seen.request_per_s;
  Result<diagnose::Diagnosis> diagnosis = diagnose::diagnose(
      {input, a.prediction, answer.seen, rate_known ? capacity(a, taken->max_sequences) : std::nullopt,
       variants(loader, a, answer.seen)});
  if (!diagnosis) return tl::unexpected(diagnosis.error());
  answer.diagnosis = std::move(*diagnosis);
  if (answer.diagnosis->status == diagnose::Status::does_not_fit)
    answer.fits_with = what_fits(a);
  else
    answer.levers = rank_levers(loader, a);
  return answer;
}

}  // namespace corridor::app
