// SPDX-License-Identifier: Apache-2.0
// Fills the Documents of `corridor models`.
#include "corridor/views/models_view.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using report::Document;
using report::Field;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

Value whole(std::int64_t x) {
  return {x, Unit::none};
}
Value optional_whole(std::int64_t x) {
  return x > 0 ? whole(x) : Value{};
}

FieldGroup overview(const app::ModelDetail& detail) {
  const app::ModelSummary& s = detail.summary;
  const model::ModelSpec& m = detail.model;
  FieldGroup group{"", {}};
  std::vector<Field>& f = group.fields;
  f.push_back({"id", "", text(m.id), ""});
  f.push_back({"name", "", text(m.name), ""});
  f.push_back({"source", "known from", text(m.source), detail.resolution_note});
  f.push_back({"architecture", "architecture", text(m.architecture), s.kinds});
  f.push_back({"kinds", "", text(s.kinds), ""});
  f.push_back(
      {"parameters", "parameters", count(s.parameters), m.tied_embeddings ? "one table for input and head" : ""});
  f.push_back({"active_parameters", "used by one token", count(s.active), ""});
  f.push_back({"layers", "layers", whole(s.layers), ""});
  f.push_back({"hidden", "hidden size", whole(s.hidden), ""});
  f.push_back({"vocab", "vocabulary", whole(s.vocab), ""});
  f.push_back({"max_positions", "longest context", optional_whole(s.max_positions), "tokens"});
  f.push_back({"weight_bytes", "weights", value(s.weights), ""});
  f.push_back({"kv_bytes_per_token", "KV cache a token", value(s.kv_per_token), "in bf16"});
  f.push_back({"kv_format", "KV cache stored as", m.kv_format ? text(m.kv_format->name) : Value{}, ""});
  f.push_back({"state_bytes_per_sequence", s.state_per_sequence.value() > 0 ? "state a sequence" : "",
               value(s.state_per_sequence), ""});
  f.push_back(
      {"mtp_parameters", m.mtp_parameters > 0 ? "prediction modules" : "", count(m.mtp_parameters), "counted apart"});
  f.push_back({"vision_parameters", m.vision_parameters > 0 ? "vision part" : "", count(m.vision_parameters),
               "estimated, counted apart"});
  return group;
}

Table layer_table(const app::ModelDetail& detail) {
  Table table{"layer_groups", "Layers", {}, {}, 0};
  table.columns = {{"count", "layers", Unit::none, false},
                   {"mixer", "token mixer", Unit::none, true},
                   {"feed_forward", "feed-forward", Unit::none, true},
                   {"parameters_per_layer", "each", Unit::count, false}};
  for (const app::LayerRow& row : detail.layers) {
    table.rows.push_back({whole(row.count), text(row.mixer), text(row.feed_forward), count(row.parameters)});
  }
  return table;
}

Table storage_table(const app::ModelDetail& detail) {
  Table table{"storage", "Weights by role", {}, {}, 0};
  table.columns = {{"role", "role", Unit::none, true},          {"format", "format", Unit::none, true},
                   {"elements", "weights", Unit::count, false}, {"bits_per_weight", "bits each", Unit::none, false},
                   {"bytes", "bytes", Unit::bytes, false},      {"basis", "from", Unit::none, true}};
  for (const app::RoleRow& row : detail.roles) {
    table.rows.push_back({text(row.role),
                          text(row.format),
                          count(row.elements),
                          {row.bits_per_weight, Unit::none},
                          value(row.bytes),
                          text(row.real ? "file headers" : "the format's rule")});
  }
  return table;
}

/// Matrices of one layer of each group; group 0 is what stands outside the layers.
Table matrix_table(const app::ModelDetail& detail, bool explain) {
  Table table{"matrices", explain ? "Matrices of one layer of each group (0: outside the layers)" : "", {}, {}, 0};
  const auto label = [&](const char* name) { return std::string(explain ? name : ""); };
  table.columns = {{"group", label("group"), Unit::none, false},
                   {"name", label("matrix"), Unit::none, true},
                   {"role", "", Unit::none, true},
                   {"format", label("format"), Unit::none, true},
                   {"out", label("out"), Unit::none, false},
                   {"in", label("in"), Unit::none, false},
                   {"copies", label("copies"), Unit::none, false},
                   {"elements", label("weights"), Unit::count, false}};
  for (const app::MatrixRow& row : detail.matrices) {
    table.rows.push_back({whole(static_cast<std::int64_t>(row.group)), text(row.name), text(row.role), text(row.format),
                          whole(static_cast<std::int64_t>(row.out)), whole(static_cast<std::int64_t>(row.in)),
                          whole(static_cast<std::int64_t>(row.copies)), count(row.elements)});
  }
  return table;
}

}  // namespace

Document model_list_document(const std::vector<app::ModelSummary>& models) {
  Document document{"corridor/models/1", fmt::format("{} built-in models", models.size()), {}};
  Table table{"models", "", {}, {}, 0};
  table.columns = {{"id", "model", Unit::none, true},
                   {"parameters", "weights", Unit::count, false},
                   {"active_parameters", "used", Unit::count, false},
                   {"kv_bytes_per_token", "KV/token", Unit::bytes, false},
                   {"kinds", "kind", Unit::none, true},
                   {"layers", "", Unit::none, false},
                   {"hidden", "", Unit::none, false},
                   {"vocab", "", Unit::none, false},
                   {"max_positions", "", Unit::none, false},
                   {"weight_bytes", "", Unit::bytes, false},
                   {"state_bytes_per_sequence", "", Unit::bytes, false},
                   {"architecture", "", Unit::none, true}};
  for (const app::ModelSummary& s : models) {
    table.rows.push_back({text(s.id), count(s.parameters), count(s.active), value(s.kv_per_token), text(s.kinds),
                          whole(s.layers), whole(s.hidden), whole(s.vocab), optional_whole(s.max_positions),
                          value(s.weights), value(s.state_per_sequence), text(s.architecture)});
  }
  document.blocks.emplace_back(std::move(table));
  document.blocks.emplace_back(Paragraph{"notes",
                                         "used: weights one token uses. KV/token: bytes of KV cache a token in bf16. "
                                         "corridor models NAME shows one; a folder or file works too.",
                                         Paragraph::Style::detail});
  return document;
}

Document model_document(const app::ModelDetail& detail, bool explain) {
  Document document{"corridor/model/1",
                    fmt::format("{}: {} parameters", detail.model.name, units::print_count(detail.summary.parameters)),
                    {}};
  document.blocks.emplace_back(overview(detail));
  document.blocks.emplace_back(layer_table(detail));
  document.blocks.emplace_back(storage_table(detail));
  document.blocks.emplace_back(matrix_table(detail, explain));
  for (const std::string& clause : detail.model.approximations) {
    document.blocks.emplace_back(Paragraph{"approximations", "Approximate: " + clause + ".", Paragraph::Style::plain});
  }
  return document;
}

}  // namespace corridor::views
