// The cost of less memory: which waits between streams, and which frees in the graph, would
// lower a graph's peak most, and how much longer its critical path gets.
//
// The lower bound's certificate is a set of blocks that all conflict; a smaller peak needs two of
// them to stop doing so. Each step tries the pairs of the largest blocks: letting the stream of the
// later one wait, before its allocation, for the last use of the earlier one; and freeing in the
// graph what the program frees after it. The one that lowers the bound most is kept, of equals the
// one with the shortest critical path. Every row is planned anew and checked.
//
// A try changes the trace, and what follows from it is found anew. As the changes of one graph say
// nothing of another, each try changes all graphs at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/analysis/facts.h"

namespace graphkit {

// One change of the program.
struct TradeChange {
  enum class Kind : uint8_t {
    kWait,  // before `later` is allocated, its stream waits for the nodes `ends`
    kFree,  // `earlier` is freed in the graph, after its last use
  };
  Kind kind = Kind::kWait;
  BlockId earlier;
  BlockId later;             // kWait
  StreamId stream;           // kWait: that waits
  std::vector<NodeId> ends;  // the last nodes that touch `earlier`
  NodeId start;              // kWait: the stream's first node after the allocation
  bool operator==(const TradeChange&) const = default;
};

// The graph with the first `changes` changes.
struct TradeRow {
  uint32_t changes = 0;
  Bytes peak = 0;  // of the plan, all pools together
  Bytes lower_bound = 0;
  uint64_t critical_path_nodes = 0;
  uint64_t critical_path_ns = 0;  // 0: nothing measured
  bool operator==(const TradeRow&) const = default;
};

struct Trade {
  GraphId graph;
  std::vector<TradeChange> changes;  // in the order in which they are made
  // The graph as it is first; then what is smaller than everything before it.
  std::vector<TradeRow> rows;
  bool operator==(const Trade&) const = default;
};

struct TradeOptions {
  uint32_t steps = 8;        // changes, at most
  uint32_t candidates = 32;  // that are tried at each step
  // Of each row.
  CapturePlannerOptions planner{.search = {.effort = 60'000'000}};
};

// Of some root graphs, in their order. `steps_done` counts up to options.steps.
std::vector<Trade> FindTrades(const Facts& facts, std::span<const GraphId> graphs, MarkerRule rule,
                              const TradeOptions& options = {},
                              std::atomic<size_t>* steps_done = nullptr);

}  // namespace graphkit
