// SPDX-License-Identifier: Apache-2.0
// One law of this machine as an experiment: what is claimed, what the machine's own ladder predicts, what was measured.
//
//   fusion: One pass that does three operations moves a third of the bytes of three passes.
//     three passes      predicted 71.6 ms   measured 74.0 ms   (spread 1 %)   holds
//     one pass          predicted 23.9 ms   measured 24.6 ms   (spread 2 %)   holds
//
// A prediction is made before anything of the experiment runs, from LabMachine alone. A reading is judged against
// stated bounds and can fail.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/clock.h"
#include "corridor/measure/estimator.h"
#include "corridor/measure/lab/lab_machine.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {

/// What the numbers of a reading are; SI, cycles, or a plain ratio.
enum class LabUnit { seconds, bytes_per_second, flop_per_second, per_second, cycles, ratio };
[[nodiscard]] std::string_view name(LabUnit);  ///< "s", "B/s", "FLOP/s", "1/s", "cycles", "ratio"

/// One number of an experiment.
struct LabReading {
  std::string what;    ///< "stride 16", "three passes"
  std::string series;  ///< readings of one curve share it; empty = not drawn
  double x = 0;        ///< position on the curve
  LabUnit unit = LabUnit::seconds;
  std::optional<double> predicted;
  std::optional<double> low, high;  ///< the claim holds between these; neither = shown, not judged
  double measured = 0;
  double spread = 0;  ///< (90th − 10th percentile) ÷ median of the passes
  int passes = 0;
  [[nodiscard]] bool judged() const { return low.has_value() || high.has_value(); }
  /// True when not judged. NaN never holds.
  [[nodiscard]] bool holds() const;
};

/// Where the work of an experiment stands under the roofs of this machine.
struct LabPoint {
  std::string what;
  double intensity = 0;   ///< FLOP a byte of main memory
  double flop_per_s = 0;  ///< measured
};

struct LabResult {
  std::string name;
  std::string claim;
  std::string x_label, y_label;       ///< of the curves; empty when there are none
  std::vector<std::string> formulas;  ///< with this machine's numbers put in
  std::string tolerance;              ///< how far off a reading may be, and why
  std::vector<LabReading> readings;
  std::vector<LabPoint> points;
  std::vector<std::string> notes;
  [[nodiscard]] bool holds() const;
  /// The reading of that name; null when there is none.
  [[nodiscard]] const LabReading* find(std::string_view what) const;
};

/// What an experiment may use. `effort` scales time budgets: 1 alone, less in the tour.
struct LabContext {
  const LabMachine& machine;
  const Clock& clock;
  WorkerTeam& team;
  double effort = 1;
  [[nodiscard]] EstimatorSettings settings(double budget_s, int least_passes = 5) const;
};

using RunExperiment = Result<LabResult> (*)(const LabContext&);
struct GpuLabContext;  // gpu/gpu_lab.h
using RunGpuExperiment = Result<LabResult> (*)(const GpuLabContext&);

struct Experiment {
  std::string_view name;
  std::string_view sentence;           ///< the law in one sentence
  RunExperiment run = nullptr;         ///< on the processor; null: needs what this module has not (a GPU, a model)
  RunGpuExperiment run_gpu = nullptr;  ///< on a GPU; null: has no form there
  bool needs_gpu = false;              ///< has no form on the processor
};

/// Every experiment in the order in which the laws build on each other.
[[nodiscard]] const std::vector<Experiment>& experiments();
/// Null when no experiment has that name.
[[nodiscard]] const Experiment* find_experiment(std::string_view name);

/// Predicted value with bounds at factors of it.
[[nodiscard]] LabReading reading(std::string what, LabUnit unit, double predicted, double low_factor,
                                 double high_factor);
/// Puts the time of `samples` into a reading of seconds, with spread and passes.
void take_time(LabReading& reading, const Samples& samples);
/// The same for a rate: `amount` ÷ the time.
void take_rate(LabReading& reading, const Samples& samples, double amount);

/// Times the variants in turn, round by round, so that a change of the machine's speed meets all of them alike. The
/// answer has one entry a variant. The budget is that of all together; `before` runs ahead of each pass and is not
/// timed. Fails when the clock does not move.
[[nodiscard]] Result<std::vector<Samples>> time_in_turn(const EstimatorSettings& settings, const Clock& clock,
                                                        const std::vector<std::function<void()>>& variants,
                                                        const std::function<void()>& before = {});

/// A plain read of main memory was timed in turn with the variants. Where it took another time than the ladder says,
/// the machine was another one than the ladder's: the bounds of all times move by that factor, the predictions stay.
/// Adds the read as a reading that is not judged and, from a tenth on, a note. `bytes` is what each pass read.
void allow_for_drift(LabResult& out, const LabMachine& machine, const Samples& read, double bytes);

/// Start and end of worker `index`'s part of `count` things, in whole `grain`s.
struct Part {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};
[[nodiscard]] Part part_of(std::size_t count, std::size_t grain, int index, int workers);

/// Fills `count` values on all threads, each its own part in whole `grain`s, so that memory is near who reads it:
/// value i is low + (high − low) · a number in [0, 1) that depends on i alone.
void fill_values(WorkerTeam& team, float* data, std::size_t count, std::size_t grain, float low, float high);

/// Reads an array once on all threads, each its own part, as the ladder's passes do.
void read_all(const LabContext& context, const std::byte* data, std::size_t bytes);

/// The failure of a measurement for which the system gives no memory.
[[nodiscard]] tl::unexpected<Error> no_memory(std::string_view experiment, double bytes);

// The experiments, one file each.
[[nodiscard]] Result<LabResult> run_intensity(const LabContext& context);
[[nodiscard]] Result<LabResult> run_fusion(const LabContext& context);
[[nodiscard]] Result<LabResult> run_order(const LabContext& context);
[[nodiscard]] Result<LabResult> run_dispatch(const LabContext& context);
[[nodiscard]] Result<LabResult> run_tiling(const LabContext& context);
[[nodiscard]] Result<LabResult> run_decode_batch(const LabContext& context);
[[nodiscard]] Result<LabResult> run_precision(const LabContext& context);
[[nodiscard]] Result<LabResult> run_attention(const LabContext& context);
[[nodiscard]] Result<LabResult> run_chase(const LabContext& context);
[[nodiscard]] Result<LabResult> run_switch(const LabContext& context);

}  // namespace corridor::measure
