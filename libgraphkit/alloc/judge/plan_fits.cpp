#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

class PlanMatcher {
 public:
  PlanMatcher(const Facts& facts, const PlannedMemory& plan)
      : facts_(facts), plan_(plan), by_block_(facts.trace.blocks.size()) {}

  Result<void> Run() {
    for (const auto step :
         {&PlanMatcher::CheckSequence, &PlanMatcher::CheckArenas, &PlanMatcher::TakePlacements,
          &PlanMatcher::CheckGraphs, &PlanMatcher::CheckBorrow}) {
      if (Result<void> ok = (this->*step)(); !ok) return ok;
    }
    if (wanted_ == plan_.placements.size()) return {};
    return Extra();
  }

 private:
  static Error Bad(std::string message) {
    return {.message = std::move(message),
            .hint = "it was made for another trace; make one with graphkit plan"};
  }
  static std::string NameOf(uint32_t block) { return "block " + std::to_string(block); }

  // A graph that is launched by itself, not a child or a body.
  bool IsRoot(GraphId graph) const {
    return graph.index() < facts_.blocks().size() && facts_.roots()[graph.index()] == graph;
  }
  bool Holds(GraphId graph) const {
    return plan_.sequence.empty() ||
           std::ranges::find(plan_.sequence, graph) != plan_.sequence.end();
  }

  Result<void> CheckSequence() {
    for (const GraphId graph : plan_.sequence) {
      if (IsRoot(graph)) continue;
      return Bad("the plan's sequence has graph " + std::to_string(graph.value) +
                 ", which isn't there to be launched");
    }
    return {};
  }

  Result<void> CheckArenas() {
    for (const PlannedArena& arena : plan_.arenas) {
      if (arena.graph && !IsRoot(arena.graph)) {
        return Bad("the plan has memory for graph " + std::to_string(arena.graph.value) +
                   ", which isn't there to be launched");
      }
      if (arena.pool && arena.pool.index() >= facts_.trace.pools.size()) {
        return Bad("the plan has memory in pool " + std::to_string(arena.pool.value) +
                   ", which isn't there");
      }
    }
    return {};
  }

  Result<void> TakePlacements() {
    for (const Placement& placement : plan_.placements) {
      if (placement.block >= by_block_.size()) {
        return Bad("the plan has a place for " + NameOf(placement.block) + ", which isn't there");
      }
      const Placement*& place = by_block_[placement.block];
      if (place != nullptr) return Bad("the plan has two places for " + NameOf(placement.block));
      place = &placement;
    }
    return {};
  }

  Result<void> CheckGraphs() {
    for (size_t i = 0; i < facts_.blocks().size(); ++i) {
      if (!Holds(GraphId(i))) continue;
      for (const PoolBlocks& pool : BlocksByPool(facts_, GraphId(i))) {
        for (const BlockId block : pool.blocks) {
          if (Result<void> ok = CheckBlock(block, GraphId(i), pool.pool); !ok) return ok;
        }
      }
    }
    return {};
  }

  Result<void> CheckBlock(BlockId block, GraphId graph, PoolId pool) {
    const Placement*& placement = by_block_[block.index()];
    if (placement == nullptr) return Bad("the plan has no place for " + NameOf(block.value));
    const PlannedArena& arena = plan_.arenas[placement->arena];
    const bool of_graph = arena.graph == graph || !plan_.sequence.empty();
    if (!of_graph || arena.pool != pool) {
      return Bad("the plan has " + NameOf(block.value) + " in another graph or pool");
    }
    if (placement->size < RoundedSize(facts_.trace[block])) {
      return Bad("the plan has too few bytes for " + NameOf(block.value));
    }
    ++wanted_;
    placement = nullptr;
    return {};
  }

  // Nodes that bytes are lent at are there, and end where others of their chain begin.
  Result<void> CheckBorrow() {
    const size_t nodes = facts_.trace.nodes.size();
    for (const BorrowAt& one : plan_.borrow_at) {
      const auto name = [](NodeId node) { return "node " + std::to_string(node.value); };
      if (one.at.index() >= nodes)
        return Bad("the plan lends at " + name(one.at) + ", which isn't there");
      for (const NodeId end : {one.last, one.until}) {
        if (!end) continue;
        const ChainPlace at = facts_.order().PlaceOf(one.at);
        const ChainPlace place = end.index() < nodes ? facts_.order().PlaceOf(end) : ChainPlace();
        const bool after = end.index() < nodes && place.chain == at.chain &&
                           (end == one.last ? place.seq >= at.seq : place.seq > at.seq);
        if (after) continue;
        return Bad("the plan lends at " + name(one.at) + " until " + name(end) +
                   ", which doesn't come after it on its chain");
      }
    }
    return {};
  }

  // Names a placement that no graph took.
  Error Extra() const {
    const auto left = [](const Placement* placement) { return placement != nullptr; };
    const Placement* extra = *std::ranges::find_if(by_block_, left);
    return Bad("the plan has a place for " + NameOf(extra->block) +
               ", which isn't memory of a graph that it holds");
  }

  const Facts& facts_;
  const PlannedMemory& plan_;
  std::vector<const Placement*> by_block_;  // null: none, or its graph took it
  size_t wanted_ = 0;
};

}  // namespace

Result<void> PlanFits(const Facts& facts, const PlannedMemory& plan) {
  if (!plan.of_trace) {
    return Error{.message = "the plan is of a table, not of a trace",
                 .hint = "make one with graphkit plan trace.json -o plan.json"};
  }
  return PlanMatcher(facts, plan).Run();
}

}  // namespace graphkit
