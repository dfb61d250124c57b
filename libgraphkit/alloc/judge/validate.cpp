#include "libgraphkit/alloc/judge/validate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/timeline.h"

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
      for (const BlockId block : facts_.blocks()[i]) {
        if (!IsPlaced(block)) continue;
        if (Result<void> ok = CheckBlock(block, GraphId(i)); !ok) return ok;
      }
    }
    return {};
  }

  // What a program takes from the driver directly has its own address: nothing places it.
  bool IsPlaced(BlockId block) const {
    const PoolId pool = facts_.trace[block].pool;
    if (pool.index() >= facts_.trace.pools.size()) return true;
    const PoolKind kind = facts_.trace[pool].kind;
    return kind == PoolKind::kStream || kind == PoolKind::kGraph || kind == PoolKind::kAllocator ||
           kind == PoolKind::kPrivate;
  }

  Result<void> CheckBlock(BlockId block, GraphId graph) {
    const Placement*& placement = by_block_[block.index()];
    if (placement == nullptr) return Bad("the plan has no place for " + NameOf(block.value));
    const PlannedArena& arena = plan_.arenas[placement->arena];
    const bool of_graph = arena.graph == graph || !plan_.sequence.empty();
    if (!of_graph || arena.pool != facts_.trace[block].pool) {
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

class Rounds {
 public:
  Rounds(const Facts& facts, const PlannedMemory& plan) : facts_(facts) {
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
    const Ran& trace = facts_.trace;
    std::set<GraphId> ran;
    GraphId last;
    for (size_t i = 0; i < trace.launches.size() && trace.launches[i].seq <= work.seq; ++i) {
      if (const GraphId graph = facts_.ran()[i]) ran.insert(last = facts_.roots()[graph.index()]);
    }
    const bool known = std::ranges::find(plan.sequence, last) != plan.sequence.end();
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      if (access.mode == AccessMode::kWrite || access.block.index() >= trace.blocks.size())
        continue;
      const bool segment = facts_.lives().backs_segment[access.block.index()];
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
  std::map<GraphId, std::vector<const Placement*>> by_graph_;
  std::set<BlockId> taken_;  // as inputs of graphs of the sequence
  // Read outside of graphs after launches of these; of none: after others.
  std::map<BlockId, std::set<GraphId>> read_after_;
  std::map<uint32_t, Intact> intact_;     // by arena
  std::map<BlockId, BlockId> destroyed_;  // since its graph ran, and by what
  std::set<DestroyedOutput> found_;
};

using ViolationKind = PlanViolation::Kind;

// A birth or a death; at equal times deaths come first.
struct Moment {
  int64_t time;
  bool birth;
  uint32_t block;
};

std::vector<Moment> MomentsOf(const LifetimeProblem& problem) {
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    if (problem.blocks[i].size == 0 || problem.lifetimes[i].empty()) continue;
    moments.push_back({problem.lifetimes[i].begin, true, i});
    moments.push_back({problem.lifetimes[i].end, false, i});
  }
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.time, a.birth, a.block) < std::tie(b.time, b.birth, b.block);
  });
  return moments;
}

// The live blocks by arena and offset. They are disjoint, so a block that is born overlaps one of
// them only if it overlaps one of its two neighbours.
class LiveMap {
 public:
  explicit LiveMap(const LifetimeProblem& problem, const Plan& plan)
      : problem_(problem), plan_(plan) {}

  void Birth(uint32_t block, std::vector<PlanViolation>* out) {
    const Place place = PlaceOf(block);
    auto after = live_.lower_bound(place);
    bool clean = true;
    if (after != live_.end() && Touches(block, after->second)) {
      out->push_back({ViolationKind::kOverlap, block, after->second});
      clean = false;
    }
    if (after != live_.begin() && Touches(block, std::prev(after)->second)) {
      out->push_back({ViolationKind::kOverlap, block, std::prev(after)->second});
      clean = false;
    }
    if (clean) live_.emplace(place, block);
  }

  void Death(uint32_t block) {
    const auto at = live_.find(PlaceOf(block));
    if (at != live_.end() && at->second == block) live_.erase(at);
  }

 private:
  using Place = std::pair<uint32_t, Bytes>;
  Place PlaceOf(uint32_t block) const {
    return {problem_.blocks[block].arena, plan_.offsets[block]};
  }
  bool Touches(uint32_t a, uint32_t b) const {
    if (problem_.blocks[a].arena != problem_.blocks[b].arena) return false;
    return plan_.offsets[a] < plan_.offsets[b] + problem_.blocks[b].size &&
           plan_.offsets[b] < plan_.offsets[a] + problem_.blocks[a].size;
  }

  const LifetimeProblem& problem_;
  const Plan& plan_;
  std::map<Place, uint32_t> live_;
};

void CheckPlaces(const LifetimeProblem& problem, const Plan& plan,
                 std::vector<PlanViolation>* out) {
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    const PlanBlock& block = problem.blocks[i];
    if (block.size == 0 || problem.lifetimes[i].empty()) continue;
    if (plan.offsets[i] % block.alignment != 0 && block.fixed == PlanBlock::kAnywhere) {
      out->push_back({ViolationKind::kMisaligned, i, 0});
    }
    if (block.fixed != PlanBlock::kAnywhere && plan.offsets[i] != block.fixed) {
      out->push_back({ViolationKind::kMoved, i, 0});
    }
  }
}

void CheckPeaks(const LifetimeProblem& problem, const Plan& plan, std::vector<PlanViolation>* out) {
  std::map<uint32_t, Bytes> tops;
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    Bytes& top = tops[problem.blocks[i].arena];
    if (problem.blocks[i].size == 0 || problem.lifetimes[i].empty()) continue;
    top = std::max(top, plan.offsets[i] + problem.blocks[i].size);
  }
  Bytes sum = 0;
  for (const ArenaPlan& arena : plan.arenas) {
    sum += arena.peak;
    const auto top = tops.find(arena.arena);
    if (top == tops.end() || top->second != arena.peak)
      out->push_back({ViolationKind::kWrongPeak, arena.arena, 0});
    if (top != tops.end()) tops.erase(top);
  }
  for (const auto& [arena, top] : tops) out->push_back({ViolationKind::kWrongPeak, arena, 0});
  if (sum != plan.peak) out->push_back({ViolationKind::kWrongPeak, 0, 0});
}

}  // namespace

Result<void> PlanFits(const Facts& facts, const PlannedMemory& plan) {
  if (!plan.of_trace) {
    return Error{.message = "the plan is of a table, not of a trace",
                 .hint = "make one with graphkit plan trace.json -o plan.json"};
  }
  return PlanMatcher(facts, plan).Run();
}

std::vector<DestroyedOutput> ValidateSequence(const Facts& facts, const PlannedMemory& plan) {
  Rounds rounds(facts, plan);
  for (int round = 0; round < 2; ++round) {
    for (const GraphId graph : plan.sequence) rounds.Launch(graph);
  }
  return rounds.Take();
}

std::vector<PlanViolation> ValidatePlan(const LifetimeProblem& problem, const Plan& plan) {
  std::vector<PlanViolation> violations;
  if (plan.offsets.size() != problem.blocks.size()) return {{ViolationKind::kMissing, 0, 0}};
  CheckPlaces(problem, plan, &violations);
  CheckPeaks(problem, plan, &violations);
  LiveMap live(problem, plan);
  for (const Moment& moment : MomentsOf(problem)) {
    if (moment.birth) {
      live.Birth(moment.block, &violations);
    } else {
      live.Death(moment.block);
    }
  }
  return violations;
}

std::string DescribeViolation(const PlanViolation& violation, const Plan& plan) {
  const std::string block = "block " + std::to_string(violation.block);
  switch (violation.kind) {
    case ViolationKind::kOverlap:
      return block + " overlaps block " + std::to_string(violation.other) + " at offset " +
             std::to_string(std::max(plan.offsets[violation.block], plan.offsets[violation.other]));
    case ViolationKind::kMisaligned:
      return block + " is misaligned at offset " + std::to_string(plan.offsets[violation.block]);
    case ViolationKind::kMoved:
      return block + " isn't at its fixed offset";
    case ViolationKind::kWrongPeak:
      return "the peak of arena " + std::to_string(violation.block) +
             " isn't what its blocks reach";
    case ViolationKind::kMissing:
      return "the plan is of another problem: the number of blocks differs";
  }
  return {};
}

}  // namespace graphkit
