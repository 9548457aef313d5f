// SPDX-License-Identifier: Apache-2.0
// Names the device of a trace, takes the model from the flags, and analyses one file after the other.
#include "corridor/app/trace_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "corridor/app/scenario_builder.h"
#include "corridor/app/trace_file.h"
#include "corridor/base/nearest.h"
#include "corridor/diagnose/trace/timeline.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/measure/local_device.h"
#include "corridor/model/readers.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

// A driver keeps some of the memory for itself: sizes this close are of one board.
constexpr double same_memory = 0.03;

/// The catalogue's devices with this many SMs or CUs and about this much memory.
std::vector<hardware::Device> devices_of_size(const Assets& assets, const profile::TraceDevice& traced) {
  std::vector<hardware::Device> fitting;
  if (!traced.sm_count || !traced.memory_bytes) return fitting;
  for (const std::string& id : hardware::device_ids(assets)) {
    Result<hardware::ResolvedDevice> found = hardware::find_device(assets, id);
    if (!found || !found->device.sm.count || !found->device.memory_capacity) continue;
    if (found->device.sm.count->value != *traced.sm_count) continue;
    const double ratio = found->device.memory_capacity->value.value() / *traced.memory_bytes;
    if (std::fabs(ratio - 1) <= same_memory) fitting.push_back(std::move(found->device));
  }
  return fitting;
}

/// What the trace tells of the device with the most GPU work.
const profile::TraceDevice* traced_device(const profile::Trace& trace) {
  if (trace.devices.empty() || trace.gpu.empty()) return nullptr;
  const std::uint16_t busiest = diagnose::timelines(trace).front().device;
  for (const profile::TraceDevice& device : trace.devices) {
    if (device.id == busiest) return &device;
  }
  // ROCm may number the GPUs of the events in another way: no matter where all are alike.
  const profile::TraceDevice& first = trace.devices.front();
  const bool alike = std::all_of(trace.devices.begin(), trace.devices.end(), [&](const profile::TraceDevice& d) {
    return d.name == first.name && d.sm_count == first.sm_count && d.memory_bytes == first.memory_bytes;
  });
  return alike ? &first : nullptr;
}

class TraceReader {
 public:
  TraceReader(const Assets& assets, const PredictRequest& base) : assets_(assets), base_(base) {}

  /// The model and the device that the flags name.
  Result<int> prepare() {
    if (Result<int> ok = take_model(); !ok) return ok;
    if (!base_.kv.empty() && !model::find_weight_format(base_.kv)) {
      return fail("unknown KV cache format", "--kv " + shown_word(base_.kv, 40), "try bf16, fp8 or int8");
    }
    if (base_.tp && (*base_.tp < 1 || *base_.tp > 65536)) {
      return fail(fmt::format("{} is out of range", *base_.tp), "--tp", "give 1 to 65536");
    }
    if (base_.device.empty()) return 0;
    Result<hardware::ResolvedDevice> found = measure::names_this_machine(base_.device)
                                                 ? measure::local_device(assets_)
                                                 : hardware::find_device(assets_, base_.device);
    if (!found) return tl::unexpected(found.error());
    if (!found->note.empty()) notes_.push_back(found->note);
    given_device_ = std::move(found->device);
    return 0;
  }

  Result<TraceAnswer> read(const TraceFile& file, bool keep_trace) {
    Result<profile::Trace> trace = read_trace_file(file);
    if (!trace) return tl::unexpected(trace.error());
    TraceAnswer answer;
    answer.file = file.name;
    answer.format = trace->format;
    answer.producer = trace->producer;
    answer.rank = trace->rank;
    answer.world_size = trace->world_size;
    answer.notes = notes_;
    choose_device(*trace, answer);
    choose_tp(*trace, answer);
    if (model_) answer.model = model_->name;
    const hardware::Device* device = answer.device ? &*answer.device : nullptr;
    Result<diagnose::TraceAnalysis> analysis =
        diagnose::analyse({*trace, device, model_ ? &*model_ : nullptr, answer.tp, base_.kv});
    if (!analysis) return fail(analysis.error().what, file.name, analysis.error().fix);
    answer.analysis = std::move(*analysis);
    answer.import = std::move(trace->stats);
    if (keep_trace) answer.trace = std::move(*trace);
    return answer;
  }

 private:
  Result<int> take_model() {
    if (base_.model.empty() && base_.params.empty()) return 0;
    if (!base_.params.empty()) {
      return fail("gives no shapes, which is what a trace asks a model for", "--params " + base_.params,
                  "name a model, or leave it out");
    }
    Result<model::ResolvedModel> found = model::find_model(assets_, base_.model);
    if (!found) return tl::unexpected(found.error());
    if (!found->note.empty()) notes_.push_back(found->note);
    model_ = std::move(found->model);
    return format_weights(*model_, base_.weights);
  }

  void choose_device(const profile::Trace& trace, TraceAnswer& answer) {
    const profile::TraceDevice* traced = traced_device(trace);
    if (traced != nullptr) answer.traced_device = traced->name;
    std::optional<hardware::Device> told = traced == nullptr ? std::nullopt : told_device(*traced, answer);
    if (given_device_) {
      answer.device = given_device_;
      if (told && told->id != given_device_->id) {
        answer.notes.push_back(
            fmt::format("the trace was recorded on {}; --device {} is used as asked", told->id, base_.device));
      }
      return;
    }
    answer.device = std::move(told);
  }

  std::optional<hardware::Device> told_device(const profile::TraceDevice& traced, TraceAnswer& answer) {
    if (!traced.name.empty()) {
      Result<hardware::ResolvedDevice> found = hardware::find_device(assets_, traced.name);
      if (found) {
        if (!found->note.empty() && !given_device_) answer.notes.push_back(found->note);
        return std::move(found->device);
      }
    }
    std::vector<hardware::Device> sized = devices_of_size(assets_, traced);
    if (sized.empty()) return std::nullopt;
    std::string ids;
    for (const hardware::Device& device : sized) ids += (ids.empty() ? "" : " or ") + device.id;
    if (!given_device_) {
      answer.notes.push_back(fmt::format("the trace names {}: {:.0f} SMs or CUs and {} of memory {} {}",
                                         traced.name.empty() ? "no device" : "the unknown device " + traced.name,
                                         *traced.sm_count, units::print(units::Bytes{*traced.memory_bytes}),
                                         sized.size() == 1 ? "are taken as" : "may be", ids));
    }
    if (sized.size() > 1) return std::nullopt;
    return std::move(sized.front());
  }

  void choose_tp(const profile::Trace& trace, TraceAnswer& answer) const {
    if (base_.tp) {
      answer.tp = static_cast<double>(*base_.tp);
    } else if (model_ && trace.world_size.value_or(0) > 1) {
      answer.tp = *trace.world_size;
      answer.notes.push_back(fmt::format(
          "tp taken as {:.0f}, the number of ranks in the trace; give --tp if they are replicas or stages", answer.tp));
    }
  }

  const Assets& assets_;
  const PredictRequest& base_;
  std::optional<model::ModelSpec> model_;
  std::optional<hardware::Device> given_device_;
  std::vector<std::string> notes_;
};

TraceRank rank_of(const TraceAnswer& answer) {
  const diagnose::TraceAnalysis& a = answer.analysis;
  TraceRank rank{answer.file, answer.rank, a.span_s, a.gpu_busy_s, 0, a.kernels, a.launches, a.sentence};
  for (const diagnose::ClassTotal& total : a.classes) {
    if (total.kernel_class == diagnose::KernelClass::collective) rank.collective_s += total.total_s;
  }
  rank.collective_s = std::min(rank.collective_s, rank.gpu_busy_s);
  return rank;
}

/// Ranks of one run have one device, one world and a number each: what does not fit is named.
class RankCheck {
 public:
  void take(const TraceAnswer& answer) {
    const std::string device = answer.device ? answer.device->id : std::string();
    compare("the device", device, answer.file, device_);
    compare("the number of ranks", text(answer.world_size), answer.file, world_);
    if (!answer.rank) return;
    const auto [known, is_new] = file_of_rank_.try_emplace(*answer.rank, answer.file);
    if (is_new) return;
    notes_.push_back(fmt::format("contradiction: {} and {} both are rank {}; are they of one run?", known->second,
                                 answer.file, *answer.rank));
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Said {
    std::string value, file;
    bool told = false;  ///< a difference was named already
  };
  static std::string text(const std::optional<int>& number) { return number ? std::to_string(*number) : std::string(); }

  void compare(const char* what, const std::string& value, const std::string& file, Said& first) {
    if (value.empty() || first.told) return;
    if (first.value.empty()) {
      first = {value, file};
    } else if (value != first.value) {
      first.told = true;
      notes_.push_back(fmt::format("contradiction: {} is {} in {} and {} in {}; are they of one run?", what,
                                   first.value, first.file, value, file));
    }
  }

  Said device_, world_;
  std::map<int, std::string> file_of_rank_;
  std::vector<std::string> notes_;
};

/// A trace tells what ran: the rest of the scenario cannot change its answer.
void name_flags_without_effect(const PredictRequest& base, std::vector<std::string>& notes) {
  std::string flags;
  const auto add = [&](bool given, const char* flag) {
    if (given) flags += (flags.empty() ? "" : ", ") + std::string(flag);
  };
  add(base.devices || base.pp || base.ep || base.dp, "the layout beyond --tp");
  add(!base.math.empty(), "--math");
  add(!base.engine.empty(), "--engine");
  add(!base.routing.empty(), "--routing");
  add(base.batch || base.concurrency, "--batch and --concurrency");
  add(base.context || base.input || base.output, "lengths");
  add(base.spec_tokens || base.spec_acceptance || base.spec_tokens_per_round || !base.spec_draft.empty(),
      "speculation");
  add(base.no_graphs || base.no_flash_attention || base.no_fusion, "--no-… flags");
  add(base.model.empty() && !base.weights.empty(), "--weights without a model");
  add(base.model.empty() && !base.kv.empty(), "--kv without a model");
  add(base.model.empty() && base.tp, "--tp without a model");
  if (!flags.empty()) notes.push_back("without effect on a trace: " + flags);
}

}  // namespace

Result<TraceAnswer> diagnose_traces(const Assets& assets, const TraceRequest& request) {
  TraceReader reader(assets, request.base);
  if (Result<int> ok = reader.prepare(); !ok) return tl::unexpected(ok.error());
  std::optional<TraceAnswer> slowest;
  std::vector<TraceRank> ranks;
  RankCheck check;
  double most_work = 0;
  for (const TraceFile& file : request.files) {
    Result<TraceAnswer> answer = reader.read(file, request.keep_trace);
    if (!answer) return tl::unexpected(answer.error());
    ranks.push_back(rank_of(*answer));
    check.take(*answer);
    if (slowest && ranks.back().own_work_s() <= most_work) continue;
    most_work = ranks.back().own_work_s();
    slowest = std::move(*answer);
  }
  if (!slowest) return fail("no trace given", "corridor diagnose", "name a trace file");
  if (ranks.size() > 1) slowest->ranks = std::move(ranks);
  slowest->notes.insert(slowest->notes.end(), check.notes().begin(), check.notes().end());
  name_flags_without_effect(request.base, slowest->notes);
  return std::move(*slowest);
}

}  // namespace corridor::app
