// SPDX-License-Identifier: Apache-2.0
// One class of devices after another, one group of constants after another; then the same with shapes and devices left
// out.
#include "operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "constant_writer.h"
#include "corridor/base/file.h"
#include "corridor/roofline/op_time.h"
#include "error_stats.h"
#include "groups.h"
#include "points.h"

namespace corridor::fit {
namespace {

using roofline::ConstantFile;
using roofline::ConstantLayers;
using Chosen = std::vector<const Point*>;

/// Constants of a class with some of them changed, for every device of the class.
class Model {
 public:
  explicit Model(ConstantLayers layers) : layers_(std::move(layers)) {}
  void set(const std::string& key, double value) { layers_.values.values[key].value = value; }
  [[nodiscard]] double get(const std::string& key) const { return layers_.values.number(key).value_or(0); }
  [[nodiscard]] bool has(const std::string& key) const { return layers_.values.values.count(key) > 0; }
  [[nodiscard]] const ConstantLayers& layers() const { return layers_; }

  /// predicted ÷ observed of each point.
  [[nodiscard]] std::vector<double> ratios(const Chosen& points) const {
    const DeviceConstants constants = constants_of(points);
    std::vector<double> out;
    out.reserve(points.size());
    for (const Point* point : points)
      out.push_back(predicted_s(*point, constants.at(point->device)) / point->observed_s);
    return out;
  }
  using DeviceConstants = std::map<const hardware::Device*, roofline::KernelConstants>;
  [[nodiscard]] DeviceConstants constants_of(const Chosen& points) const {
    DeviceConstants out;
    for (const Point* point : points) {
      if (out.count(point->device) > 0) continue;
      // The same layers were filled when the class was loaded, so only a key of the groups can be at fault.
      out[point->device] = roofline::kernel_constants(layers_, *point->device).value_or(roofline::KernelConstants{});
    }
    return out;
  }

 private:
  ConstantLayers layers_;
};

/// Fits the group's keys on `points`, from the group's own starts, and rounds them.
void fit_group(const Group& group, const Chosen& points, Model& model, const std::set<std::string>& kept) {
  std::vector<std::string> keys;
  std::vector<Axis> axes;
  for (const FittedKey& fitted : group.keys) {
    if (kept.count(fitted.key) > 0) continue;
    keys.push_back(fitted.key);
    axes.push_back(fitted.axis);
  }
  if (keys.empty() || points.empty()) return;
  const std::vector<double> best = descend(axes, [&](const std::vector<double>& at) {
    for (std::size_t i = 0; i < at.size(); ++i) model.set(keys[i], at[i]);
    return robust_loss(model.ratios(points));
  });
  for (std::size_t i = 0; i < best.size(); ++i) model.set(keys[i], rounded(best[i]));
}

std::size_t fold_of(const std::string& family) {
  std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  for (const char c : family) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return static_cast<std::size_t>((hash >> 32U) % 4);
}

/// Every family of shapes predicted by constants that never saw it; in the order of `points`.
std::vector<double> shapes_left_out(const Group& group, const Chosen& points, const Model& model) {
  std::vector<double> out(points.size());
  for (std::size_t fold = 0; fold < 4; ++fold) {
    Chosen train, test;
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (fold_of(points[i]->family) == fold) {
        test.push_back(points[i]);
        at.push_back(i);
      } else {
        train.push_back(points[i]);
      }
    }
    Model held = model;
    fit_group(group, train, held, {});
    const std::vector<double> ratios = held.ratios(test);
    for (std::size_t i = 0; i < at.size(); ++i) out[at[i]] = ratios[i];
  }
  return out;
}

std::string brief(const ErrorStats& r) {
  return fmt::format("{:5.1f} /{:5.1f} % {:+5.1f}", 100 * r.median, 100 * r.p90, 100 * r.bias);
}

const char* unit_of(const std::string& key) {
  if (key.ends_with("_s") && !key.ends_with("bytes_per_s")) return "s";
  if (key.ends_with("bytes_per_s")) return "B/s";
  if (key.ends_with("_bytes")) return "B";
  return "1";
}

struct ClassData {
  std::string name;
  Model model;
  Chosen points;
};

/// Which interval a point's kind has, and whether it is a small one there.
std::string interval_key(const Point& point, const roofline::KernelConstants& constants) {
  using Kind = profile::PointOperation::Kind;
  const auto& o = point.operation;
  std::string kind;
  switch (o.kind) {
    case Kind::product:
      kind = o.type == "bf16" || o.type == "fp16" ? "product" : "product_narrow";
      break;
    case Kind::attention_decode:
      kind = "attention_decode";
      break;
    case Kind::attention_prefill:
      kind = "attention_prefill";
      break;
    case Kind::moe:
      kind = "moe";
      break;
    case Kind::collective:
      kind = "collective";
      break;
  }
  return "interval." + kind + (is_small(point, constants) ? ".small" : ".large");
}

class Fitter {
 public:
  Fitter(const Assets& assets, const OperationOptions& options, Points points)
      : assets_(assets), options_(options), points_(std::move(points)) {}

  Result<int> run() {
    roofline::ConstantFiles files(assets_);
    for (const auto& [name, device] : points_.devices) {
      Result<ConstantLayers> layers = files.layers(device);
      if (!layers) return tl::unexpected(layers.error());
      if (!options_.only_class.empty() && layers->device_class != options_.only_class) continue;
      auto at = std::find_if(classes_.begin(), classes_.end(),
                             [&](const ClassData& c) { return c.name == layers->device_class; });
      if (at == classes_.end()) {
        const std::string device_class = layers->device_class;
        at = classes_.insert(at, ClassData{device_class, Model(std::move(*layers)), {}});
      }
      for (const Point& point : points_.points) {
        if (point.device == &device) at->points.push_back(&point);
      }
    }
    for (const Group& group : groups()) {
      for (ClassData& c : classes_) fit_one(group, c);
      if (!options_.judge) leave_devices_out(group);
    }
    if (options_.rows) {
      if (auto done = write_text_file(*options_.rows, rows_); !done) return tl::unexpected(done.error());
    }
    if (options_.judge) return 0;
    write_intervals();
    derive_default();
    return options_.write_to ? write() : 0;
  }

 private:
  static Chosen taken(const Group& group, const ClassData& c) {
    Chosen out;
    std::copy_if(c.points.begin(), c.points.end(), std::back_inserter(out),
                 [&](const Point* point) { return group.takes(*point); });
    return out;
  }

  void fit_one(const Group& group, ClassData& c) {
    const Chosen points = taken(group, c);
    constexpr std::size_t fewest = 8;
    if (points.size() < fewest) return;
    const ErrorStats old = stats_of(c.model.ratios(points));
    fmt::print("{:<12}{:<20}{:>5} points   published {}", c.name, group.name, points.size(), brief(old));
    add_rows(c, points);
    if (options_.judge) {
      fmt::print("\n");
      return;
    }
    const std::vector<double> held = shapes_left_out(group, points, c.model);
    const Model before = c.model;
    fit_group(group, points, c.model, {});
    const ErrorStats now = stats_of(c.model.ratios(points));
    fmt::print("   fitted {}   shapes out {}\n", brief(now), brief(stats_of(held)));
    for (const FittedKey& fitted : group.keys) {
      fmt::print("    {:<46}{:>12.4g} -> {:<12.4g}\n", fitted.key, before.get(fitted.key), c.model.get(fitted.key));
      written_[c.name].push_back({fitted.key, c.model.get(fitted.key), unit_of(fitted.key), now});
    }
    const Model::DeviceConstants constants = c.model.constants_of(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      spread_[{c.name, interval_key(*points[i], constants.at(points[i]->device))}].push_back(held[i]);
    }
  }

  /// For study: one line a point under the published constants.
  void add_rows(const ClassData& c, const Chosen& points) {
    const std::vector<double> ratios = c.model.ratios(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const profile::PointOperation& o = points[i]->operation;
      rows_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.4g},{:.4g}\n", c.name,
                           o.type, o.kv, o.implementation, o.m, o.n, o.k, o.batch, o.heads, o.kv_heads, o.head_dim,
                           o.window, o.length, o.tokens, o.hidden, o.inter, o.experts, o.per_token, o.tp, o.ep,
                           o.routing, points[i]->observed_s * 1e6, ratios[i]);
    }
  }

  /// One class predicted with the group's constants of another: with and without its own floor and bandwidth.
  void leave_devices_out(const Group& group) {
    for (ClassData& c : classes_) {
      const Chosen points = taken(group, c);
      constexpr std::size_t fewest = 8;
      if (points.size() < fewest) continue;
      for (const ClassData& other : classes_) {
        if (other.name == c.name || taken(group, other).size() < fewest) continue;
        Model known = c.model;
        Model unknown = c.model;
        for (const FittedKey& fitted : group.keys) {
          const double value = other.model.get(fitted.key) * scale(fitted.key, c.model, other.model);
          unknown.set(fitted.key, value);
          const bool own = std::find(group.owned.begin(), group.owned.end(), fitted.key) != group.owned.end();
          if (!own) known.set(fitted.key, value);
        }
        for (const std::string& key : group.fixed) {
          known.set(key, other.model.get(key));
          unknown.set(key, other.model.get(key));
        }
        const std::vector<double> ratios = unknown.ratios(points);
        fmt::print("    {} by the constants of {}: {}; its floor and bandwidth known {}\n", c.name, other.name,
                   brief(stats_of(ratios)), brief(stats_of(known.ratios(points))));
        const Model::DeviceConstants constants = c.model.constants_of(points);
        for (std::size_t i = 0; i < points.size(); ++i) {
          spread_[{"default", interval_key(*points[i], constants.at(points[i]->device))}].push_back(ratios[i]);
        }
      }
    }
  }

  /// Half sizes are times in flight: they carry over with the bandwidth.
  static double scale(const std::string& key, const Model& to, const Model& from) {
    if (!key.ends_with("half_size_bytes")) return 1;
    return to.get("reference_bandwidth") / from.get("reference_bandwidth");
  }

  void write_intervals() {
    constexpr double least = 0.03;  // no regime is known better than this
    constexpr std::size_t fewest = 20;
    for (auto& [key, ratios] : spread_) {
      if (ratios.size() < fewest) continue;
      const ErrorStats r = stats_of(ratios);
      const double low = std::min(r.low, 1 - least);
      const double high = std::max(r.high, 1 + least);
      const std::size_t dot = key.second.rfind('.');
      const std::string table = key.second.substr(0, dot);
      const std::string size = key.second.substr(dot + 1);
      fmt::print("{:<12}{:<36}{:>6} points  {:.2f} .. {:.2f}\n", key.first, key.second, ratios.size(), low, high);
      written_[key.first].push_back({fmt::format("{}.{}_low", table, size), rounded(low), "1", r});
      written_[key.first].push_back({fmt::format("{}.{}_high", table, size), rounded(high), "1", r});
    }
  }

  /// Devices of no class: times and shares of a bandwidth are the geometric mean of the two classes measured in full,
  /// what depends on shape is that of the newer one.
  void derive_default() {
    const auto find = [&](const char* name) {
      return std::find_if(classes_.begin(), classes_.end(), [&](const ClassData& c) { return c.name == name; });
    };
    const auto newer = find("hopper");
    const auto older = find("ampere");
    if (newer == classes_.end() || older == classes_.end()) return;
    Result<ConstantFile> base = default_file();
    if (!base) return;
    const double reference = base->number("reference_bandwidth").value_or(0);
    const std::vector<NewConstant> fitted = written_["hopper"];
    const std::vector<NewConstant> others = written_["ampere"];
    for (const NewConstant& constant : fitted) {
      if (constant.key.starts_with("interval.") || constant.key.starts_with("cache.")) continue;
      const bool size = constant.key.ends_with("half_size_bytes");
      const double a = constant.value * (size ? reference / newer->model.get("reference_bandwidth") : 1);
      const auto twin = std::find_if(others.begin(), others.end(),
                                     [&](const NewConstant& other) { return other.key == constant.key; });
      double value = a;
      if (twin != others.end() && (constant.key.ends_with("_s") || constant.key.ends_with("bandwidth_fraction"))) {
        value = std::sqrt(a * twin->value);
      }
      written_["default"].push_back({constant.key, rounded(value), constant.unit, {}});
    }
  }

  [[nodiscard]] Result<ConstantFile> default_file() const {
    const Result<std::string_view> text = assets_.read("kernels/default.toml");
    if (!text) return tl::unexpected(text.error());
    return roofline::parse_constants(*text, "kernels/default.toml");
  }

  Result<int> write() {
    for (const auto& [name, constants] : written_) {
      const std::string path = *options_.write_to + "/kernels/" + name + ".toml";
      const Result<std::string> text = read_text_file(path);
      if (!text) return tl::unexpected(text.error());
      const auto done = write_text_file(path, with_constants(*text, constants));
      if (!done) return tl::unexpected(done.error());
      fmt::print("wrote {}\n", path);
    }
    return 0;
  }

  const Assets& assets_;
  const OperationOptions& options_;
  Points points_;
  std::vector<ClassData> classes_;
  std::map<std::string, std::vector<NewConstant>> written_;
  std::string rows_ =
      "class,type,kv,implementation,m,n,k,batch,heads,kv_heads,head_dim,window,length,tokens,hidden,inter,experts,"
      "per_token,tp,ep,routing,observed_us,predicted_over_observed\n";
  std::map<std::pair<std::string, std::string>, std::vector<double>> spread_;
};

}  // namespace

Result<int> fit_operations(const Assets& assets, const OperationOptions& options) {
  Result<Points> points = load_points(assets, options.files);
  if (!points) return tl::unexpected(points.error());
  for (const auto& [why, count] : points->left_out) fmt::print("left out: {} rows: {}\n", count, why);
  return Fitter(assets, options, std::move(*points)).run();
}

}  // namespace corridor::fit
