// Facts of a trace's graphs and their memory. A fact is made when it is first asked for,
// once, whichever thread asks; no one makes it beside. The comment of each names the facts that it
// is made of. Facts of launches are above: analysis/facts.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/memory/exec_memory.h"
#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/memory/lower_bound.h"
#include "libgraphkit/analysis/memory/races.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/analysis/order/build_order.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/fact.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// A block that a graph touches and doesn't own, and the first node that does: an input, which has
// to stay as long as the graph is launched.
struct GraphInput {
  BlockId block;
  NodeId node;
  bool operator==(const GraphInput&) const = default;
};

// Of a graph's blocks in one pool.
struct PoolBound {
  PoolId pool;  // none: blocks without one
  LowerBound bound;
  bool operator==(const PoolBound&) const = default;
};

struct FactOptions {
  // kCompletion is the only rule that proves anything. kAllFull shows what PyTorch makes of a
  // trace.
  EdgeRule edges = EdgeRule::kCompletion;
  std::optional<std::chrono::milliseconds> bound_time_limit = {};  // of a graph; none: no bounds
  std::atomic<size_t>* graphs_done = nullptr;  // counts up with the graphs that have a bound
};

class MemoryFacts {
 public:
  // The trace must outlive the facts.
  explicit MemoryFacts(const Ran& of, const FactOptions& how = {}) : trace(of), options(how) {}

  const Ran& trace;
  const FactOptions options;

  const Fact<Nesting> nesting{[this] { return Nesting(trace); }};
  // Of each graph the root that holds it.
  const Fact<std::vector<GraphId>> roots{[this] { return FindRoots(trace); }};
  const Fact<InEdges> in_edges{[this] { return FindInEdges(trace); }};
  // There are programmatic or launch completion edges.
  const Fact<bool> partial_edges{
      [this] { return !std::ranges::all_of(trace.edges, [](const Edge& e) { return e.full(); }); }};
  // By graph. Of in_edges.
  const Fact<std::vector<Shape>> shapes{[this] { return FindShapes(trace, in_edges()); }};
  // By the options' rule, with the rows that `lives` adds.
  const Order& order() const { return ordered_().order; }
  const Lifetimes& lives() const { return ordered_().lives; }
  // By completion, as if all kernels waited for their grid dependencies of which it isn't known.
  const Fact<Order> hopeful_order{
      [this] { return BuildOrder(trace, EdgeRule::kCompletion, Ternary::kYes); }};
  // What may come before a node isn't only what is proved to.
  const Order& likely_order() const { return partial_edges() ? hopeful_order() : order(); }
  // Of each root graph, in capture order. Of lives.
  const Fact<std::vector<std::vector<BlockId>>> blocks{[this] { return FindBlocks(); }};
  // Of lives.
  const Fact<MemoryTimeline> timeline{[this] { return MemoryTimeline(trace, lives()); }};
  // By graph. Of timeline.
  const std::vector<Usage>& usage() const { return timeline().usage(); }
  // Of each root graph's blocks. Of blocks.
  const Fact<std::vector<std::vector<BlockOverlap>>> overlaps{[this] { return FindAllOverlaps(); }};
  // By graph. Of order, lives, blocks, overlaps.
  const Fact<std::vector<ReuseFacts>> reuse{[this] { return FindAllReuse(); }};
  // By completion order only. Of order, hopeful_order, lives, roots, in_edges, partial_edges.
  const Fact<std::vector<Race>> races{[this] { return FindRaces(*this); }};
  // By root graph, each block once, in the order of the blocks. Of lives, roots.
  const Fact<std::vector<std::vector<GraphInput>>> inputs{[this] { return FindInputs(); }};
  // At last use, by graph; empty without a time limit. Of order, lives, blocks.
  const std::vector<LowerBound>& bounds() const { return bounds_().graphs; }
  const std::vector<std::vector<PoolBound>>& pool_bounds() const { return bounds_().pools; }
  // Of roots.
  const Fact<UnknownMemory> unknown_memory{[this] { return FindUnknownMemory(trace, roots()); }};
  // Nothing: no exec was made. Of roots.
  const Fact<std::optional<ExecMemory>> exec_memory{
      [this] { return FindExecMemory(trace, roots()); }};

  BlockOrder Blocks(MarkerRule rule) const { return {trace, order(), lives(), rule}; }
  GraphId RootOf(NodeId node) const { return roots()[trace[node].graph.index()]; }

 private:
  struct Ordered {
    Order order;
    Lifetimes lives;
  };
  struct Bounds {
    std::vector<LowerBound> graphs;
    std::vector<std::vector<PoolBound>> pools;
  };
  Ordered FindOrdered() const;
  std::vector<std::vector<BlockId>> FindBlocks() const;
  std::vector<std::vector<BlockOverlap>> FindAllOverlaps() const;
  std::vector<ReuseFacts> FindAllReuse() const;
  std::vector<std::vector<GraphInput>> FindInputs() const;
  Bounds FindBounds() const;

  const Fact<Ordered> ordered_{[this] { return FindOrdered(); }};
  const Fact<Bounds> bounds_{[this] { return FindBounds(); }};
};

// Work on all cores that must not depend on its order; on this thread alone for a small trace,
// where another one costs more than it saves.

size_t ThreadsFor(const Ran& trace);
// The longest should come first.
void RunTasks(const Ran& trace, const std::vector<std::function<void()>>& tasks);
// Once for each graph of the trace, those with the most blocks first. `blocks`: of each root graph.
void ForEachGraph(const Ran& trace, const std::vector<std::vector<BlockId>>& blocks,
                  const std::function<void(GraphId)>& body);

// The nodes that touch a block, graph by graph: a block that thousands of graphs touch isn't gone
// through for each of them.

class TouchesByGraph {
 public:
  explicit TouchesByGraph(const MemoryFacts& facts) : facts_(facts) {}

  // Those of a root graph, in capture order.
  std::span<const NodeId> Of(BlockId block, GraphId root) {
    const auto root_of = [this](NodeId node) {
      return facts_.roots()[facts_.trace[node].graph.index()];
    };
    const auto [at, is_new] = nodes_.try_emplace(block);
    std::vector<NodeId>& nodes = at->second;
    if (is_new) {
      for (const NodeId touch : facts_.lives().Touches(block)) {
        if (nodes.empty() || nodes.back() != touch) nodes.push_back(touch);
      }
      std::ranges::stable_sort(nodes, {}, root_of);
    }
    const auto first = std::ranges::lower_bound(nodes, root, {}, root_of);
    return {first, std::ranges::upper_bound(nodes, root, {}, root_of)};
  }

 private:
  const MemoryFacts& facts_;
  std::unordered_map<BlockId, std::vector<NodeId>> nodes_;
};

}  // namespace graphkit
