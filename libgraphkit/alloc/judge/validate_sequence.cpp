#include <algorithm>
#include <map>
#include <set>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/analysis/launches/launches.h"

namespace graphkit {
namespace {

class Rounds {
 public:
  Rounds(const Facts& facts, const PlannedMemory& plan)
      : facts_(facts), backs_(BacksSegment(facts.trace)) {
    for (const Placement& placement : plan.placements) {
      by_graph_[facts.lives()[BlockId(placement.block)].root].push_back(&placement);
    }
    for (const GraphId step : plan.sequence) {
      for (const GraphInput& input : facts.inputs()[step.index()]) taken_.insert(input.block);
    }
    for (const EagerWork& work : facts.trace.works) FindReads(work, plan);
  }

  void Launch(GraphId graph) {
    // The launch reads its inputs while it writes its own blocks.
    for (const Placement* own : by_graph_[graph]) {
      if (own->size > 0) Overwrite(*own, graph);
    }
    for (const GraphInput& input : facts_.inputs()[graph.index()]) {
      const auto by = destroyed_.find(input.block);
      if (by != destroyed_.end()) found_.insert({input.block, by->second, graph});
    }
    for (const Placement* own : by_graph_[graph]) {
      const BlockId block(own->block);
      if (!Stays(block) || own->size == 0) continue;
      destroyed_.erase(block);
      intact_[own->arena][own->offset].push_back(own);
      if (facts_.lives()[block].freed) DestroyWithin(*own, graph);
    }
    for (const auto& [block, after] : read_after_) {
      const auto by = destroyed_.find(block);
      if (by != destroyed_.end() && after.contains(graph)) found_.insert({block, by->second, {}});
    }
  }

  std::vector<DestroyedOutput> Take() { return {found_.begin(), found_.end()}; }

 private:
  bool Stays(BlockId block) const {
    return !facts_.lives()[block].freed || read_after_.contains(block);
  }

  // After which launches work outside of graphs is recorded to read blocks.
  void FindReads(const EagerWork& work, const PlannedMemory& plan) {
    const Trace& trace = facts_.trace;
    std::set<GraphId> ran;
    GraphId last;
    for (size_t i = 0; i < trace.launches.size() && trace.launches[i].seq <= work.seq; ++i) {
      if (const GraphId graph = facts_.ran()[i]) ran.insert(last = facts_.roots()[graph.index()]);
    }
    const bool known = std::ranges::find(plan.sequence, last) != plan.sequence.end();
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      if (access.mode == AccessMode::kWrite || access.block.index() >= trace.blocks.size())
        continue;
      const bool segment = backs_[access.block.index()];
      const Address begin = trace[access.block].address + access.offset;
      const Bytes length = access.length == kLengthUnknown ? 1 : access.length;
      for (const Placement& placement : plan.placements) {
        const BlockId block(placement.block);
        const Block& there = trace[block];
        const bool meets = there.address < begin + length && begin < there.address + there.size;
        if ((segment ? !meets : block != access.block) ||
            !ran.contains(facts_.lives()[block].root)) {
          continue;
        }
        read_after_[block].insert(known ? last : GraphId());
      }
    }
  }

  // Blocks of the same launch that lie there when it has been freed.
  void DestroyWithin(const Placement& own, GraphId graph) {
    const BlockOrder order = facts_.Blocks(MarkerRule::kLastUse);
    for (const Placement* other : by_graph_[graph]) {
      const bool meets = other != &own && other->arena == own.arena &&
                         other->offset < own.offset + own.size &&
                         own.offset < other->offset + other->size;
      if (!meets || order.Before(BlockId(other->block), BlockId(own.block))) continue;
      destroyed_[BlockId(own.block)] = BlockId(other->block);
    }
  }

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
    if (facts_.lives()[output].root == graph) return;
    destroyed_[output] = by;
    const auto read = read_after_.find(output);
    const bool any = read != read_after_.end() && read->second.contains({});
    const bool untaken = !facts_.lives()[output].freed && taken_.count(output) == 0;
    if (untaken || any) found_.insert({output, by, {}});
  }

  const Facts& facts_;
  const std::vector<bool> backs_;
  std::map<GraphId, std::vector<const Placement*>> by_graph_;
  std::set<BlockId> taken_;  // as inputs of graphs of the sequence
  // Read outside of graphs after launches of these; of none: after others.
  std::map<BlockId, std::set<GraphId>> read_after_;
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
