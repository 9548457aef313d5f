// SPDX-License-Identifier: Apache-2.0
// Tables → points.
#include "points.h"

#include <fmt/format.h>

#include <algorithm>

#include "corridor/base/file.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/roofline/op_time.h"

namespace corridor::fit {
namespace {

using profile::PointOperation;

std::string family_of(const PointOperation& o) {
  switch (o.kind) {
    case PointOperation::Kind::product:
      return fmt::format("{}x{}", o.n, o.k);
    case PointOperation::Kind::attention_decode:
    case PointOperation::Kind::attention_prefill:
      return fmt::format("{}/{}/{}/{}", o.heads, o.kv_heads, o.head_dim, o.window);
    case PointOperation::Kind::moe:
      return fmt::format("{}/{}/{}/{}/{}/{}", o.hidden, o.inter, o.experts, o.per_token, o.tp, o.ep);
    case PointOperation::Kind::collective:
      return fmt::format("{}", o.payload_bytes);
  }
  return {};
}

Result<const hardware::Device*> device_of(const Assets& assets, const std::string& name, Points& out) {
  auto found = out.devices.find(name);
  if (found == out.devices.end()) {
    Result<hardware::ResolvedDevice> match = hardware::find_device(assets, name);
    if (!match) return tl::unexpected(match.error());
    found = out.devices.emplace(name, std::move(match->device)).first;
  }
  return &found->second;
}

void add_rows(const Assets& assets, const profile::PointTable& table, Points& out) {
  for (const profile::MeasuredPoint& row : table.points) {
    const auto leave_out = [&](const std::string& why) { ++out.left_out[why]; };
    if (!row.not_usable.empty()) {
      leave_out(row.not_usable);
      continue;
    }
    if (!row.operation || row.metric != profile::PointMetric::op_time) {
      leave_out("no time of one operation");
      continue;
    }
    const Result<const hardware::Device*> device = device_of(assets, row.device, out);
    Result<app::OperationCase> made = app::operation_case(*row.operation);
    if (!device || !made) {
      leave_out(!device ? device.error().what : made.error().what);
      continue;
    }
    out.points.push_back({*row.operation, std::move(*made), *device, row.engine, family_of(*row.operation), row.value});
  }
}

}  // namespace

Result<Points> load_points(const Assets& assets, const std::vector<std::string>& files) {
  Points out;
  const auto add = [&](std::string_view text, const std::string& name) -> Result<int> {
    const Result<profile::PointTable> table = profile::read_points(text, name);
    if (!table) return tl::unexpected(table.error());
    add_rows(assets, *table, out);
    return 0;
  };
  for (const std::string& path : files) {
    const Result<std::string> text = read_text_file(path);
    if (!text) return tl::unexpected(text.error());
    if (auto ok = add(*text, path); !ok) return tl::unexpected(ok.error());
  }
  if (!files.empty()) return out;
  for (const std::string& path : assets.list("validation")) {
    if (path.find("/operations") == std::string::npos) continue;
    const Result<std::string_view> text = assets.read(path);
    if (!text) return tl::unexpected(text.error());
    if (auto ok = add(*text, assets.describe(path)); !ok) return tl::unexpected(ok.error());
  }
  return out;
}

double predicted_s(const Point& point, const roofline::KernelConstants& constants) {
  const Result<app::OperationTime> time = app::time_operation(point.made, *point.device, constants);
  return time ? time->mid.value() : 0;
}

bool is_small(const Point& point, const roofline::KernelConstants& constants) {
  const graph::Op& op = point.made.ops.back();
  const roofline::TimingContext context{*point.device, constants, std::nullopt, point.made.graphs};
  const Result<roofline::OpTime> time = roofline::time_op(op, context);
  if (!time) return false;
  if (op.kind == graph::OpKind::collective) return time->limit_link * 3 < time->expected;
  return time->floor * 3 > time->expected;
}

}  // namespace corridor::fit
