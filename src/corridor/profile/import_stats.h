// SPDX-License-Identifier: Apache-2.0
// What an import left out or mended: every kind counted, named and given a severity, so that nothing is lost unseen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::profile {

/// `note`: of no weight for the answer. `warning`: may shift numbers. `loss`: data that would have counted is gone.
enum class Severity { note, warning, loss };
[[nodiscard]] std::string_view name(Severity severity);

struct ImportEvent {
  std::string what;  ///< "kernels without a duration"
  std::size_t count = 0;
  Severity severity = Severity::note;
  std::string example;  ///< where the first one stood, or its name
};

struct ImportStats {
  std::vector<ImportEvent> dropped, repaired;

  /// Adds to the event of the same words; keeps the first example.
  void drop(std::string_view what, Severity severity, std::string_view example = {}, std::size_t count = 1);
  void repair(std::string_view what, Severity severity, std::string_view example = {}, std::size_t count = 1);
  /// Counts of `other` are added to these.
  void merge(const ImportStats& other);
  [[nodiscard]] std::size_t dropped_count() const;
};

}  // namespace corridor::profile
