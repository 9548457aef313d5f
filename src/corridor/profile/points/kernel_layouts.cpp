// SPDX-License-Identifier: Apache-2.0
// Tables of one kernel a row: products, attention, experts, collectives; recognised by their size columns.
#include <array>
#include <cmath>
#include <utility>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/kernel_row.h"
#include "corridor/profile/points/reasons.h"

namespace corridor::profile {
namespace {

using Kind = PointOperation::Kind;

/// Head width taken when the table has no such column; said in the notes of each row.
constexpr double usual_head_dim = 128;

class ProductLayout final : public PointLayout {
 public:
  ProductLayout(Columns& columns, const TableFile& file)
      : kernel_(columns, file), m_(columns.use({"m"})), n_(columns.use({"n"})), k_(columns.use({"k"})) {}
  [[nodiscard]] std::string_view name() const override { return "matrix products"; }
  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint& point = points.emplace_back(kernel_.begin(row, Kind::product));
    PointOperation& op = *point.operation;
    op.type = kernel_.type(row, "bf16");
    op.m = size(row, m_);
    op.n = size(row, n_);
    op.k = size(row, k_);
  }

 private:
  KernelColumns kernel_;
  Column m_, n_, k_;
};

class AttentionLayout final : public PointLayout {
 public:
  AttentionLayout(Columns& columns, const TableFile& file)
      : kernel_(columns, file),
        batch_(columns.use({"batch_size", "batch"})),
        heads_(columns.use({"num_heads", "heads", "n_head"})),
        kv_heads_(columns.use({"num_key_value_heads", "num_kv_heads", "kv_heads", "n_kv_head"})),
        head_dim_(columns.use({"head_dim", "head_size"})),
        kv_(columns.use({"kv_cache_dtype", "kv_dtype", "kv"})),
        window_(columns.use({"window_size", "window"})),
        prompt_(columns.use({"isl", "prompt", "input_len"})),
        step_(columns.use({"step"})),
        cached_(columns.use({"kv_len", "context", "ctx"})) {}
  [[nodiscard]] std::string_view name() const override { return "attention"; }

  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint& point = points.emplace_back(kernel_.begin(row, Kind::attention_prefill));
    PointOperation& op = *point.operation;
    op.type = kernel_.type(row, "bf16");
    op.kv = cell(row, kv_).empty() ? op.type : kernel_.type_word(cell(row, kv_));
    op.batch = size(row, batch_);
    op.heads = size(row, heads_);
    op.kv_heads = size_or(row, kv_heads_, 0);
    if (op.kv_heads == 0) op.kv_heads = op.heads;  // how these tables write plain multi-head attention
    op.head_dim = size_or(row, head_dim_, usual_head_dim);
    if (cell(row, head_dim_).empty()) remark(point, "head_dim 128 assumed: the table has none");
    op.window = size_or(row, window_, 0);
    read_length(row, point);
  }

 private:
  void read_length(const CsvRow& row, MeasuredPoint& point) const {
    PointOperation& op = *point.operation;
    const double prompt = size_or(row, prompt_, 0);
    const double step = size_or(row, step_, 0);
    const bool generation = contains(kernel_.operation_name(row), "generation");
    if (cached_.exists()) {
      op.kind = Kind::attention_decode;
      op.length = size(row, cached_);
    } else if (step_.exists() && (!prompt_.exists() || generation || (prompt <= 1 && step > 0))) {
      op.kind = Kind::attention_decode;
      op.length = step + 1;  // the cached tokens and the new one
    } else {
      op.length = prompt;
      if (step > 0) set_aside(point, reason::cached_prefix);
    }
  }

  KernelColumns kernel_;
  Column batch_, heads_, kv_heads_, head_dim_, kv_, window_, prompt_, step_, cached_;
};

class MoeLayout final : public PointLayout {
 public:
  MoeLayout(Columns& columns, const TableFile& file)
      : kernel_(columns, file),
        tokens_(columns.use({"num_tokens", "tokens"})),
        hidden_(columns.use({"hidden_size", "hidden"})),
        inter_(columns.use({"inter_size", "inter", "intermediate_size"})),
        per_token_(columns.use({"topk", "top_k"})),
        experts_(columns.use({"num_experts", "experts"})),
        tp_(columns.use({"moe_tp_size", "moe_tp", "tp"})),
        ep_(columns.use({"moe_ep_size", "moe_ep", "ep"})),
        routing_(columns.use({"distribution", "routing"})) {}
  [[nodiscard]] std::string_view name() const override { return "experts"; }
  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint& point = points.emplace_back(kernel_.begin(row, Kind::moe));
    PointOperation& op = *point.operation;
    op.type = kernel_.type(row, "bf16");
    op.tokens = size(row, tokens_);
    op.hidden = size(row, hidden_);
    op.inter = size(row, inter_);
    op.per_token = size(row, per_token_);
    op.experts = size(row, experts_);
    op.tp = size_or(row, tp_, 1);
    op.ep = size_or(row, ep_, 1);
    op.routing = lower(clean(cell(row, routing_)));
  }

 private:
  KernelColumns kernel_;
  Column tokens_, hidden_, inter_, per_token_, experts_, tp_, ep_, routing_;
};

double element_bytes(std::string_view type) {
  const std::string text = lower(type);
  if (contains_any(text, {"8", "char"})) return 1;
  if (contains_any(text, {"32", "float"}) && !contains_any(text, {"16"})) return 4;
  if (contains_any(text, {"64", "double"})) return 8;
  return 2;
}

std::string collective_word(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> words{{
      {"all_reduce", "all_reduce"},
      {"allreduce", "all_reduce"},
      {"all_gather", "all_gather"},
      {"allgather", "all_gather"},
      {"reduce_scatter", "reduce_scatter"},
      {"reducescatter", "reduce_scatter"},
      {"all_to_all", "all_to_all"},
      {"alltoall", "all_to_all"},
      {"send_recv", "send_recv"},
  }};
  for (const auto& [part, word] : words) {
    if (contains(text, part)) return std::string(word);
  }
  return {};
}

class CollectiveLayout final : public PointLayout {
 public:
  CollectiveLayout(Columns& columns, const TableFile& file)
      : file_name_(lower(file.name)),
        kernel_(columns, file),
        backend_(columns.use({"backend"})),
        dtype_(columns.use({"nccl_dtype", "allreduce_dtype", "dtype", "type"})),
        ranks_(columns.use({"num_gpus", "num_workers", "ranks", "world_size"})),
        in_node_(columns.use({"devices_per_node"})),
        elements_(columns.use({"message_size", "message_size_elements"})),
        bytes_(columns.use({"payload_bytes", "size_bytes", "bytes", "size_field", "size"})) {
    columns.use({"n_ranks"});  // how many ranks the median is over
  }
  [[nodiscard]] std::string_view name() const override { return "collectives"; }

  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override {
    MeasuredPoint& point = points.emplace_back(kernel_.begin(row, Kind::collective));
    PointOperation& op = *point.operation;
    op.collective = collective_word(kernel_.operation_name(row));
    if (op.collective.empty()) op.collective = collective_word(file_name_);
    if (op.collective.empty()) set_aside(point, reason::unknown_operation);
    op.implementation = implementation(row, point);
    op.type = cell(row, dtype_).empty() ? "bf16" : kernel_.type_word(cell(row, dtype_));
    op.ranks = size(row, ranks_);
    op.payload_bytes = elements_.exists() ? size(row, elements_) * element_bytes(cell(row, dtype_)) : size(row, bytes_);
    if (const auto in_node = number(cell(row, in_node_)); in_node && *in_node < op.ranks) {
      set_aside(point, reason::across_nodes);
    }
  }

 private:
  /// "graph" and "eager" where a word says so; else the library.
  [[nodiscard]] std::string implementation(const CsvRow& row, const MeasuredPoint& point) const {
    const std::string text = lower(cell(row, backend_)) + " " + lower(kernel_.kernel(row));
    if (contains(text, "eager")) return "eager";
    if (contains(text, "graph")) return "graph";
    if (const std::string kernel = lower(kernel_.kernel(row)); !kernel.empty()) return kernel;
    return contains(lower(point.engine), "nccl") ? "nccl" : "";
  }

  std::string file_name_;
  KernelColumns kernel_;
  Column backend_, dtype_, ranks_, in_node_, elements_, bytes_;
};

/// The products of one layer, a column each: medians of a profiler of models.
class LinearLayersLayout final : public PointLayout {
 public:
  LinearLayersLayout(Columns& columns, const TableFile& file)
      : kernel_(columns, file),
        model_(columns.use({"model"})),
        heads_(columns.use({"n_head"})),
        kv_heads_(columns.use({"n_kv_head"})),
        hidden_(columns.use({"n_embd"})),
        inter_(columns.use({"n_expanded_embd"})),
        gated_(columns.use({"gated_mlp", "use_gated_mlp"})),
        tp_(columns.use({"tp", "num_tensor_parallel_workers"})),
        tokens_(columns.use({"num_tokens"})) {
    for (std::size_t i = 0; i < products.size(); ++i) times_.at(i) = columns.use({products.at(i)});
  }
  [[nodiscard]] std::string_view name() const override { return "linear layers"; }
  void read(const CsvRow& row, std::vector<MeasuredPoint>& points) const override;

 private:
  static constexpr std::array<std::string_view, 4> products{"attn_pre_proj_ms_median", "attn_post_proj_ms_median",
                                                            "mlp_up_proj_ms_median", "mlp_down_proj_ms_median"};
  /// n and k of each product, on one rank.
  [[nodiscard]] std::array<std::pair<double, double>, 4> shapes(const CsvRow& row) const;

  KernelColumns kernel_;
  Column model_, heads_, kv_heads_, hidden_, inter_, gated_, tp_, tokens_;
  std::array<Column, products.size()> times_;
};

std::array<std::pair<double, double>, 4> LinearLayersLayout::shapes(const CsvRow& row) const {
  const double hidden = size(row, hidden_);
  const double heads = size(row, heads_);
  const double kv_heads = size_or(row, kv_heads_, heads);
  const double tp = size_or(row, tp_, 1);
  const double width = heads > 0 ? hidden / heads : 0;
  const double inter = size(row, inter_) / tp;
  const bool gated = contains_any(lower(cell(row, gated_)), {"true", "1", "yes"});
  const double queries_keys_values = (heads / tp + 2 * std::max(1.0, kv_heads / tp)) * width;
  return {{{queries_keys_values, hidden}, {hidden, hidden / tp}, {gated ? 2 * inter : inter, hidden}, {hidden, inter}}};
}

void LinearLayersLayout::read(const CsvRow& row, std::vector<MeasuredPoint>& points) const {
  const auto sizes = shapes(row);
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (cell(row, times_.at(i)).empty()) continue;
    MeasuredPoint& point = points.emplace_back(kernel_.begin(row, Kind::product));
    point.metric_name = products.at(i);
    point.unit = 1e-3;
    point.value = size(row, times_.at(i)) * point.unit;
    point.notes = "layer of " + clean(cell(row, model_));
    PointOperation& op = *point.operation;
    op.type = kernel_.type(row, "fp16");
    op.m = size(row, tokens_);
    op.n = sizes.at(i).first;
    op.k = sizes.at(i).second;
  }
}

}  // namespace

LayoutPointer make_product_layout(Columns& columns, const TableFile& file) {
  if (!columns.has_all({"m", "n", "k"}) || !has_latency(columns)) return nullptr;
  return std::make_unique<ProductLayout>(columns, file);
}

LayoutPointer make_attention_layout(Columns& columns, const TableFile& file) {
  const bool heads = columns.has_any({"num_heads", "heads", "n_head"}) && columns.has_any({"batch_size", "batch"}) &&
                     columns.has_any({"num_key_value_heads", "num_kv_heads", "kv_heads", "n_kv_head"});
  const bool lengths = columns.has_any({"isl", "prompt", "input_len", "step", "kv_len", "context", "ctx"});
  if (!heads || !lengths || !has_latency(columns)) return nullptr;
  return std::make_unique<AttentionLayout>(columns, file);
}

LayoutPointer make_moe_layout(Columns& columns, const TableFile& file) {
  const bool sizes = columns.has_any({"num_tokens", "tokens"}) && columns.has_any({"hidden_size", "hidden"}) &&
                     columns.has_any({"topk", "top_k"}) && columns.has_any({"num_experts", "experts"});
  if (!sizes || !has_latency(columns)) return nullptr;
  return std::make_unique<MoeLayout>(columns, file);
}

LayoutPointer make_collective_layout(Columns& columns, const TableFile& file) {
  const bool sizes = columns.has_any({"message_size", "message_size_elements", "payload_bytes", "size_bytes", "bytes",
                                      "size_field", "size"}) &&
                     columns.has_any({"num_gpus", "num_workers", "ranks", "world_size"});
  if (!sizes || !has_latency(columns)) return nullptr;
  return std::make_unique<CollectiveLayout>(columns, file);
}

LayoutPointer make_linear_layers_layout(Columns& columns, const TableFile& file) {
  const bool sizes = columns.has_all({"n_head", "n_embd", "num_tokens", "attn_pre_proj_ms_median"});
  if (!sizes) return nullptr;
  return std::make_unique<LinearLayersLayout>(columns, file);
}

}  // namespace corridor::profile
