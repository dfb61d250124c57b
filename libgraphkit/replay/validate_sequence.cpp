#include <algorithm>
#include <map>
#include <set>

#include "libgraphkit/replay/validate.h"

namespace graphkit {
namespace {

class Rounds {
 public:
  Rounds(const Facts& facts, const PlannedMemory& plan) : facts_(facts) {
    for (const Placement& placement : plan.placements) {
      by_graph_[facts.lives[BlockId(placement.block)].root].push_back(&placement);
    }
    for (const GraphId step : plan.sequence) {
      for (const GraphInput& input : facts.inputs[step.index()]) taken_.insert(input.block);
    }
  }

  void Launch(GraphId graph) {
    // The launch reads its inputs while it writes its own blocks.
    for (const Placement* own : by_graph_[graph]) {
      if (own->size > 0) Overwrite(*own, graph);
    }
    for (const GraphInput& input : facts_.inputs[graph.index()]) {
      const auto by = destroyed_.find(input.block);
      if (by != destroyed_.end()) found_.insert({input.block, by->second, graph});
    }
    for (const Placement* own : by_graph_[graph]) {
      const BlockId block(own->block);
      if (facts_.lives[block].freed || own->size == 0) continue;
      destroyed_.erase(block);
      intact_[own->arena][own->offset].push_back(own);
    }
  }

  std::vector<DestroyedOutput> Take() { return {found_.begin(), found_.end()}; }

 private:
  // Outputs that lie there, by where they begin.
  using Intact = std::map<Bytes, std::vector<const Placement*>>;

  void Overwrite(const Placement& own, GraphId graph) {
    Intact& intact = intact_[own.arena];
    const Bytes end = own.offset + own.size;
    for (auto at = intact.begin(); at != intact.end() && at->first < end;) {
      std::erase_if(at->second, [&](const Placement* output) {
        if (output->offset + output->size <= own.offset) return false;
        Destroy(BlockId(output->block), BlockId(own.block), graph);
        return true;
      });
      at = at->second.empty() ? intact.erase(at) : std::next(at);
    }
  }

  // Its own graph makes it anew.
  void Destroy(BlockId output, BlockId by, GraphId graph) {
    if (facts_.lives[output].root == graph) return;
    destroyed_[output] = by;
    if (taken_.count(output) == 0) found_.insert({output, by, {}});
  }

  const Facts& facts_;
  std::map<GraphId, std::vector<const Placement*>> by_graph_;
  std::set<BlockId> taken_;               // as inputs of graphs of the sequence
  std::map<uint32_t, Intact> intact_;     // by arena
  std::map<BlockId, BlockId> destroyed_;  // since its graph ran, and by what
  std::set<DestroyedOutput> found_;
};

}  // namespace

std::vector<DestroyedOutput> ValidateSequence(const Facts& facts, const PlannedMemory& plan) {
  Rounds rounds(facts, plan);
  for (int round = 0; round < 2; ++round) {
    for (const GraphId graph : plan.sequence) rounds.Launch(graph);
  }
  return rounds.Take();
}

}  // namespace graphkit
