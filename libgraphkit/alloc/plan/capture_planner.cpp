#include "libgraphkit/alloc/plan/capture_planner.h"

#include <queue>

#include "libgraphkit/alloc/plan/component_planner.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// Up to so many pairs of conflicts are listed, eight bytes each: a million blocks of an ordinary
// capture have 20 million.
constexpr size_t kMaxListedPairs = 50'000'000;

// Blocks without lifetimes get such a part of the effort, where they are few so much for each pair.
constexpr uint64_t kOrderPart = 3;
constexpr uint64_t kEffortPerPairOfOrder = 10'000;

// Blocks of one size are chained up to so many, times their lanes.
constexpr size_t kMaxChained = 16'000'000;

class CapturePlanner {
 public:
  CapturePlanner(const Lanes& lanes, std::span<const Bytes> fixed, Bytes bound,
                 const CapturePlannerOptions& options)
      : lanes_(lanes),
        fixed_(fixed),
        options_(options),
        bound_(bound),
        start_(std::chrono::steady_clock::now()) {}

  // Offsets by item.
  GreedyPlan Run() {
    PlacedConflicts conflicts(lanes_);
    if (OfOneSize()) {
      PlaceInChains(conflicts);
      if (Done()) return std::move(best_);
    }
    const ConflictLists lists(lanes_, conflicts, kMaxListedPairs);
    Take(PlaceLargestFirst(lanes_, fixed_, options_.alignment, lists, &conflicts));
    if (Done() || options_.search.effort == 0) return std::move(best_);
    const std::vector<Lifetime> lifetimes = LifetimesOnOneLine(lanes_, conflicts);
    if (!lifetimes.empty()) {
      SearchLifetimes(lifetimes);
    } else if (lists.complete()) {
      SearchConflicts(lists);
    }
    return std::move(best_);
  }

 private:
  bool Done() const {
    if (best_.peak <= std::max(bound_, options_.search.capacity)) return true;
    if (options_.search.stop != nullptr && *options_.search.stop) return true;
    if (options_.search.seconds <= 0) return false;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    return took.count() > options_.search.seconds;
  }
  bool OfOneSize() const {
    if (lanes_.size() == 0 || lanes_.size() * lanes_.lanes() > kMaxChained) return false;
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      const bool fixed = fixed_[item] != PlanBlock::kAnywhere;
      if (fixed || lanes_.weight(item) != lanes_.weight(0)) return false;
    }
    return lanes_.weight(0) != 0;
  }

  // As few places as can be.
  void PlaceInChains(const PlacedConflicts& conflicts) {
    const ChainCover cover = CoverByChains(lanes_, conflicts);
    const Bytes step = RoundUp(lanes_.weight(0), options_.alignment);
    best_ = {std::vector<Bytes>(lanes_.size()), (cover.chains - 1) * step + lanes_.weight(0)};
    for (uint32_t item = 0; item < lanes_.size(); ++item)
      best_.offsets[item] = cover.chain[item] * step;
  }

  void Take(GreedyPlan plan) {
    if (plan.peak >= best_.peak) return;
    best_ = std::move(plan);
    Report();
  }
  void Report() const {
    if (options_.search.progress) options_.search.progress({best_.peak, bound_, 0});
  }

  void SearchLifetimes(const std::vector<Lifetime>& lifetimes) {
    LifetimeProblem problem{.lifetimes = lifetimes};
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      problem.blocks.push_back(
          {.size = lanes_.weight(item), .alignment = options_.alignment, .fixed = fixed_[item]});
    }
    PlannerOptions options = options_.search;
    options.capacity = std::max(options.capacity, bound_);
    Plan plan = PlanLifetimes(problem, options);
    Take({std::move(plan.offsets), plan.peak});
  }

  void SearchConflicts(const ConflictLists& lists) {
    LifetimeArena arena;
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      arena.blocks.push_back({.block = item,
                              .size = lanes_.weight(item),
                              .alignment = options_.alignment,
                              .fixed = fixed_[item]});
    }
    PlannerOptions options = options_.search;
    options.capacity = std::max(options.capacity, bound_);
    const uint64_t blocks = lanes_.size();
    const uint64_t most =
        std::min(options.effort / kOrderPart, kEffortPerPairOfOrder * blocks * blocks);
    ComponentPlanner planner(std::move(arena), options.capacity, options, best_, &lists);
    uint64_t effort = 0;
    const std::function<bool()> more = [&] { return !Done(); };
    while (effort < most && more() && planner.Unfinished()) {
      effort += planner.Step(most - effort, more);
      Take(planner.best());
    }
  }

  const Lanes& lanes_;
  std::span<const Bytes> fixed_;
  const CapturePlannerOptions& options_;
  Bytes bound_;
  std::chrono::steady_clock::time_point start_;
  GreedyPlan best_;
};

std::vector<Bytes> FixedOffsets(const Lanes& lanes, std::span<const FixedBlock> fixed) {
  std::unordered_map<uint32_t, Bytes> by_block;
  for (const FixedBlock& one : fixed) by_block[one.block.value] = one.offset;
  std::vector<Bytes> offsets(lanes.size(), PlanBlock::kAnywhere);
  for (uint32_t item = 0; item < lanes.size() && !by_block.empty(); ++item) {
    const auto at = by_block.find(lanes.block(item).value);
    if (at != by_block.end()) offsets[item] = at->second;
  }
  return offsets;
}

constexpr uint32_t kNoItem = 0xffffffffu;
// Most of the time an item that was freed not long ago can be taken from its follower.
constexpr uint32_t kWindow = 256;

class ChainCoverer {
 public:
  ChainCoverer(const Lanes& lanes, const PlacedConflicts& conflicts)
      : lanes_(lanes),
        conflicts_(conflicts),
        follower_(lanes.size(), kNoItem),
        follows_(lanes.size(), kNoItem),
        seen_(lanes.size()),
        for_(lanes.size(), kNoItem),
        ready_(lanes.lanes()),
        hopeless_(lanes.lanes()),
        looked_(lanes.lanes()) {
    for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
      exits_.emplace_back().Assign(lanes.size(), lanes.births(lane).size(), [&](size_t item) {
        return conflicts.Exit(static_cast<uint32_t>(item), lane);
      });
    }
  }

  ChainCover Run() {
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (!TakeFree(item) && !Search(item, kWindow) && !Search(item, kNoItem)) GiveUp();
    }
    return Chains();
  }

 private:
  // Of one lane: what is before its next birth, followed or not.
  struct Ready {
    uint32_t births = 0;  // that were looked at
    std::priority_queue<uint32_t> items;
  };

  void Link(uint32_t earlier, uint32_t later) {
    follower_[earlier] = later;
    follows_[later] = earlier;
  }

  // The latest of the items before this one that none follows.
  bool TakeFree(uint32_t item) {
    const uint32_t lane = lanes_.lane(item);
    Ready& ready = ready_[lane];
    for (; ready.births <= conflicts_.place(item); ++ready.births) {
      for (const uint32_t earlier : exits_[lane].Of(ready.births)) ready.items.push(earlier);
    }
    while (!ready.items.empty()) {
      const uint32_t earlier = ready.items.top();
      ready.items.pop();
      if (follower_[earlier] != kNoItem) continue;
      Link(earlier, item);
      return true;
    }
    return false;
  }

  // Breadth first: what could follow what, until one has no follower. Only looks as many births
  // back; kNoItem: at all.
  bool Search(uint32_t item, uint32_t window) {
    ++round_;
    std::ranges::copy(hopeless_, looked_.begin());
    queue_.assign(1, item);
    for (size_t i = 0; i < queue_.size(); ++i) {
      const uint32_t later = queue_[i];
      const Grouped& exits = exits_[lanes_.lane(later)];
      uint32_t& looked = looked_[lanes_.lane(later)];
      const uint32_t end = conflicts_.place(later) + 1;
      uint32_t begin = looked;
      if (window != kNoItem && end > window) begin = std::max(begin, end - window);
      if (begin >= end) continue;
      looked = end;
      for (uint32_t at = exits.first[end]; at-- > exits.first[begin];) {
        const uint32_t earlier = exits.items[at];
        if (seen_[earlier] == round_ || earlier == later) continue;
        seen_[earlier] = round_;
        for_[earlier] = later;
        if (follower_[earlier] == kNoItem) {
          Turn(earlier);
          return true;
        }
        queue_.push_back(follower_[earlier]);
      }
    }
    return false;
  }

  // All on the way follow what they found.
  void Turn(uint32_t earlier) {
    while (earlier != kNoItem) {
      const uint32_t later = for_[earlier];
      const uint32_t before = follows_[later];
      Link(earlier, later);
      earlier = before;
    }
  }

  // The items looked at can't be taken: no search needs to look there again.
  void GiveUp() { std::ranges::copy(looked_, hopeless_.begin()); }

  ChainCover Chains() const {
    ChainCover cover;
    cover.chain.assign(lanes_.size(), kNoItem);
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (follows_[item] != kNoItem) continue;
      for (uint32_t at = item; at != kNoItem; at = follower_[at]) cover.chain[at] = cover.chains;
      ++cover.chains;
    }
    return cover;
  }

  const Lanes& lanes_;
  const PlacedConflicts& conflicts_;
  std::vector<Grouped> exits_;                // by lane: who is before its births from here on
  std::vector<uint32_t> follower_, follows_;  // by item
  std::vector<uint32_t> seen_;                // by item: in which round
  std::vector<uint32_t> for_;                 // by item that was seen: who would follow it
  std::vector<Ready> ready_;                  // by lane
  std::vector<uint32_t> hopeless_;            // by lane: births whose exits need not be looked at
  std::vector<uint32_t> looked_;              // by lane: in this round, up to here
  std::vector<uint32_t> queue_;
  uint32_t round_ = 0;
};

}  // namespace

CapturePlan PlanCapture(const BlockOrder& order, std::span<const BlockId> blocks,
                        const CapturePlannerOptions& options, std::span<const FixedBlock> fixed) {
  const LowerBound bound = options.bound ? *options.bound : FindLowerBound(order, blocks);
  CapturePlan plan{std::vector<Bytes>(blocks.size()), 0, bound.bytes};
  std::vector<BlockId> sized;
  std::ranges::copy_if(blocks, std::back_inserter(sized),
                       [&](BlockId block) { return order.trace()[block].size != 0; });
  const Lanes lanes(order, sized);
  const std::vector<Bytes> fixed_offsets = FixedOffsets(lanes, fixed);
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    if (fixed_offsets[item] == PlanBlock::kAnywhere) continue;
    plan.lower_bound = std::max(plan.lower_bound, fixed_offsets[item] + lanes.weight(item));
  }
  const GreedyPlan placed = CapturePlanner(lanes, fixed_offsets, plan.lower_bound, options).Run();
  if (lanes.size() > 0) plan.peak = placed.peak;
  // Lanes keep the order of the blocks; the few that fit into none share with none.
  uint32_t item = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (item < lanes.size() && lanes.block(item) == blocks[i]) {
      plan.offsets[i] = placed.offsets[item++];
      continue;
    }
    if (order.trace()[blocks[i]].size == 0) continue;
    plan.offsets[i] = RoundUp(plan.peak, options.alignment);
    plan.peak = plan.offsets[i] + RoundedSize(order.trace()[blocks[i]]);
  }
  return plan;
}

ChainCover CoverByChains(const Lanes& lanes, const PlacedConflicts& conflicts) {
  return ChainCoverer(lanes, conflicts).Run();
}

}  // namespace graphkit
