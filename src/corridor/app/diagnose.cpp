// SPDX-License-Identifier: Apache-2.0
// Merges flags and text, predicts the case, and hands both to the diagnosis.
#include "corridor/app/diagnose.h"

#include <algorithm>

#include <fmt/format.h>

#include "corridor/app/case_loader.h"
#include "corridor/app/levers.h"
#include "corridor/app/paste_case.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::app {
namespace {

// Servers run at most this many sequences at once unless told otherwise (vLLM's default max-num-seqs, read 2026-11-29).
constexpr double usual_max_sequences = 256;

Result<int> take_text(const DiagnoseRequest& request, PredictRequest& base, DiagnoseAnswer& answer) {
  if (!request.text_given) return 0;
  const profile::PastedRun paste = profile::read_paste(request.text);
  answer.understood = paste.understood;
  answer.ignored = paste.ignored;
  if (paste.ignored_more > 0) answer.ignored.push_back(fmt::format("and {} more", paste.ignored_more));
  answer.remarks = take_paste(paste, base, answer.seen);
  if (paste.empty() && answer.seen.empty()) {
    return fail(
        fmt::format("nothing in the {} bytes of text was understood", request.text.size()), "pasted text",
        "paste a serve command, a benchmark result block or engine log lines, or give --observed-tpot and the like");
  }
  return 0;
}

Result<DiagnoseAnswer> from_rates(const Assets& assets, const PredictRequest& base, DiagnoseAnswer answer) {
  if (!answer.seen.bytes_per_s || !answer.seen.flop_per_s) {
    return fail("only one of the two rates is given", "corridor diagnose",
                "give both --bytes-per-s and --flop-per-s, or a model");
  }
  if (base.device.empty()) return fail("no device given", "--device", "rates mean nothing without the device's peaks");
  Result<hardware::ResolvedDevice> device = hardware::find_device(assets, base.device);
  if (!device) return tl::unexpected(device.error());
  if (!device->note.empty()) answer.remarks.push_back(device->note);
  std::optional<hardware::ComputeType> type = hardware::executed_type(device->device, hardware::ComputeType::bf16);
  if (!base.math.empty()) type = hardware::compute_type_from(base.math);
  if (!type)
    return fail("unknown arithmetic type", "--math " + base.math, "choose bf16, fp16, fp8, int8, tf32 or fp32");
  Result<diagnose::RateDiagnosis> rates = diagnose::diagnose_rates(device->device, *type, *answer.seen.bytes_per_s,
                                                                   *answer.seen.flop_per_s, answer.seen.meter);
  if (!rates) return tl::unexpected(rates.error());
  answer.rates = std::move(*rates);
  answer.device = std::move(device->device);
  return answer;
}

/// Requests a second that the case can serve when as many sequences run as memory and the engine allow.
std::optional<double> capacity(const PredictAnswer& a) {
  graph::Scenario full = a.scenario;
  full.load = graph::Load::concurrency;
  full.sequences = usual_max_sequences * static_cast<double>(full.parallelism.dp);
  const Result<roofline::Prediction> p = predict_case(a, full);
  if (!p) return std::nullopt;
  const double users = p->decode.sequences * static_cast<double>(full.parallelism.dp);
  const double answer_s =
      p->prefill.expected.mid.value() + p->decode.tpot_s(p->decode.expected.mid) * static_cast<double>(full.output - 1);
  return users / answer_s;
}

/// Boards of the catalogue whose id begins with the same family name ("h100-").
std::vector<diagnose::BoardVariant> variants(const Assets& assets, const PredictAnswer& a,
                                             const diagnose::Observation& seen) {
  std::vector<diagnose::BoardVariant> found;
  const std::string family = a.device.id.substr(0, a.device.id.find('-') + 1);
  if (family.empty() || a.device.kind != hardware::DeviceKind::gpu) return found;
  if (family == "rtx-") return found;  // the number after it makes the family: no variants share it
  for (const std::string& id : hardware::device_ids(assets)) {
    if (id == a.device.id || !id.starts_with(family)) continue;
    PredictAnswer other = a;
    Result<hardware::ResolvedDevice> device = hardware::find_device(assets, id);
    if (!device) continue;
    other.device = std::move(device->device);
    Result<roofline::KernelConstants> constants = roofline::load_kernel_constants(assets, other.device);
    if (!constants) continue;
    other.constants = std::move(*constants);
    const Result<roofline::Prediction> p = predict_case(other, other.scenario);
    if (!p) continue;
    const bool first_token = !seen.tpot_s && !seen.tok_s_per_user && !seen.output_tok_s && !seen.total_tok_s;
    found.push_back(
        {id, first_token ? p->prefill.expected.mid : units::Seconds{p->decode.tpot_s(p->decode.expected.mid)}});
  }
  return found;
}

}  // namespace

Result<DiagnoseAnswer> diagnose(const Assets& assets, const DiagnoseRequest& request) {
  DiagnoseAnswer answer;
  answer.seen = request.seen;
  PredictRequest base = request.base;
  answer.seen.lengths_given = base.output.has_value();
  if (Result<int> ok = take_text(request, base, answer); !ok) return tl::unexpected(ok.error());
  if (base.model.empty() && base.params.empty()) {
    if (answer.seen.bytes_per_s || answer.seen.flop_per_s) return from_rates(assets, base, std::move(answer));
    return fail("the model is not known", "corridor diagnose",
                "name it first, e.g. corridor diagnose meta-llama/Llama-3.1-8B …");
  }
  if (base.device.empty()) {
    return fail("the device is not known", "--device",
                "add it as nvidia-smi prints it, e.g. --device \"NVIDIA H100 80GB HBM3\"");
  }
  if (answer.seen.request_rate && !base.batch && !base.concurrency) {
    // Under an offered rate the engine decides how many run at once: as many as arrive, up to its usual most.
    base.concurrency = usual_max_sequences;
    answer.remarks.push_back(fmt::format(
        "a request rate is given and no concurrency: up to {:.0f} sequences at once are taken", usual_max_sequences));
  }
  CaseLoader loader(assets);
  Result<PredictAnswer> predicted = loader.prepare(base);
  if (!predicted) return tl::unexpected(predicted.error());
  Result<roofline::Prediction> prediction = predict_case(*predicted, predicted->scenario);
  if (!prediction) return tl::unexpected(prediction.error());
  predicted->prediction = std::move(*prediction);
  answer.predicted = std::move(*predicted);
  PredictAnswer& a = *answer.predicted;
  answer.device = a.device;

  const roofline::PredictInput input{a.model,  a.device,    a.scenario,
                                     a.engine, a.constants, a.draft ? &*a.draft : nullptr};
  const bool rate_known = answer.seen.request_rate || answer.seen.request_per_s;
  Result<diagnose::Diagnosis> diagnosis = diagnose::diagnose(
      {input, a.prediction, answer.seen, rate_known ? capacity(a) : std::nullopt, variants(assets, a, answer.seen)});
  if (!diagnosis) return tl::unexpected(diagnosis.error());
  answer.diagnosis = std::move(*diagnosis);
  answer.levers = rank_levers(assets, a);
  return answer;
}

}  // namespace corridor::app
