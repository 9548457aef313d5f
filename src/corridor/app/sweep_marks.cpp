// SPDX-License-Identifier: Apache-2.0
// Bisection on whole numbers for everything a sweep marks.
#include "corridor/app/sweep_marks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace corridor::app {
namespace {

/// What may flip: its name, and its state at a point.
struct Watched {
  const char* of;
  int (*state)(const SweepPoint&);
  std::string (*state_name)(int);
};

std::string wall_name(int state) {
  return std::string(roofline::name(static_cast<roofline::Wall>(state)));
}

constexpr int no_state = -1;  // the combination is not possible

const std::array<Watched, 3> watched = {{
    {"decode", [](const SweepPoint& p) { return static_cast<int>(p.wall); }, wall_name},
    {"prefill", [](const SweepPoint& p) { return static_cast<int>(p.ttft_wall); }, wall_name},
    {"memory", [](const SweepPoint& p) { return p.fits ? 1 : 0; },
     [](int state) { return std::string(state == 1 ? "fits" : "does not fit"); }},
}};

double middle_of(double low, double high) {
  return std::floor((low + high) / 2);
}

}  // namespace

std::optional<double> first_that_holds(double low, double high, const std::function<bool(double)>& holds) {
  if (holds(low)) return low;
  if (!holds(high)) return std::nullopt;
  while (high - low > 1) {
    const double middle = middle_of(low, high);
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

std::optional<double> knee_of(double low, double high, const std::function<double(double)>& rate) {
  const auto levels_off = [&](double x) { return rate(2 * x) < knee_gain * rate(x); };
  if (levels_off(low)) return low;
  for (double x = low; x < high;) {
    const double next = std::min(2 * x, high);
    if (levels_off(next)) return first_that_holds(x, next, levels_off);
    x = next;
  }
  return std::nullopt;
}

std::vector<StateChange> changes_between(double low, double high, const std::function<int(double)>& state) {
  std::vector<StateChange> changes;
  const std::function<void(double, int, double, int)> search = [&](double a, int at_a, double b, int at_b) {
    if (at_a == at_b) return;
    if (b - a <= 1) {
      changes.push_back({a, b, at_a, at_b});
      return;
    }
    const double middle = middle_of(a, b);
    const int at_middle = state(middle);
    search(a, at_a, middle, at_middle);
    search(middle, at_middle, b, at_b);
  };
  search(low, state(low), high, state(high));
  return changes;
}

void add_flips(const SweepGrid& grid, std::size_t axis, const std::vector<const SweepPoint*>& points,
               std::vector<SweepFlip>& flips) {
  const bool refine = grid.axes()[axis].between();
  for (const Watched& each : watched) {
    const SweepPoint* last = nullptr;
    for (const SweepPoint* point : points) {
      if (!point->error.empty()) continue;
      if (last != nullptr && each.state(*last) != each.state(*point)) {
        const auto add = [&](const StateChange& change) {
          if (change.from == no_state || change.to == no_state) return;
          SweepFlip flip{axis,
                         each.of,
                         each.state_name(change.from),
                         each.state_name(change.to),
                         last->at,
                         point->at,
                         last->at[axis],
                         point->at[axis]};
          flip.before[axis] = change.before;
          flip.after[axis] = change.after;
          flips.push_back(std::move(flip));
        };
        if (refine) {
          const auto state = [&](double x) {
            Coordinates at = point->at;
            at[axis] = x;
            const SweepPoint here = grid.compute(at);
            return here.error.empty() ? each.state(here) : no_state;
          };
          for (const StateChange& change : changes_between(last->at[axis], point->at[axis], state)) add(change);
        } else {
          add({last->at[axis], point->at[axis], each.state(*last), each.state(*point)});
        }
      }
      last = point;
    }
  }
}

}  // namespace corridor::app
