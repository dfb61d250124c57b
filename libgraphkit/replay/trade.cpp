#include "libgraphkit/replay/trade.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/bound/lower_bound.h"
#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/replay/validate.h"

namespace graphkit {
namespace {

constexpr std::chrono::milliseconds kBoundTime{500};
// Nodes and blocks gone through in one step, about.
constexpr size_t kMostLooks = 5'000'000;

// The graph with some changes: a trace of its own, and what follows from it.
class Changed {
 public:
  Changed(const Facts& facts, MarkerRule rule)
      : trace_(facts.trace), rule_(rule), order_(facts.order), lives_(facts.lives) {}

  // False when a change can't be made.
  void Apply(std::span<const TradeChange> changes) {
    trace_.edges.resize(edges_);
    for (const TradeChange& change : changes) {
      if (change.kind != TradeChange::Kind::kWait) continue;
      for (const NodeId end : change.ends) {
        trace_.edges.push_back({.from = end, .to = change.start, .seq = trace_[change.start].seq});
      }
    }
    Rebuild(changes);
  }

  BlockOrder order() const { return {trace_, order_, lives_, rule_}; }
  const Lifetimes& lives() const { return lives_; }
  Shape ShapeOf(GraphId graph) const {
    return FindShapes(trace_, FindInEdges(trace_))[graph.index()];
  }

 private:
  void Rebuild(std::span<const TradeChange> changes) {
    order_ = BuildOrder(trace_);
    lives_ = FindLifetimes(trace_, &order_);
    for (const TradeChange& change : changes) {
      if (change.kind == TradeChange::Kind::kFree) {
        lives_.blocks[change.earlier.index()].freed = true;
      } else {
        MoveAllocations(change);
      }
    }
  }

  // What the stream allocates between the wait and its next node comes after the wait, too.
  void MoveAllocations(const TradeChange& change) {
    const Block& later = trace_[change.later];
    for (size_t i = change.later.index(); i < trace_.blocks.size(); ++i) {
      const Block& block = trace_.blocks[i];
      if (block.allocated > trace_[change.start].seq) break;
      if (block.stream != later.stream || block.graph != later.graph) continue;
      OrderPoint& alloc = lives_.blocks[i].alloc;
      for (const NodeId end : change.ends) alloc = order_.Meet(alloc, order_.EndOf(end));
    }
  }

  Trace trace_;
  MarkerRule rule_;
  size_t edges_ = trace_.edges.size();  // without changes
  Order order_;
  Lifetimes lives_;
};

class Trader {
 public:
  Trader(const Facts& facts, GraphId graph, MarkerRule rule, const TradeOptions& options)
      : facts_(facts),
        options_(options),
        pools_(BlocksByPool(facts, graph)),
        changed_(facts, rule) {
    trade_.graph = graph;
  }

  Trade Run() {
    AddRow();
    for (uint32_t step = 0; step < options_.steps; ++step) {
      std::optional<TradeChange> best = BestChange();
      if (!best) break;
      trade_.changes.push_back(std::move(*best));
      changed_.Apply(trade_.changes);
      AddRow();
    }
    return std::move(trade_);
  }

 private:
  struct Outcome {
    Bytes bound = 0;
    uint64_t path_ns = 0;
    uint64_t path_nodes = 0;
    auto operator<=>(const Outcome&) const = default;
  };

  Bytes BoundOf(const BlockOrder& order) const {
    Bytes bound = 0;
    for (const PoolBlocks& pool : pools_) {
      bound += FindLowerBound(order, pool.blocks, {.time_limit = kBoundTime}).bytes;
    }
    return bound;
  }

  Outcome Look() const {
    const Shape shape = changed_.ShapeOf(trade_.graph);
    return {BoundOf(changed_.order()), shape.critical_path_ns, shape.critical_path_nodes};
  }

  bool Safe(const PoolBlocks& pool, const CapturePlan& plan) const {
    std::vector<PlacedBlock> placed;
    for (size_t i = 0; i < pool.blocks.size(); ++i) {
      placed.push_back(
          {pool.blocks[i], plan.offsets[i], RoundedSize(facts_.trace[pool.blocks[i]])});
    }
    return ValidatePlacements(changed_.order(), placed).empty();
  }

  // Planned, checked, and kept if there is nothing smaller.
  void AddRow() {
    TradeRow row{.changes = static_cast<uint32_t>(trade_.changes.size())};
    for (const PoolBlocks& pool : pools_) {
      const CapturePlan plan = PlanCapture(changed_.order(), pool.blocks, options_.planner);
      if (!Safe(pool, plan)) return;
      row.peak += plan.peak;
      row.lower_bound += plan.lower_bound;
    }
    const Shape shape = changed_.ShapeOf(trade_.graph);
    row.critical_path_nodes = shape.critical_path_nodes;
    row.critical_path_ns = shape.critical_path_ns;
    if (trade_.rows.empty() || row.peak < trade_.rows.back().peak) trade_.rows.push_back(row);
  }

  // Nothing: no change lowers the bound.
  std::optional<TradeChange> BestChange() {
    const Bytes bound = BoundOf(changed_.order());
    std::optional<TradeChange> best;
    Outcome best_outcome{.bound = bound};
    std::vector<TradeChange> changes = trade_.changes;
    for (TradeChange& candidate : Candidates()) {
      changes.push_back(std::move(candidate));
      changed_.Apply(changes);
      const Outcome outcome = Look();
      if (outcome.bound < bound && (!best || outcome < best_outcome)) {
        best = changes.back();
        best_outcome = outcome;
      }
      changes.pop_back();
    }
    changed_.Apply(trade_.changes);
    return best;
  }

  // Of the certificate's largest blocks.
  std::vector<TradeChange> Candidates() const {
    std::vector<TradeChange> candidates;
    for (const PoolBlocks& pool : pools_) {
      std::vector<BlockId> heavy =
          FindLowerBound(changed_.order(), pool.blocks, {.time_limit = kBoundTime}).blocks;
      std::ranges::stable_sort(heavy, [&](BlockId a, BlockId b) {
        return RoundedSize(facts_.trace[a]) > RoundedSize(facts_.trace[b]);
      });
      for (size_t i = 0; i < heavy.size(); ++i) {
        AddFree(heavy[i], &candidates);
        for (size_t j = 0; j < i; ++j) {
          AddWait(std::min(heavy[i], heavy[j]), std::max(heavy[i], heavy[j]), &candidates);
          if (candidates.size() >= most_) return candidates;
        }
      }
    }
    return candidates;
  }

  void AddFree(BlockId block, std::vector<TradeChange>* candidates) const {
    if (changed_.order().rule() != MarkerRule::kLastUse) return;
    const BlockLife& life = changed_.lives()[block];
    const bool freed_later = facts_.trace[block].freed();
    if (life.freed || !freed_later || life.escaped || life.elsewhere || life.foreign) return;
    const std::span<const NodeId> ends = changed_.lives().Markers(block, MarkerRule::kLastUse);
    if (ends.empty()) return;
    candidates->push_back(
        {TradeChange::Kind::kFree, block, {}, {}, {ends.begin(), ends.end()}, {}});
  }

  void AddWait(BlockId earlier, BlockId later, std::vector<TradeChange>* candidates) const {
    const BlockOrder order = changed_.order();
    const Block& block = facts_.trace[later];
    if (!order.Dies(earlier) || !block.stream.valid()) return;
    const NodeId start = FirstNodeAfter(block);
    if (!start.valid()) return;
    TradeChange change{TradeChange::Kind::kWait, earlier, later, block.stream, {}, start};
    for (const NodeId end : order.lives().Markers(earlier, order.rule())) {
      if (order.order().Before(end, order.lives()[later].alloc)) continue;
      // In capture order before the allocation: so the wait can be recorded, and makes no cycle.
      if (facts_.trace[end].seq > block.allocated) return;
      if (facts_.trace[end].graph != block.graph) return;
      change.ends.push_back(end);
    }
    if (!change.ends.empty()) candidates->push_back(std::move(change));
  }

  // Of its stream and graph.
  NodeId FirstNodeAfter(const Block& block) const {
    const auto& nodes = facts_.trace.nodes;
    auto at = std::ranges::upper_bound(nodes, block.allocated, {}, &Node::seq);
    for (; at != nodes.end(); ++at) {
      if (at->stream == block.stream && at->graph == block.graph) {
        return NodeId(static_cast<size_t>(at - nodes.begin()));
      }
    }
    return {};
  }

  // Each try costs a look at the whole trace.
  size_t Most() const {
    const size_t nodes = facts_.trace.nodes.size() + facts_.trace.blocks.size() + 1;
    return std::clamp<size_t>(kMostLooks / nodes, 1, options_.candidates);
  }

  const Facts& facts_;
  TradeOptions options_;
  size_t most_ = Most();
  std::vector<PoolBlocks> pools_;
  Changed changed_;
  Trade trade_;
};

}  // namespace

Trade FindTrade(const Facts& facts, GraphId graph, MarkerRule rule, const TradeOptions& options) {
  return Trader(facts, graph, rule, options).Run();
}

}  // namespace graphkit
