// SPDX-License-Identifier: Apache-2.0
// The table of published end-to-end measurements: one metric a row, free words in its cells and notes.
#include <algorithm>
#include <map>
#include <utility>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/layout.h"
#include "corridor/profile/points/reasons.h"
#include "corridor/profile/points/run_words.h"
#include "corridor/profile/points/words.h"

namespace corridor::profile {
namespace {

bool is_rate_of_all(PointMetric metric) {
  return metric == PointMetric::output_total || metric == PointMetric::total_tokens ||
         metric == PointMetric::prefill_rate;
}

/// A rate "per GPU" is multiplied; one of which it is not known is set aside.
void scale_per_device(const RunWords& words, MeasuredPoint& point) {
  if (!is_rate_of_all(point.metric) || point.devices.value_or(1) <= 1) return;
  if (contains_any(words.notes, {"ambiguous", "unclear"})) {
    set_aside(point, reason::per_device_unclear);
  } else if (contains_any(words.notes, {"per gpu", "per device", "/gpu", "per-gpu"})) {
    const auto devices = static_cast<double>(*point.devices);
    point.unit *= devices;
    point.value *= devices;
  }
}

/// The three numbers of "mxnxk=14336x15360x2048" or "m=… n=… k=…"; fewer when they are not all there.
std::vector<double> shape_numbers(std::string_view text) {
  std::vector<double> sizes;
  const std::size_t at = text.find("mxnxk");
  if (at == std::string_view::npos) {
    for (const std::string_view word : {"m=", "n=", "k="}) {
      if (const auto size = number_at_word(text, word)) sizes.push_back(*size);
    }
    return sizes;
  }
  std::string_view rest = text.substr(at + std::string_view("mxnxk").size());
  while (sizes.size() < 3 && !rest.empty()) {
    const auto size = leading_number(rest.substr(1));  // behind '=' or 'x'
    if (!size) break;
    sizes.push_back(size->value);
    rest = size->rest;
  }
  return sizes;
}

/// The shape of a product stands in the model column or the notes.
void read_shape(std::string_view text, MeasuredPoint& point) {
  const std::vector<double> sizes = shape_numbers(text);
  if (sizes.size() != 3) return set_aside(point, reason::no_shape);
  PointOperation& op = point.operation.emplace();
  op.m = sizes[0];
  op.n = sizes[1];
  op.k = sizes[2];
  op.type = point.weights.empty() ? "bf16" : operation_type(point.weights);
}

void check_bandwidth(const RunWords& words, MeasuredPoint& point) {
  const std::string text = words.engine + " " + words.model + " " + words.notes;
  if (contains_any(text, {"all-reduce", "all_reduce", "allreduce", "busbw", "algbw"})) {
    set_aside(point, reason::collective_rate);
  } else if (contains_any(text, {"cache", "l2 "})) {
    set_aside(point, reason::cache_bandwidth);
  } else if (point.parameters || contains(words.notes, "model bandwidth")) {
    set_aside(point, reason::derived_bandwidth);
  }
}

bool is_speculative(const RunWords& words, PointMetric metric) {
  if (metric == PointMetric::speedup) return true;
  const std::string text = words.engine + " " + words.model + " " + words.notes;
  return contains_any(text, {"speculat", "draft", "eagle", "medusa", "lookahead decod", "prompt lookup"});
}

class MeasuredLayout final : public PointLayout {
 public:
  MeasuredLayout(Columns& columns, const TableFile& file)
      : file_(file),
        id_(columns.use({"id"})),
        source_(columns.use({"source"})),
        date_(columns.use({"date"})),
        engine_(columns.use({"engine", "framework", "backend"})),
        version_(columns.use({"engine_version", "version", "backend_version"})),
        model_(columns.use({"model", "model_path"})),
        parameters_(columns.use({"params_b", "parameters_b"})),
        weights_(columns.use({"weight_precision", "weights", "precision", "quantization", "dtype"})),
        kv_(columns.use({"kv_precision", "kv", "kv_cache_dtype", "kv_dtype"})),
        device_(columns.use({"gpu", "device", "hardware", "accelerator"})),
        devices_(columns.use({"n_gpu", "n_gpus", "num_gpus", "gpus", "devices", "n_devices"})),
        parallelism_(columns.use({"parallelism", "parallel"})),
        tp_(columns.use({"tp", "tp_size"})),
        concurrency_(columns.use({"concurrency", "max_concurrency"})),
        batch_(columns.use({"batch_or_concurrency", "batch", "batch_size"})),
        input_(columns.use({"input_len", "input", "isl", "prompt", "input_tokens"})),
        output_only_(columns.use({"output_len", "output", "osl", "output_tokens"})),
        output_(columns.use({"output_len_or_ctx"})),
        context_(columns.use({"context", "ctx"})),
        tokens_per_step_(columns.use({"tokens_per_step"})),
        draft_tokens_(columns.use({"draft_tokens"})),
        metric_(columns.use({"metric"})),
        value_(columns.use({"value"})),
        notes_(columns.use({"notes", "note", "comment"})) {}
  [[nodiscard]] std::string_view name() const override { return "measured"; }
  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override;
  void finish(std::vector<MeasuredPoint>& points) const override;

 private:
  void read_names(const CsvRow& row, MeasuredPoint& point) const;
  [[nodiscard]] RunWords words_of(const CsvRow& row, const MeasuredPoint& point) const;
  void read_run(const CsvRow& row, const RunWords& words, MeasuredPoint& point) const;

  TableFile file_;
  Column id_, source_, date_, engine_, version_, model_, parameters_, weights_, kv_, device_, devices_, parallelism_,
      tp_;
  Column concurrency_, batch_, input_, output_only_, output_, context_, tokens_per_step_, draft_tokens_, metric_,
      value_;
  Column notes_;
};

void MeasuredLayout::read_names(const CsvRow& row, MeasuredPoint& point) const {
  point.id = clean(cell(row, id_));
  if (point.id.empty()) point.id = row_id(file_, row);
  point.line = row.line;
  point.source = clean(cell(row, source_));
  point.date = clean(cell(row, date_));
  point.engine = clean(cell(row, engine_));
  if (const auto version = cell(row, version_); !version.empty()) point.engine += " " + clean(version);
  point.model = clean(cell(row, model_));
  if (const auto billions = number(cell(row, parameters_)); billions && *billions > 0) {
    point.parameters = *billions * 1e9;
  }
  point.weights = clean(cell(row, weights_));
  point.kv = clean(cell(row, kv_));
  point.device = clean(cell(row, device_));
  point.notes = clean(cell(row, notes_));
  if (std::string board = board_in_host(point.device); !board.empty()) {
    remark(point, "in " + point.device);
    point.device = std::move(board);
  }
  if (contains(point.device, " + ")) set_aside(point, reason::mixed_devices);
  if (contains_any(lower(point.device), {"power-capped", "power capped", "power limited", "power-limited", " w cap"})) {
    remark(point, "power-capped board");
  }
}

RunWords MeasuredLayout::words_of(const CsvRow& row, const MeasuredPoint& point) const {
  RunWords words;
  words.notes = lower(point.notes);
  words.engine = lower(point.engine);
  words.model = lower(point.model);
  words.closed = concurrency_.exists() && !cell(row, concurrency_).empty();
  words.batch = lower(clean(cell(row, words.closed ? concurrency_ : batch_)));
  words.input = clean(cell(row, input_));
  words.output_only = !output_.exists();
  words.output = clean(cell(row, words.output_only ? output_only_ : output_));
  return words;
}

void MeasuredLayout::read_run(const CsvRow& row, const RunWords& words, MeasuredPoint& point) const {
  set_load(words, point);
  set_lengths(words, point);
  if (const auto context = number(cell(row, context_))) point.context = context;
  scale_per_device(words, point);
  if (point.metric == PointMetric::tpot && !point.sequences) set_aside(point, reason::no_sequences);
  if (contains(words.notes, "not an independent measurement")) set_aside(point, reason::copied);
  point.tokens_per_step = number(cell(row, tokens_per_step_));
  point.draft_tokens = number(cell(row, draft_tokens_));
  if (!point.draft_tokens && contains(words.engine, "draft token")) {
    const std::size_t end = words.engine.find(" draft token");
    const std::size_t begin = end == std::string::npos ? end : words.engine.find_last_not_of("0123456789", end - 1);
    if (begin != std::string::npos) point.draft_tokens = number(words.engine.substr(begin + 1, end - begin - 1));
  }
}

void MeasuredLayout::read(const CsvRow& row, std::vector<MeasuredPoint>& points) const {
  MeasuredPoint& point = points.emplace_back();
  read_names(row, point);
  const auto stated = cell(row, devices_);
  if (!stated.empty()) point.devices = count(stated);
  if (!stated.empty() && !point.devices) set_aside(point, reason::out_of_range);
  set_parallelism(cell(row, parallelism_), point);
  if (const auto tp = count(cell(row, tp_))) point.tp = tp;
  set_metric(point, cell(row, metric_), cell(row, value_));
  const RunWords words = words_of(row, point);
  switch (point.metric) {
    case PointMetric::flop_rate:
      read_shape(words.model + " " + words.notes, point);
      break;
    case PointMetric::bandwidth:
      check_bandwidth(words, point);
      break;
    default:
      read_run(row, words, point);
  }
}

/// Rows of accepted tokens give the rows of the same engine and model the tokens that one of their steps yields.
void MeasuredLayout::finish(std::vector<MeasuredPoint>& points) const {
  struct Mean {
    double sum = 0, rows = 0;
  };
  std::map<std::string, Mean> accepted;
  const auto key = [](const MeasuredPoint& p) {
    return lower(p.engine) + "\n" + lower(p.model) + "\n" + lower(p.device);
  };
  for (const MeasuredPoint& point : points) {
    if (point.metric != PointMetric::acceptance || !(point.value > 0)) continue;
    Mean& mean = accepted[key(point)];
    mean.sum += point.value;
    mean.rows += 1;
  }
  for (MeasuredPoint& point : points) {
    if (point.metric == PointMetric::acceptance || point.tokens_per_step || point.operation) continue;
    const RunWords words{lower(point.notes), lower(point.engine), lower(point.model), {}, false, {}, {}, false};
    if (point.metric == PointMetric::bandwidth || !is_speculative(words, point.metric)) continue;
    const auto mean = accepted.find(key(point));
    if (mean == accepted.end()) {
      set_aside(point, reason::no_tokens_per_step);
      continue;
    }
    point.tokens_per_step = mean->second.sum / mean->second.rows;
    if (contains(words.notes, "task ")) remark(point, "tokens a step are the mean over all tasks");
  }
}

}  // namespace

LayoutPointer make_measured_layout(Columns& columns, const TableFile& file) {
  if (!columns.has_all({"metric", "value"})) return nullptr;
  if (!columns.has_any({"gpu", "device", "hardware", "accelerator"})) return nullptr;
  return std::make_unique<MeasuredLayout>(columns, file);
}

}  // namespace corridor::profile
