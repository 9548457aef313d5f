// SPDX-License-Identifier: Apache-2.0
// Reads the tables, resolves names once, predicts all rows in parallel, and judges each.
#include "corridor/app/validate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/validate_case.h"
#include "corridor/app/validate_names.h"
#include "corridor/app/validate_regime.h"
#include "corridor/app/validate_summary.h"
#include "corridor/base/file.h"
#include "corridor/base/nearest.h"
#include "corridor/base/parallel_for.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using profile::MeasuredPoint;
using profile::PointLoad;
using profile::PointMetric;

constexpr double rounding = 0.005;  // tables round; a number this little beyond the limit is no contradiction
constexpr const char* methods_file = "validation/speculation_methods.csv";

bool is_shipped_table(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return path.ends_with(".csv") && (name.starts_with("runs") || name.starts_with("operations"));
}

Result<int> append_table(std::string_view text, const std::string& file, ValidateAnswer& answer) {
  Result<profile::PointTable> table = profile::read_points(text, file);
  if (!table) return tl::unexpected(table.error());
  answer.files.push_back(file);
  if (!table->ignored_columns.empty()) {
    std::string list;
    for (const std::string& column : table->ignored_columns)
      list += (list.empty() ? "" : ", ") + shown_word(column, 30);
    answer.notes.push_back(fmt::format("{}: columns not used: {}", file, list));
  }
  answer.points.reserve(answer.points.size() + table->points.size());
  for (MeasuredPoint& point : table->points) {
    JudgedPoint judged;
    judged.point = std::move(point);
    answer.points.push_back(std::move(judged));
  }
  return 0;
}

Result<int> read_tables(const Assets& assets, const ValidateRequest& request, ValidateAnswer& answer) {
  for (const std::string& file : request.points) {
    const Result<MappedFile> mapped = MappedFile::open(file);
    if (!mapped) return tl::unexpected(mapped.error());
    if (auto ok = append_table(mapped->text(), file, answer); !ok) {
      // Of several files (a folder's *.csv) one may be no table of measurements; alone it is an error.
      if (request.points.size() == 1) return ok;
      answer.warnings.push_back("left out: " + ok.error().line());
    }
  }
  if (!request.points.empty()) {
    if (!answer.files.empty()) return 0;
    return fail("none of the files is a table of measurements", "--points", "docs/validation.md tells the columns");
  }
  for (const std::string& path : assets.list("validation")) {
    if (!is_shipped_table(path)) continue;
    const Result<std::string_view> text = assets.read(path);
    if (!text) return tl::unexpected(text.error());
    if (auto ok = append_table(*text, assets.describe(path), answer); !ok) return ok;
  }
  if (answer.files.empty()) return fail("no table of measurements is shipped", "data/validation", "give --points FILE");
  return 0;
}

/// Methods of speculation by the word that engines' names hold: "HF transformers + EAGLE".
class GuessMethods {
 public:
  explicit GuessMethods(const Assets& assets) {
    const Result<std::string_view> text = assets.read(methods_file);
    std::string_view rest = text ? *text : std::string_view{};
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (!line.empty() && line.front() != '#') add(line);
    }
  }
  [[nodiscard]] GuessMethod of(const MeasuredPoint& point) const {
    for (const auto& [word, method] : methods_) {
      if (point.engine.find(word) != std::string::npos) return method;
    }
    return {};
  }

 private:
  void add(std::string_view line) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) return;
    const double share = units::parse_count(line.substr(first + 1, second - first - 1)).value_or(0);
    const double tokens = units::parse_count(line.substr(second + 1)).value_or(0);
    if (tokens >= 1) methods_.emplace_back(line.substr(0, first), GuessMethod{share, tokens});
  }
  std::vector<std::pair<std::string, GuessMethod>> methods_;
};

/// Names of one row; a failure's text is the reason why the row is not understood.
Result<PointCase> resolve(const JudgedPoint& judged, PointNames& names, const GuessMethods& methods) {
  const MeasuredPoint& point = judged.point;
  if (!point.not_usable.empty()) return fail(point.not_usable);
  if (!(point.value > 0) || !std::isfinite(point.value)) return fail("the value is no positive number");
  PointCase out;
  const Result<const PointDevice*> device = names.device(point.device);
  if (!device) return tl::unexpected(device.error());
  out.device = *device;
  const bool run = !point.operation && point.metric != PointMetric::bandwidth;
  if (!run) return out;
  if (point.load == PointLoad::other) return fail("no fixed number of sequences");
  const Result<const PointModel*> model = names.model(point);
  if (!model) return tl::unexpected(model.error());
  out.model = *model;
  const Result<const PointEngine*> engine = names.engine(point, out.device->device);
  if (!engine) return tl::unexpected(engine.error());
  out.engine = *engine;
  if (point.tokens_per_step) out.guess = methods.of(point);
  return out;
}

void not_understood(JudgedPoint& judged, std::string reason) {
  judged.status = PointStatus::not_understood;
  judged.reason = std::move(reason);
}

void judge_limit(JudgedPoint& judged) {
  const double speed = is_rate(judged.point.metric) ? judged.observed / judged.limit : judged.limit / judged.observed;
  if (!(judged.limit > 0) || !(speed > 1 + rounding)) return;  // a limit of 0 s allows everything
  judged.status = PointStatus::beyond_limit;
  judged.reason = beyond_reason(judged, speed);
}

void judge(JudgedPoint& judged, const PointCase& names) {
  const Result<PointPrediction> p = predict_point(judged.point, names);
  if (!p) return not_understood(judged, p.error().what);
  const double unit = judged.point.unit > 0 ? judged.point.unit : 1;
  judged.low = p->low / unit;
  judged.mid = p->mid / unit;
  judged.high = p->high / unit;
  judged.limit = p->limit / unit;
  judged.roofline = p->roofline / unit;
  judged.one_constant = p->one_constant / unit;
  judged.saturated = p->saturated;
  judged.fits = p->fits;
  const bool sound = judged.mid > 0 && std::isfinite(judged.mid) && judged.low >= 0 && std::isfinite(judged.high) &&
                     judged.limit >= 0 && std::isfinite(judged.limit);
  if (!sound) return not_understood(judged, "the row's sizes lead to no finite prediction");
  const bool routed = names.model != nullptr && names.model->routed;
  judged.regime = regime_of(judged, routed, names.model == nullptr || names.model->shapes_known);
  judge_limit(judged);
}

void note_names(JudgedPoint& judged, const PointCase& names) {
  judged.observed = judged.point.value / (judged.point.unit > 0 ? judged.point.unit : 1);
  if (names.device != nullptr) {
    judged.device_id = names.device->device.id;
    judged.device_measured = names.device->constants.measured;
  }
  if (names.model != nullptr) judged.model_id = names.model->spec.id;
  if (names.engine != nullptr) {
    judged.engine_id = names.engine->profile.id;
    judged.engine_known = names.engine->known;
  }
}

}  // namespace

std::string_view name(PointStatus status) {
  switch (status) {
    case PointStatus::predicted:
      return "predicted";
    case PointStatus::beyond_limit:
      return "beyond_limit";
    case PointStatus::not_understood:
      return "not_understood";
  }
  return "";
}

double JudgedPoint::error(double predicted) const {
  const bool rate = is_rate(point.metric);
  const double from = rate ? predicted : observed;
  const double to = rate ? observed : predicted;
  return from > 0 ? to / from - 1 : 0;
}

Result<ValidateAnswer> validate(const Assets& assets, const ValidateRequest& request) {
  ValidateAnswer answer;
  PointNames names(assets, request.device);
  if (!request.device.empty()) {
    if (const auto device = names.device(request.device); !device) {
      return fail(device.error().what, "--device " + shown_word(request.device), device.error().fix);
    }
  }
  if (Result<int> ok = read_tables(assets, request, answer); !ok) return tl::unexpected(ok.error());
  const GuessMethods methods(assets);
  std::vector<std::optional<PointCase>> cases(answer.points.size());
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    JudgedPoint& judged = answer.points[i];
    Result<PointCase> resolved = resolve(judged, names, methods);
    // Reasons have no place; an error of a data file does, and then no row can be trusted.
    if (!resolved && !resolved.error().where.empty()) return tl::unexpected(resolved.error());
    note_names(judged, resolved ? *resolved : PointCase{});
    if (resolved) {
      cases[i] = *resolved;
    } else {
      not_understood(judged, resolved.error().what);
    }
  }
  parallel_for(answer.points.size(), [&](std::size_t i) {
    if (cases[i]) judge(answer.points[i], *cases[i]);
  });
  answer.noise_floor = set_contradictions_apart(answer.points);
  summarise(answer);
  return answer;
}

}  // namespace corridor::app
