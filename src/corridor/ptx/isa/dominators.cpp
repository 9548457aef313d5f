// SPDX-License-Identifier: Apache-2.0
// Dominators of any directed graph, in nearly linear time.
#include "corridor/ptx/isa/dominators.h"

#include <utility>

namespace corridor::ptx {
namespace {

constexpr std::uint32_t no_node = 0xFFFFFFFF;

/// Nodes are called by their number in depth-first order here.
class DominatorSearch {
 public:
  explicit DominatorSearch(const Graph& graph) : graph_(graph), order_of_(graph.size(), no_node) {}
  std::vector<std::uint32_t> run(std::uint32_t root);

 private:
  void number_nodes(std::uint32_t root);
  std::uint32_t best_ancestor(std::uint32_t node);
  const Graph& graph_;
  std::vector<std::uint32_t> order_of_, node_of_, parent_;
  std::vector<std::uint32_t> semi_, best_, ancestor_, dominator_;
  std::vector<std::vector<std::uint32_t>> predecessors_, bucket_;
  std::vector<std::uint32_t> path_;
};

void DominatorSearch::number_nodes(std::uint32_t root) {
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};  // node, next edge
  order_of_[root] = 0;
  node_of_.push_back(root);
  parent_.push_back(0);
  while (!stack.empty()) {
    auto& [node, edge] = stack.back();
    if (edge == graph_[node].size()) {
      stack.pop_back();
      continue;
    }
    const std::uint32_t next = graph_[node][edge++];
    if (order_of_[next] != no_node) continue;
    const std::uint32_t from = order_of_[node];
    order_of_[next] = static_cast<std::uint32_t>(node_of_.size());
    node_of_.push_back(next);
    parent_.push_back(from);
    stack.emplace_back(next, 0);
  }
}

/// The node with the least semidominator on the way up the forest built so far; shortens the way.
std::uint32_t DominatorSearch::best_ancestor(std::uint32_t node) {
  if (ancestor_[node] == no_node) return node;
  path_.clear();
  for (std::uint32_t n = node; ancestor_[ancestor_[n]] != no_node; n = ancestor_[n]) path_.push_back(n);
  while (!path_.empty()) {
    const std::uint32_t n = path_.back();
    path_.pop_back();
    const std::uint32_t above = ancestor_[n];
    if (semi_[best_[above]] < semi_[best_[n]]) best_[n] = best_[above];
    ancestor_[n] = ancestor_[above];
  }
  return best_[node];
}

std::vector<std::uint32_t> DominatorSearch::run(std::uint32_t root) {
  number_nodes(root);
  const auto count = static_cast<std::uint32_t>(node_of_.size());
  predecessors_.resize(count);
  bucket_.resize(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    for (const std::uint32_t next : graph_[node_of_[n]]) predecessors_[order_of_[next]].push_back(n);
  }
  semi_.resize(count);
  best_.resize(count);
  ancestor_.assign(count, no_node);
  dominator_.assign(count, 0);
  for (std::uint32_t n = 0; n < count; ++n) semi_[n] = best_[n] = n;
  for (std::uint32_t n = count; n-- > 1;) {
    for (const std::uint32_t before : predecessors_[n]) {
      const std::uint32_t candidate = semi_[best_ancestor(before)];
      if (candidate < semi_[n]) semi_[n] = candidate;
    }
    bucket_[semi_[n]].push_back(n);
    ancestor_[n] = parent_[n];
    for (const std::uint32_t waiting : bucket_[parent_[n]]) {
      const std::uint32_t best = best_ancestor(waiting);
      dominator_[waiting] = semi_[best] < semi_[waiting] ? best : parent_[n];
    }
    bucket_[parent_[n]].clear();
  }
  std::vector<std::uint32_t> out(graph_.size(), root);
  for (std::uint32_t n = 1; n < count; ++n) {
    if (dominator_[n] != semi_[n]) dominator_[n] = dominator_[dominator_[n]];
    out[node_of_[n]] = node_of_[dominator_[n]];
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> immediate_dominators(const Graph& graph, std::uint32_t root) {
  return DominatorSearch(graph).run(root);
}

}  // namespace corridor::ptx
