#include "tests/compare/permute_trace.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/ran/resolve.h"

namespace graphkit {
namespace {

class Permuter {
 public:
  Permuter(const Ran& from, std::mt19937_64& random) : from_(from), random_(random) {}

  Permuted Make() {
    Shuffle(from_.streams, to_.trace.streams, streams_);
    for (Stream& stream : to_.trace.streams) stream.name = Text(stream.name);
    Shuffle(from_.kernels, to_.trace.kernels, kernels_);
    for (Kernel& kernel : to_.trace.kernels) kernel.name = Text(kernel.name);
    Shuffle(from_.shapes, to_.trace.shapes, shapes_);
    Shuffle(from_.blocks, to_.trace.blocks, blocks_);
    to_.trace.graphs = from_.graphs;
    for (Graph& graph : to_.trace.graphs) {
      graph.name = Text(graph.name);
      graph.destroyed = kNever;
    }
    Nodes();
    Edges();
    for (Graph& graph : to_.trace.graphs) {
      if (graph.parent) graph.parent = to_.node[graph.parent.index()];
    }
    to_.trace = Resolve(std::move(to_.trace));
    return std::move(to_);
  }

 private:
  StringId Text(StringId id) { return id ? to_.trace.strings.Intern(from_[id]) : id; }

  template <typename Column>
  void Shuffle(const Column& from, Column& to, std::vector<uint32_t>& new_ids) {
    std::vector<uint32_t> order(from.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::shuffle(order, random_);
    new_ids.resize(from.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      new_ids[order[i]] = i;
      to.push_back(from[order[i]]);
    }
  }

  // The nodes to come before each node: those with an edge to it, and the one before on its stream.
  std::vector<std::vector<size_t>> Followers(std::vector<size_t>& waiting) const {
    std::vector<std::vector<size_t>> followers(from_.nodes.size());
    std::vector<std::pair<std::pair<GraphId, StreamId>, size_t>> last;
    const auto follow = [&](size_t before, size_t after) {
      followers[before].push_back(after);
      ++waiting[after];
    };
    for (const EdgeId id : from_.graph_edges) follow(from_[id].from.index(), from_[id].to.index());
    for (size_t i = 0; i < from_.nodes.size(); ++i) {
      const Node& node = from_.nodes[i];
      if (!from_.graph_nodes.Has(NodeId(i)) || !node.stream) continue;
      const std::pair key(node.graph, node.stream);
      const auto found =
          std::ranges::find(last, key, [](const auto& entry) { return entry.first; });
      if (found == last.end()) {
        last.push_back({key, i});
      } else {
        follow(std::exchange(found->second, i), i);
      }
    }
    return followers;
  }

  void Nodes() {
    std::vector<size_t> waiting(from_.nodes.size(), 0), ready;
    const auto followers = Followers(waiting);
    to_.node.resize(from_.nodes.size());
    for (size_t i = 0; i < from_.nodes.size(); ++i) {
      if (waiting[i] == 0 && from_.graph_nodes.Has(NodeId(i))) ready.push_back(i);
    }
    while (!ready.empty()) {
      std::swap(ready[random_() % ready.size()], ready.back());
      const size_t next = ready.back();
      ready.pop_back();
      AddNode(next);
      for (const size_t follower : followers[next]) {
        if (--waiting[follower] == 0) ready.push_back(follower);
      }
    }
  }

  void AddNode(size_t old) {
    Node node = from_.nodes[old];
    to_.node[old] = NodeId(to_.trace.nodes.size());
    if (node.stream) node.stream = StreamId(streams_[node.stream.index()]);
    if (node.kernel) node.kernel = KernelId(kernels_[node.kernel.index()]);
    if (node.block) node.block = BlockId(blocks_[node.block.index()]);
    if (node.shape < shapes_.size()) node.shape = shapes_[node.shape];
    node.seq = to_.trace.records++;
    node.destroyed = kNever;
    const Slice slice = node.accesses;
    node.accesses.first = static_cast<uint32_t>(to_.trace.accesses.size());
    for (uint32_t i = 0; i < slice.count; ++i) {
      Access access = from_.accesses[slice.first + i];
      if (access.block) access.block = BlockId(blocks_[access.block.index()]);
      to_.trace.accesses.push_back(access);
    }
    to_.trace.nodes.push_back(node);
  }

  void Edges() {
    std::vector<Edge> kept, shuffled;
    std::vector<size_t> old;
    to_.edge.resize(from_.edges.size());
    for (size_t i = 0; i < from_.edges.size(); ++i) {
      if (!from_.graph_edges.Has(EdgeId(i))) continue;
      kept.push_back(from_.edges[i]);
      old.push_back(i);
    }
    std::vector<uint32_t> new_ids;
    Shuffle(kept, shuffled, new_ids);
    for (size_t i = 0; i < kept.size(); ++i) to_.edge[old[i]] = EdgeId(new_ids[i]);
    for (Edge& edge : shuffled) {
      edge.from = to_.node[edge.from.index()];
      edge.to = to_.node[edge.to.index()];
      edge.seq = to_.trace.records++;
      edge.removed = kNever;
    }
    to_.trace.edges = EdgeColumn(shuffled);
  }

  const Ran& from_;
  std::mt19937_64& random_;
  Permuted to_;
  std::vector<uint32_t> streams_, kernels_, shapes_, blocks_;
};

}  // namespace

Permuted Permute(const Ran& trace, std::mt19937_64& random) {
  return Permuter(trace, random).Make();
}

}  // namespace graphkit
