// SPDX-License-Identifier: Apache-2.0
// Dominators of any directed graph, in nearly linear time; a private part of flow.
#pragma once

#include <cstdint>
#include <vector>

namespace corridor::ptx {

/// successors[n]: the nodes an edge leads to from n. Node `root` must reach every node.
using Graph = std::vector<std::vector<std::uint32_t>>;

/// The immediate dominator of each node; of the root: the root itself. Irreducible graphs too (Lengauer and Tarjan's
/// algorithm with path compression; no recursion).
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(const Graph& graph, std::uint32_t root);

}  // namespace corridor::ptx
