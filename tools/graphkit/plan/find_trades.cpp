#include "tools/graphkit/plan/find_trades.h"

#include <limits>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/order/build_order.h"
#include "libgraphkit/parallel.h"

namespace graphkit {
namespace {

constexpr std::chrono::milliseconds kBoundTime{500};
// Nodes and blocks gone through in one step, about.
constexpr size_t kMostLooks = 5'000'000;
// The number of no candidate.
constexpr size_t kKept = std::numeric_limits<size_t>::max();

// The effect of one change on a graph.
struct Outcome {
  Bytes bound = 0;
  uint64_t path_ns = 0;
  uint64_t path_nodes = 0;
  auto operator<=>(const Outcome&) const = default;
};

// The trace with some changes, and what follows from them.
class Changed {
 public:
  Changed(const Facts& facts, MarkerRule rule) : trace_(facts.trace), rule_(rule) { Rebuild({}); }

  void Apply(std::span<const TradeChange* const> changes) {
    trace_.edges.resize(edges_);
    for (const TradeChange* change : changes) {
      if (change->kind != TradeChange::Kind::kWait) continue;
      for (const NodeId end : change->ends) {
        trace_.edges.push_back(
            {.from = end, .to = change->start, .seq = trace_[change->start].seq});
      }
    }
    std::vector<bool> out;
    for (size_t i = 0; i < edges_ && !recorded_.all(); ++i)
      out.push_back(!recorded_.Has(EdgeId(i)));
    if (!out.empty()) out.resize(trace_.edges.size());
    trace_.graph_edges = {trace_.edges.size(), std::move(out)};
    Rebuild(changes);
  }

  BlockOrder order() const { return {trace_, order_, lives_, rule_}; }
  const Lifetimes& lives() const { return lives_; }
  const Shape& ShapeOf(GraphId graph) const { return shapes_[graph.index()]; }

 private:
  void Rebuild(std::span<const TradeChange* const> changes) {
    order_ = BuildOrder(trace_);
    lives_ = FindLifetimes(trace_, &order_);
    shapes_ = FindShapes(trace_, FindInEdges(trace_));
    for (const TradeChange* change : changes) {
      if (change->kind == TradeChange::Kind::kFree) {
        lives_.blocks[change->earlier.index()].freed = true;
      } else {
        MoveAllocations(*change);
      }
    }
  }

  // Allocations of the stream between the wait and its next node come after the wait, too.
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

  Ran trace_;
  MarkerRule rule_;
  size_t edges_ = trace_.edges.size();  // without changes
  IdsOf<EdgeId> recorded_ = trace_.graph_edges;
  Order order_;
  Lifetimes lives_;
  std::vector<Shape> shapes_;
};

// One graph's changes.
class Trader {
 public:
  Trader(const Facts& facts, const GraphSlice& slice, const TradeOptions& options,
         const Changed& changed)
      : facts_(facts),
        slice_(slice),
        options_(options),
        pools_(BlocksByPool(facts, slice.root)),
        changed_(changed) {
    trade_.graph = slice.root;
    AddRow();
  }

  // The next step: what could be tried.
  void Begin() {
    best_.reset();
    candidates_.clear();
    if (done_) return;
    best_outcome_ = {.bound = BoundOf(changed_.order())};
    least_ = best_outcome_.bound;
    FindCandidates();
  }
  size_t candidates() const { return candidates_.size(); }

  // The changes in force while candidate `number` is tried: it, too, where there is one.
  void AddChanges(size_t number, std::vector<const TradeChange*>* changes) const {
    for (const TradeChange& change : trade_.changes) changes->push_back(&change);
    if (number < candidates_.size()) changes->push_back(&candidates_[number]);
  }

  // Of the trace as it is changed.
  void Look(size_t number) {
    if (number >= candidates_.size()) return;
    const Shape& shape = changed_.ShapeOf(trade_.graph);
    const Outcome outcome{BoundOf(changed_.order()), shape.critical_path_ns,
                          shape.critical_path_nodes};
    if (outcome.bound < least_ && (!best_ || outcome < best_outcome_)) {
      best_ = number;
      best_outcome_ = outcome;
    }
  }

  // False: no change lowers the bound, and none will be tried any more.
  bool Keep() {
    done_ = !best_;
    if (best_) trade_.changes.push_back(std::move(candidates_[*best_]));
    candidates_.clear();
    return !done_;
  }

  // Planned, checked, and kept if there is nothing smaller. Of the trace as it is changed.
  void AddRow() {
    if (done_) return;
    TradeRow row{.changes = static_cast<uint32_t>(trade_.changes.size())};
    for (const PoolBlocks& pool : pools_) {
      const CapturePlan plan = PlanCapture(changed_.order(), pool.blocks, options_.planner);
      if (!Safe(pool, plan)) return;
      row.peak += plan.peak;
      row.lower_bound += plan.lower_bound;
    }
    const Shape& shape = changed_.ShapeOf(trade_.graph);
    row.critical_path_nodes = shape.critical_path_nodes;
    row.critical_path_ns = shape.critical_path_ns;
    if (trade_.rows.empty() || row.peak < trade_.rows.back().peak) trade_.rows.push_back(row);
  }

  Trade& trade() { return trade_; }

 private:
  Bytes BoundOf(const BlockOrder& order) const {
    Bytes bound = 0;
    for (const PoolBlocks& pool : pools_) {
      bound += FindLowerBound(order, pool.blocks, {.time_limit = kBoundTime}).bytes;
    }
    return bound;
  }

  bool Safe(const PoolBlocks& pool, const CapturePlan& plan) const {
    std::vector<PlacedBlock> placed;
    for (size_t i = 0; i < pool.blocks.size(); ++i) {
      placed.push_back(
          {pool.blocks[i], plan.offsets[i], RoundedSize(facts_.trace[pool.blocks[i]])});
    }
    return ValidatePlacements(changed_.order(), placed).empty();
  }

  // Of the certificate's largest blocks.
  void FindCandidates() {
    for (const PoolBlocks& pool : pools_) {
      std::vector<BlockId> heavy =
          FindLowerBound(changed_.order(), pool.blocks, {.time_limit = kBoundTime}).blocks;
      std::ranges::stable_sort(heavy, [&](BlockId a, BlockId b) {
        return RoundedSize(facts_.trace[a]) > RoundedSize(facts_.trace[b]);
      });
      for (size_t i = 0; i < heavy.size(); ++i) {
        AddFree(heavy[i]);
        for (size_t j = 0; j < i; ++j) {
          AddWait(std::min(heavy[i], heavy[j]), std::max(heavy[i], heavy[j]));
          if (candidates_.size() >= most_) return;
        }
      }
    }
  }

  void AddFree(BlockId block) {
    if (changed_.order().rule() != MarkerRule::kLastUse) return;
    const BlockLife& life = changed_.lives()[block];
    const bool freed_later = facts_.trace[block].freed();
    if (life.freed || !freed_later || life.escaped || life.elsewhere || life.foreign) return;
    const std::span<const NodeId> ends = changed_.lives().Markers(block, MarkerRule::kLastUse);
    if (ends.empty()) return;
    candidates_.push_back(
        {TradeChange::Kind::kFree, block, {}, {}, {ends.begin(), ends.end()}, {}});
  }

  void AddWait(BlockId earlier, BlockId later) {
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
    if (!change.ends.empty()) candidates_.push_back(std::move(change));
  }

  // Of its stream and graph.
  NodeId FirstNodeAfter(const Block& block) const {
    const Rows& rows = slice_.nodes;
    const auto& nodes = facts_.trace.nodes;
    const auto after = std::ranges::upper_bound(nodes, block.allocated, {}, &Node::seq);
    size_t number = rows.FirstFrom(static_cast<size_t>(after - nodes.begin()));
    for (; number < rows.size(); ++number) {
      const NodeId node(rows[number]);
      if (facts_.trace[node].stream == block.stream && facts_.trace[node].graph == block.graph) {
        return node;
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
  const GraphSlice& slice_;
  const TradeOptions& options_;
  size_t most_ = Most();
  std::vector<PoolBlocks> pools_;
  const Changed& changed_;
  bool done_ = false;
  Bytes least_ = 0;  // the bound before the step
  std::vector<TradeChange> candidates_;
  std::optional<size_t> best_;  // of the candidates
  Outcome best_outcome_;
  Trade trade_;
};

}  // namespace

std::vector<Trade> FindTrades(const Facts& facts, std::span<const GraphId> graphs, MarkerRule rule,
                              const TradeOptions& options, std::atomic<size_t>* steps_done) {
  const Slices slices(facts.trace, facts.roots(), facts.blocks());
  Changed changed(facts, rule);
  std::vector<std::optional<Trader>> traders(graphs.size());
  const auto each = [&](const std::function<void(size_t)>& body) {
    ParallelFor(graphs.size(), ThreadsFor(facts.trace), body);
  };
  // The kept changes, and each graph's candidate `number`.
  const auto apply = [&](size_t number) {
    std::vector<const TradeChange*> changes;
    for (const std::optional<Trader>& trader : traders) trader->AddChanges(number, &changes);
    changed.Apply(changes);
  };
  each([&](size_t i) { traders[i].emplace(facts, slices.Of(graphs[i]), options, changed); });
  bool goes_on = true;
  for (uint32_t step = 0; step < options.steps && goes_on; ++step) {
    each([&](size_t i) { traders[i]->Begin(); });
    size_t tries = 0;
    for (const auto& trader : traders) tries = std::max(tries, trader->candidates());
    for (size_t number = 0; number < tries; ++number) {
      apply(number);
      each([&](size_t i) { traders[i]->Look(number); });
    }
    goes_on = false;
    for (auto& trader : traders) goes_on |= trader->Keep();
    if (goes_on) {
      apply(kKept);
      each([&](size_t i) { traders[i]->AddRow(); });
    }
    if (steps_done != nullptr) ++*steps_done;
  }
  std::vector<Trade> trades;
  for (auto& trader : traders) trades.push_back(std::move(trader->trade()));
  return trades;
}

}  // namespace graphkit
