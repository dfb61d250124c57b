// What is known of a trace before anything is judged: computed once, read by all checks and by the
// summaries.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/memory/bound/lower_bound.h"
#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/memory/races.h"
#include "libgraphkit/analysis/memory/reuse.h"
#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// What graphs touch that isn't theirs: their inputs, which have to stay as long as they are
// launched.

// A block that a graph touches and doesn't own, and the first node that does.
struct GraphInput {
  BlockId block;
  NodeId node;
  bool operator==(const GraphInput&) const = default;
};

// By root graph, each block once, in the order of the blocks. `roots`: of each graph.
std::vector<std::vector<GraphInput>> FindInputs(const Trace& trace, const Lifetimes& lives,
                                                const std::vector<GraphId>& roots);

// Of a graph's blocks in one pool.
struct PoolBound {
  PoolId pool;  // none: blocks without one
  LowerBound bound;
  bool operator==(const PoolBound&) const = default;
};

struct Facts {
  const Trace& trace;
  // Completion order, the only one that proves anything; full-edge order when asked for what
  // PyTorch makes of a trace.
  Order order;
  InEdges in_edges = {};
  Lifetimes lives = {};
  std::vector<GraphId> roots = {};                  // of each graph
  std::vector<std::vector<BlockId>> blocks = {};    // of each root graph, in capture order
  std::vector<Usage> usage = {};                    // by graph
  std::vector<Shape> shapes = {};                   // by graph
  std::vector<std::vector<Overlap>> overlaps = {};  // of each root graph's blocks
  std::vector<ReuseFacts> reuse = {};               // by graph
  std::vector<Race> races = {};
  std::vector<std::vector<GraphInput>> inputs = {};  // by root graph
  // At last use, by graph; empty: not asked for.
  std::vector<LowerBound> bounds = {};
  std::vector<std::vector<PoolBound>> pool_bounds = {};  // of each graph, by pool
  UnknownMemory unknown_memory = {};
  std::optional<ExecMemory> exec_memory = {};  // nothing: nothing was instantiated
  bool partial_edges = false;                  // there are programmatic or launch completion edges
  // By completion order, where these are by full-edge order and that says more: what must be proved
  // (order, lives, overlaps, races). Races are found by completion order alone.
  std::unique_ptr<const Facts> strict = nullptr;

  BlockOrder Blocks(MarkerRule rule) const { return {trace, order, lives, rule}; }
};

enum class FactScope : uint8_t {
  kPlacement,  // what placing blocks and checking it needs: order, lives, roots, blocks, inputs and
               // what memory is unknown
  kReplay,     // and the edges into nodes
  kAll,
};

struct FactOptions {
  EdgeRule edges = EdgeRule::kCompletion;
  std::optional<std::chrono::milliseconds> bound_time_limit;  // for each graph; none: no bounds
  FactScope scope = FactScope::kAll;
  std::atomic<size_t>* graphs_done = nullptr;  // counts up, for who watches
};

// The trace must outlive the facts.
Facts FindFacts(const Trace& trace, const FactOptions& options = {});

// Work on all cores that must not depend on its order; on this thread alone for a small trace,
// where another one costs more than it saves.

size_t ThreadsFor(const Trace& trace);
// The longest should come first.
void RunTasks(const Trace& trace, const std::vector<std::function<void()>>& tasks);
// Once for each graph of the trace, those with the most blocks first. `blocks`: of each root graph.
void ForEachGraph(const Trace& trace, const std::vector<std::vector<BlockId>>& blocks,
                  const std::function<void(GraphId)>& body);

}  // namespace graphkit
