// SPDX-License-Identifier: Apache-2.0
// The names of PTX's read-only special registers.
#include "corridor/ptx/syntax/special_registers.h"

#include <algorithm>
#include <array>

namespace corridor::ptx {
namespace {

/// Sorted, for a binary search.
constexpr std::array<std::string_view, 45> special_names = {"%aggr_smem_size",
                                                            "%clock",
                                                            "%clock64",
                                                            "%clock_hi",
                                                            "%cluster_ctaid",
                                                            "%cluster_ctarank",
                                                            "%cluster_nctaid",
                                                            "%cluster_nctarank",
                                                            "%clusterid",
                                                            "%ctaid",
                                                            "%current_graph_exec",
                                                            "%dynamic_smem_size",
                                                            "%globaltimer",
                                                            "%globaltimer_hi",
                                                            "%globaltimer_lo",
                                                            "%gridid",
                                                            "%is_explicit_cluster",
                                                            "%laneid",
                                                            "%lanemask_eq",
                                                            "%lanemask_ge",
                                                            "%lanemask_gt",
                                                            "%lanemask_le",
                                                            "%lanemask_lt",
                                                            "%nclusterid",
                                                            "%nctaid",
                                                            "%nsmid",
                                                            "%ntid",
                                                            "%nwarpid",
                                                            "%pm0",
                                                            "%pm1",
                                                            "%pm2",
                                                            "%pm3",
                                                            "%pm4",
                                                            "%pm5",
                                                            "%pm6",
                                                            "%pm7",
                                                            "%reserved_smem_offset_0",
                                                            "%reserved_smem_offset_1",
                                                            "%reserved_smem_offset_begin",
                                                            "%reserved_smem_offset_cap",
                                                            "%reserved_smem_offset_end",
                                                            "%smid",
                                                            "%tid",
                                                            "%total_smem_size",
                                                            "%warpid"};

/// `name` is `prefix` and a number below `count`.
bool is_numbered(std::string_view name, std::string_view prefix, unsigned count) {
  if (name.substr(0, prefix.size()) != prefix) return false;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || digits.size() > 2) return false;
  unsigned value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value < count;
}

}  // namespace

bool is_special_register(std::string_view name) {
  if (std::binary_search(special_names.begin(), special_names.end(), name)) return true;
  if (is_numbered(name, "%envreg", 32)) return true;
  constexpr std::string_view wide = "_64";
  const bool is_wide = name.size() > wide.size() && name.substr(name.size() - wide.size()) == wide;
  return is_wide && is_numbered(name.substr(0, name.size() - wide.size()), "%pm", 8);
}

}  // namespace corridor::ptx
