// SPDX-License-Identifier: Apache-2.0
// Our own tables: runs (one end-to-end number a row) and operations (the time of one kernel a row).
#include <array>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/layout.h"
#include "corridor/profile/points/reasons.h"

namespace corridor::profile {
namespace {

/// An optional number; NaN when something stands there that is none, so that the row is set aside.
std::optional<double> optional_number(std::string_view cell) {
  if (cell.empty()) return std::nullopt;
  return number_or_nan(cell);
}

std::optional<std::int64_t> optional_count(std::string_view cell) {
  if (cell.empty()) return std::nullopt;
  return count(cell).value_or(-1);
}

struct CommonColumns {
  explicit CommonColumns(Columns& columns)
      : id(columns.use({"id"})),
        source(columns.use({"source"})),
        date(columns.use({"date"})),
        engine(columns.use({"engine"})),
        device(columns.use({"device"})) {}

  void read(const CsvRow& row, const TableFile& file, MeasuredPoint& point) const {
    point.id = clean(cell(row, id));
    if (point.id.empty()) point.id = row_id(file, row);
    point.line = row.line;
    point.source = clean(cell(row, source));
    point.date = clean(cell(row, date));
    point.engine = clean(cell(row, engine));
    point.device = clean(cell(row, device));
  }
  Column id, source, date, engine, device;
};

class RunsLayout final : public PointLayout {
 public:
  RunsLayout(Columns& columns, const TableFile& file) : file_(file), common_(columns) {
    for (auto& [column, name] : text_columns()) *column = columns.use({name});
  }
  [[nodiscard]] std::string_view name() const override { return "corridor runs"; }

  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint& point = points.emplace_back();
    common_.read(row, file_, point);
    point.model = clean(cell(row, model_));
    point.weights = clean(cell(row, weights_));
    point.kv = clean(cell(row, kv_));
    point.notes = clean(cell(row, note_));
    point.devices = optional_count(cell(row, devices_));
    point.tp = optional_count(cell(row, tp_));
    point.pp = optional_count(cell(row, pp_));
    point.ep = optional_count(cell(row, ep_));
    const std::string load = lower(cell(row, load_));
    const bool batch = load.empty() || load == "batch";
    point.load = batch ? PointLoad::batch : load == "concurrency" ? PointLoad::concurrency : PointLoad::other;
    if (point.load == PointLoad::other) set_aside(point, reason::arrival_rate);
    point.sequences = optional_number(cell(row, sequences_));
    point.input = optional_number(cell(row, input_));
    point.output = optional_number(cell(row, output_));
    point.context = optional_number(cell(row, context_));
    point.tokens_per_step = optional_number(cell(row, tokens_per_step_));
    point.draft_tokens = optional_number(cell(row, draft_tokens_));
    set_metric(point, cell(row, metric_), cell(row, value_));
  }

 private:
  std::array<std::pair<Column*, std::string_view>, 17> text_columns() {
    return {{{&model_, "model"},
             {&weights_, "weights"},
             {&kv_, "kv"},
             {&devices_, "devices"},
             {&tp_, "tp"},
             {&pp_, "pp"},
             {&ep_, "ep"},
             {&load_, "load"},
             {&sequences_, "sequences"},
             {&input_, "input"},
             {&output_, "output"},
             {&context_, "context"},
             {&metric_, "metric"},
             {&value_, "value"},
             {&tokens_per_step_, "tokens_per_step"},
             {&draft_tokens_, "draft_tokens"},
             {&note_, "note"}}};
  }
  TableFile file_;
  CommonColumns common_;
  Column model_, weights_, kv_, devices_, tp_, pp_, ep_, load_, sequences_, input_, output_, context_, metric_, value_;
  Column tokens_per_step_, draft_tokens_, note_;
};

std::optional<PointOperation::Kind> kind_of(std::string_view word) {
  if (word == "product") return PointOperation::Kind::product;
  if (word == "attention_decode") return PointOperation::Kind::attention_decode;
  if (word == "attention_prefill") return PointOperation::Kind::attention_prefill;
  if (word == "moe") return PointOperation::Kind::moe;
  if (word == "collective") return PointOperation::Kind::collective;
  return std::nullopt;
}

class OperationsLayout final : public PointLayout {
 public:
  OperationsLayout(Columns& columns, const TableFile& file)
      : file_(file),
        common_(columns),
        op_(columns.use({"op"})),
        type_(columns.use({"type"})),
        kv_(columns.use({"kv"})),
        routing_(columns.use({"routing"})),
        collective_(columns.use({"collective"})),
        implementation_(columns.use({"implementation"})),
        latency_(columns.use({"latency_us"})),
        note_(columns.use({"note"})) {
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes_.at(i) = columns.use({sizes.at(i).first});
  }
  [[nodiscard]] std::string_view name() const override { return "corridor operations"; }

  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint& point = points.emplace_back();
    common_.read(row, file_, point);
    point.notes = clean(cell(row, note_));
    point.metric = PointMetric::op_time;
    point.metric_name = "latency_us";
    point.unit = 1e-6;
    point.value = number_or_nan(cell(row, latency_)) * point.unit;
    const auto kind = kind_of(cell(row, op_));
    if (!kind) return;  // check_point says that the operation is not known
    PointOperation& op = point.operation.emplace();
    op.kind = *kind;
    op.type = clean(cell(row, type_));
    op.kv = clean(cell(row, kv_));
    op.routing = clean(cell(row, routing_));
    op.collective = clean(cell(row, collective_));
    op.implementation = clean(cell(row, implementation_));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string_view text = cell(row, sizes_.at(i));
      if (!text.empty()) op.*(sizes.at(i).second) = number_or_nan(text);
    }
  }

 private:
  using Size = std::pair<std::string_view, double PointOperation::*>;
  static constexpr std::array<Size, 18> sizes{{{"m", &PointOperation::m},
                                               {"n", &PointOperation::n},
                                               {"k", &PointOperation::k},
                                               {"batch", &PointOperation::batch},
                                               {"heads", &PointOperation::heads},
                                               {"kv_heads", &PointOperation::kv_heads},
                                               {"head_dim", &PointOperation::head_dim},
                                               {"window", &PointOperation::window},
                                               {"length", &PointOperation::length},
                                               {"tokens", &PointOperation::tokens},
                                               {"hidden", &PointOperation::hidden},
                                               {"inter", &PointOperation::inter},
                                               {"experts", &PointOperation::experts},
                                               {"per_token", &PointOperation::per_token},
                                               {"tp", &PointOperation::tp},
                                               {"ep", &PointOperation::ep},
                                               {"ranks", &PointOperation::ranks},
                                               {"payload_bytes", &PointOperation::payload_bytes}}};
  TableFile file_;
  CommonColumns common_;
  Column op_, type_, kv_, routing_, collective_, implementation_, latency_, note_;
  std::array<Column, sizes.size()> sizes_;
};

}  // namespace

LayoutPointer make_runs_layout(Columns& columns, const TableFile& file) {
  if (!columns.has_all({"metric", "value", "load", "sequences"})) return nullptr;
  return std::make_unique<RunsLayout>(columns, file);
}

LayoutPointer make_operations_layout(Columns& columns, const TableFile& file) {
  if (!columns.has_all({"op", "type", "latency_us"})) return nullptr;
  return std::make_unique<OperationsLayout>(columns, file);
}

}  // namespace corridor::profile
