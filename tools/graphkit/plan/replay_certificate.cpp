#include "tools/graphkit/plan/replay_certificate.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/policies/policy.h"

namespace graphkit {
namespace {

// Fills the arenas, one graph after the other in the order of their captures.
class Certifier {
 public:
  Certifier(const Facts& facts, const PolicyReplay& replay) : facts_(facts), replay_(replay) {
    for (const GraphReplay& graph : replay.graphs) graphs_[graph.graph] = &graph;
    memory_.placed.of_trace = true;
    memory_.assumes = replay.assumes;
    memory_.allocator = replay.given.empty() ? InfoOf(replay.policy).name : replay.given;
  }

  void AddGraphs(std::span<const GraphId> graphs) {
    std::vector<GraphId> placed;
    for (const GraphId graph : graphs) {
      if (graphs_.contains(graph)) placed.push_back(graph);
    }
    std::map<PoolId, uint32_t> arenas;            // by pool
    std::map<PoolId, std::vector<BlockId>> held;  // of the graphs so far
    for (const GraphId graph : placed) {
      for (const PoolBlocks& pool : BlocksByPool(facts_, graph)) {
        const auto [at, first] = arenas.try_emplace(pool.pool, Arenas().size());
        if (first) Arenas().push_back({.graph = placed.front(), .pool = pool.pool});
        AddBlocks(at->second, PlacedIn(graph, pool.pool), pool.blocks);
        AddBound(at->second, graph, pool, &held[pool.pool]);
      }
    }
    if (placed.size() > 1) memory_.captured.push_back(std::move(placed));
  }

  CertifiedMemory Take() {
    for (const PlannedArena& arena : Arenas()) {
      memory_.placed.peak += arena.peak;
      memory_.placed.lower_bound += arena.lower_bound;
    }
    return std::move(memory_);
  }

 private:
  std::vector<PlannedArena>& Arenas() { return memory_.placed.arenas; }

  std::span<const PlacedBlock> PlacedIn(GraphId graph, PoolId pool) const {
    for (const ReplayedPool& replayed : graphs_.at(graph)->pools) {
      if (replayed.pool != pool) continue;
      return replayed.segments.empty() ? replayed.arena : replayed.segments;
    }
    return {};
  }

  // Blocks without bytes lie at the arena's begin.
  void AddBlocks(uint32_t index, std::span<const PlacedBlock> placed,
                 std::span<const BlockId> blocks) {
    PlannedArena& arena = Arenas()[index];
    std::map<BlockId, PlacedBlock> by_block;
    for (const PlacedBlock& block : placed) by_block[block.block] = block;
    for (const BlockId block : blocks) {
      const PlacedBlock& at = by_block[block];
      ++arena.blocks;
      arena.peak = std::max(arena.peak, at.offset + at.size);
      memory_.placed.placements.push_back({block.value, index, at.offset, at.size});
    }
  }

  // Blocks of earlier graphs that stay to its last allocation count beside those of the graph that
  // conflict.
  void AddBound(uint32_t index, GraphId graph, const PoolBlocks& pool, std::vector<BlockId>* held) {
    const Ran& trace = facts_.trace;
    const Seq begin = trace[pool.blocks.front()].allocated;
    std::erase_if(*held, [&](BlockId block) { return trace[block].free_requested < begin; });
    std::vector<BlockId> heaviest =
        BoundOf(facts_, InfoOf(replay_.policy).rule, graph, pool).blocks;
    const Seq last = trace[pool.blocks.back()].allocated;
    std::ranges::copy_if(*held, std::back_inserter(heaviest),
                         [&](BlockId block) { return trace[block].free_requested >= last; });
    Bytes bytes = 0;
    for (const BlockId block : heaviest) bytes += RoundedSize(trace[block]);
    held->insert(held->end(), pool.blocks.begin(), pool.blocks.end());
    PlannedArena& arena = Arenas()[index];
    if (bytes < arena.lower_bound) return;
    arena.lower_bound = bytes;
    arena.heaviest = std::move(heaviest);
  }

  const Facts& facts_;
  const PolicyReplay& replay_;
  std::map<GraphId, const GraphReplay*> graphs_;
  CertifiedMemory memory_;
};

}  // namespace

CertifiedMemory CertifyReplay(const Facts& facts, const PolicyReplay& replay, bool shares) {
  Certifier certifier(facts, replay);
  for (const PoolSharers& sharers : FindPoolSharers(facts)) {
    if (shares) {
      certifier.AddGraphs(sharers.graphs);
      continue;
    }
    for (const GraphId graph : sharers.graphs) certifier.AddGraphs({&graph, 1});
  }
  return certifier.Take();
}

}  // namespace graphkit
