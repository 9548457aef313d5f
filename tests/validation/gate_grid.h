// SPDX-License-Identifier: Apache-2.0
// The grid of predictions that the gate holds still: models × devices × scenarios, and how its table is written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "corridor/base/assets.h"

namespace corridor::test {

/// Four numbers of one prediction, in seconds: first token and token time, expected (mid) and limit.
struct GateRow {
  double ttft_mid = 0, ttft_limit = 0, tpot_mid = 0, tpot_limit = 0;
};

/// "meta-llama/Llama-3.1-8B,h100-sxm,one user" → numbers. Combinations that cannot be laid out are left out.
using GateTable = std::map<std::string, GateRow>;

[[nodiscard]] GateTable predict_grid(const Assets& assets);

/// The recorded table: the number in its first line ("# table 3, 2026-12-01: why"), the number its rows were made for,
/// and the rows. Numbers are 0 when a line is missing.
struct GateFile {
  std::string head;
  int table = 0;
  int rows_of = 0;
  GateTable rows;
};

[[nodiscard]] GateFile parse_gate(const std::string& text);
[[nodiscard]] std::string print_gate(const GateFile& file);

/// Why the rows may not be written anew; empty when they may: the number in the first line was raised, or there are no
/// rows yet.
[[nodiscard]] std::string update_refused(const GateFile& file);

/// Rows whose numbers moved by more than `share`, that are new or that are gone, one line each.
[[nodiscard]] std::vector<std::string> moved(const GateTable& accepted, const GateTable& now, double share);

}  // namespace corridor::test
