// SPDX-License-Identifier: Apache-2.0
// Serving runs with a column for each time: model_path, system, isl, osl, batch_size, tp_size …, silicon_tpot_ms.
#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/layout.h"
#include "corridor/profile/points/reasons.h"

namespace corridor::profile {
namespace {

/// A count that tables write as 0 or leave out where the cut does not apply.
std::optional<std::int64_t> cut(std::string_view text) {
  const auto value = count(text);
  if (!value || *value < 1) return std::nullopt;
  return value;
}

class SiliconLayout final : public PointLayout {
 public:
  SiliconLayout(Columns& columns, const TableFile& file)
      : file_(file),
        id_(columns.use({"id"})),
        source_(columns.use({"silicon_data_source", "source"})),
        date_(columns.use({"date", "measured"})),
        engine_(columns.use({"backend", "engine", "framework"})),
        version_(columns.use({"backend_version", "engine_version", "version"})),
        model_(columns.use({"model_path", "model"})),
        device_(columns.use({"system", "device", "gpu", "hardware"})),
        precision_(columns.use({"precision", "weights", "weight_precision"})),
        gemm_(columns.use({"gemm_quant_mode"})),
        kv_(columns.use({"kv_cache_dtype", "kvcache_quant_mode", "kv_precision", "kv"})),
        mode_(columns.use({"mode"})),
        input_(columns.use({"isl", "input", "input_len"})),
        output_(columns.use({"osl", "output", "output_len"})),
        sequences_(columns.use({"concurrency", "batch_size"})),
        tp_(columns.use({"tp_size", "tp"})),
        pp_(columns.use({"pp_size", "pp"})),
        dp_(columns.use({"attention_dp_size", "dp_size", "dp"})),
        ep_(columns.use({"moe_ep_size", "ep_size", "ep"})),
        ttft_(columns.use({"silicon_ttft_ms", "ttft_ms"})),
        tpot_(columns.use({"silicon_tpot_ms", "tpot_ms"})),
        notes_(columns.use({"notes", "note"})) {
    columns.use({"moe_tp_size"});     // follows from the other cuts
    columns.use({"moe_quant_mode"});  // the same as the products' in every known table
  }
  [[nodiscard]] std::string_view name() const override { return "silicon sample"; }

  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint run;
    read_run(row, run);
    if (tpot_.exists()) points.push_back(with_metric(run, "tpot_ms", cell(row, tpot_)));
    if (ttft_.exists()) points.push_back(with_metric(std::move(run), "ttft_ms", cell(row, ttft_)));
  }

 private:
  static MeasuredPoint with_metric(MeasuredPoint run, std::string_view metric, std::string_view value) {
    set_metric(run, metric, value);
    if (!run.sequences) set_aside(run, reason::no_sequences);
    if (!run.input || !run.output) set_aside(run, reason::no_lengths);
    return run;
  }

  void read_run(const CsvRow& row, MeasuredPoint& point) const {
    point.id = clean(cell(row, id_));
    if (point.id.empty()) point.id = row_id(file_, row);
    point.line = row.line;
    point.source = clean(cell(row, source_));
    point.date = clean(cell(row, date_));
    if (point.date.empty()) read_date(point);
    point.engine = clean(cell(row, engine_));
    if (const auto version = cell(row, version_); !version.empty()) point.engine += " " + clean(version);
    point.model = clean(cell(row, model_));
    point.device = clean(cell(row, device_));
    point.weights = clean(cell(row, precision_));
    if (point.weights.empty()) point.weights = clean(cell(row, gemm_));
    point.kv = clean(cell(row, kv_));
    point.notes = clean(cell(row, notes_));
    point.load = PointLoad::concurrency;
    point.sequences = number(cell(row, sequences_));
    point.input = number(cell(row, input_));
    point.output = number(cell(row, output_));
    read_cuts(row, point);
    const std::string mode = lower(cell(row, mode_));
    if (!mode.empty() && mode != "agg" && mode != "aggregated") set_aside(point, reason::disaggregated);
  }

  void read_cuts(const CsvRow& row, MeasuredPoint& point) const {
    point.tp = cut(cell(row, tp_));
    point.pp = cut(cell(row, pp_));
    point.dp = cut(cell(row, dp_));
    point.ep = cut(cell(row, ep_));
    if (!point.tp) return;
    const double devices = static_cast<double>(*point.tp) * static_cast<double>(point.pp.value_or(1)) *
                           static_cast<double>(point.dp.value_or(1));
    if (devices <= 1e6) point.devices = static_cast<std::int64_t>(devices);
  }

  /// "…; measured=2025-10-29T00:00:00.000Z; …" in the source.
  static void read_date(MeasuredPoint& point) {
    constexpr std::string_view label = "measured=";
    const std::size_t at = point.source.find(label);
    if (at != std::string::npos) point.date = point.source.substr(at + label.size(), 10);
  }

  TableFile file_;
  Column id_, source_, date_, engine_, version_, model_, device_, precision_, gemm_, kv_, mode_, input_, output_;
  Column sequences_, tp_, pp_, dp_, ep_, ttft_, tpot_, notes_;
};

}  // namespace

LayoutPointer make_silicon_layout(Columns& columns, const TableFile& file) {
  const bool times = columns.has_any({"silicon_ttft_ms", "silicon_tpot_ms", "ttft_ms", "tpot_ms"});
  const bool lengths =
      columns.has_any({"isl", "input", "input_len"}) && columns.has_any({"osl", "output", "output_len"});
  if (!times || !lengths || !columns.has_any({"model_path", "model"})) return nullptr;
  return std::make_unique<SiliconLayout>(columns, file);
}

}  // namespace corridor::profile
