
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/lower_bound.h"
#include "libgraphkit/analysis/memory/timeline.h"

namespace graphkit {
namespace {

// Every pair is looked at up to so many blocks of a pool.
constexpr size_t kMaxPairwise = 6000;

// The shortest beginning that the sequence repeats, wherever it may be cut off.
void TakeOneRound(std::vector<GraphId>* steps) {
  for (size_t length = 1; length < steps->size(); ++length) {
    size_t i = length;
    while (i < steps->size() && (*steps)[i] == (*steps)[i - length]) ++i;
    if (i == steps->size()) {
      steps->resize(length);
      return;
    }
  }
}

struct PoolPlan {
  std::vector<Bytes> offsets;  // by block of the pool
  Bytes peak = ~Bytes{0};
};

// The blocks of one pool, of all graphs.
class PoolPlanner {
 public:
  PoolPlanner(PoolId pool, const BlockOrder& order, const SequenceNeeds& needs,
              std::vector<BlockId> blocks, Bytes alignment)
      : pool_(pool),
        order_(order),
        needs_(needs),
        blocks_(std::move(blocks)),
        alignment_(alignment) {}

  PoolPlan Run(const CapturePlannerOptions& options) const {
    PoolPlan best = Stacked(options);
    if (blocks_.size() > kMaxPairwise) return best;
    for (const bool outputs_first : {false, true}) {
      PoolPlan plan = Greedy(Sequence(outputs_first, blocks_.size()));
      if (plan.peak < best.peak) best = std::move(plan);
    }
    return best;
  }

  // At each launch: what its graph needs for itself, and what has to stay of the others.
  LowerBound Bound(std::span<const GraphId> steps) const {
    LowerBound bound;
    for (const GraphId graph : std::set<GraphId>(steps.begin(), steps.end())) {
      std::vector<BlockId> own;
      LowerBound others;
      for (const BlockId block : blocks_) {
        if (Root(block) == graph) {
          own.push_back(block);
        } else if (needs_.NeededIn(block, graph)) {
          others.bytes += Size(block);
          others.blocks.push_back(block);
        }
      }
      if (own.empty()) continue;
      LowerBound both = FindLowerBound(order_, own);
      both.bytes += others.bytes;
      both.blocks.insert(both.blocks.end(), others.blocks.begin(), others.blocks.end());
      if (both.bytes > bound.bytes) bound = std::move(both);
    }
    return bound;
  }

  PoolId pool() const { return pool_; }
  const std::vector<BlockId>& blocks() const { return blocks_; }

 private:
  Bytes Size(BlockId block) const { return RoundedSize(order_.trace()[block]); }
  GraphId Root(BlockId block) const { return order_.lives()[block].root; }
  bool Output(size_t i) const { return needs_.Outlives(blocks_[i]); }

  bool Conflict(BlockId x, BlockId y) const {
    if (Root(x) != Root(y)) return needs_.Conflict(x, y);
    if (order_.Before(x, y)) return needs_.Outlives(x);
    return !order_.Before(y, x) || needs_.Outlives(y);
  }

  // Large ones first; the outputs' first of all, if so. The last `count` of them are left out.
  std::vector<uint32_t> Sequence(bool outputs_first, size_t count) const {
    std::vector<uint32_t> sequence(blocks_.size());
    std::iota(sequence.begin(), sequence.end(), 0u);
    std::ranges::stable_sort(sequence, [&](uint32_t a, uint32_t b) {
      if (outputs_first && Output(a) != Output(b)) return Output(a);
      return Size(blocks_[a]) > Size(blocks_[b]);
    });
    sequence.resize(count);
    return sequence;
  }

  // Each block as low as the ones before it allow.
  PoolPlan Greedy(std::span<const uint32_t> sequence) const {
    PoolPlan plan{std::vector<Bytes>(blocks_.size()), 0};
    std::vector<uint32_t> by_offset;
    for (const uint32_t i : sequence) {
      const Bytes size = Size(blocks_[i]);
      if (size == 0) continue;
      Bytes offset = 0;
      for (const uint32_t placed : by_offset) {
        const Bytes begin = plan.offsets[placed];
        const Bytes end = begin + Size(blocks_[placed]);
        if (end <= offset || !Conflict(blocks_[i], blocks_[placed])) continue;
        if (offset + size <= begin) break;
        offset = RoundUp(end, alignment_);
      }
      plan.offsets[i] = offset;
      plan.peak = std::max(plan.peak, offset + size);
      const auto at = std::ranges::upper_bound(by_offset, offset, {},
                                               [&](uint32_t p) { return plan.offsets[p]; });
      by_offset.insert(at, i);
    }
    return plan;
  }

  // Outputs at the bottom, and above them each graph by itself.
  PoolPlan Stacked(CapturePlannerOptions options) const {
    size_t outputs = 0;
    for (size_t i = 0; i < blocks_.size(); ++i) outputs += Output(i) ? 1u : 0u;
    PoolPlan plan{std::vector<Bytes>(blocks_.size()), 0};
    if (outputs <= kMaxPairwise) {
      plan = Greedy(Sequence(true, outputs));
    } else {
      for (size_t i = 0; i < blocks_.size(); ++i) {
        if (!Output(i)) continue;
        plan.offsets[i] = plan.peak;
        plan.peak = RoundUp(plan.peak + Size(blocks_[i]), alignment_);
      }
    }
    const Bytes base = RoundUp(plan.peak, alignment_);
    Bytes& capacity = options.search.capacity;
    capacity = capacity > base ? capacity - base : 0;
    std::map<GraphId, std::vector<uint32_t>> by_graph;
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      if (!Output(i)) by_graph[Root(blocks_[i])].push_back(i);
    }
    for (const auto& [graph, items] : by_graph) {
      std::vector<BlockId> own;
      for (const uint32_t i : items) own.push_back(blocks_[i]);
      const CapturePlan part = PlanCapture(order_, own, options);
      for (size_t i = 0; i < items.size(); ++i) plan.offsets[items[i]] = base + part.offsets[i];
      plan.peak = std::max(plan.peak, base + part.peak);
    }
    return plan;
  }

  PoolId pool_;
  const BlockOrder& order_;
  const SequenceNeeds& needs_;
  std::vector<BlockId> blocks_;
  Bytes alignment_;
};

std::map<PoolId, std::vector<BlockId>> BlocksOfPools(const Facts& facts,
                                                     std::span<const GraphId> steps) {
  std::map<PoolId, std::vector<BlockId>> pools;
  for (const GraphId graph : std::set<GraphId>(steps.begin(), steps.end())) {
    for (const PoolBlocks& pool : BlocksByPool(facts, graph))
      pools[pool.pool].insert(pools[pool.pool].end(), pool.blocks.begin(), pool.blocks.end());
  }
  return pools;
}

// Work outside of graphs that reads blocks of the steps, or may, after launches.
struct LaterReads {
  LaterReads(const Facts& facts, std::span<const GraphId> steps)
      : facts(facts), of_steps(steps.begin(), steps.end()) {
    const Ran& trace = facts.trace;
    size_t launch = 0;
    for (const EagerWork& work : trace.works) {
      for (; launch < trace.launches.size() && trace.launches[launch].seq < work.seq; ++launch)
        Launch(facts.ran()[launch]);
      for (const Access& access : trace.accesses.Of(work.accesses)) Add(access);
    }
  }

  void Launch(GraphId graph) {
    last = graph.valid() ? facts.roots()[graph.index()] : graph;
    if (last.valid()) launched.insert(last);
  }

  void Add(const Access& access) {
    const std::vector<bool>& backs = facts.lives().backs_segment;
    if (access.mode == AccessMode::kWrite || access.block.index() >= backs.size()) return;
    if (!backs[access.block.index()]) return Add(access.block);
    // By an address where no block lies any more.
    const Address begin = facts.trace[access.block].address + access.offset;
    const Bytes length = access.length == kLengthUnknown ? 1 : access.length;
    for (const GraphId graph : of_steps) {
      for (const BlockId block : facts.blocks()[graph.index()]) {
        const Block& there = facts.trace[block];
        if (there.address < begin + length && begin < there.address + there.size) Add(block);
      }
    }
  }

  void Add(BlockId block) {
    const GraphId root = facts.lives()[block].root;
    if (launched.contains(root)) read[block].insert(of_steps.contains(last) ? last : GraphId());
  }

  // Is it read after launches of the graph? None: of one that isn't in the sequence.
  bool After(BlockId block, GraphId graph) const {
    const auto of_block = read.find(block);
    return of_block != read.end() && of_block->second.contains(graph);
  }

  const Facts& facts;
  const std::set<GraphId> of_steps;
  std::set<GraphId> launched;
  GraphId last;  // launched
  // By block: the graphs after whose last launch it is read.
  std::map<BlockId, std::set<GraphId>> read;
};

// Of a graph's block: the graphs in whose steps it is needed, from each step of its own to the last
// that needs it before the next one, around the end of the sequence.
template <typename Needs>
std::vector<bool> RunsThatNeed(std::span<const GraphId> steps, GraphId graph, size_t graphs,
                               Needs needs) {
  const size_t n = steps.size();
  std::vector<bool> runs(graphs);
  for (size_t i = 0; i < n; ++i) {
    if (steps[i] != graph) continue;
    size_t last = i;
    for (size_t j = i + 1; j < i + n && steps[j % n] != graph; ++j) {
      if (needs(steps[j % n])) last = j;
    }
    for (size_t j = i; j <= last; ++j) runs[steps[j % n].index()] = true;
  }
  return runs;
}

}  // namespace

Result<std::vector<GraphId>> RecordedSequence(const Facts& facts) {
  const Ran& trace = facts.trace;
  const LaunchOrder& order = facts.launch_order();
  std::vector<GraphId> steps;
  uint32_t before = 0;
  for (uint32_t i = 0; i < trace.launches.size(); ++i) {
    const GraphId graph = facts.ran()[i];
    if (!graph.valid()) continue;
    if (!steps.empty() && !order.Before(before, i)) {
      return Error{.message = LaunchText(trace, i, graph) + " isn't ordered after " +
                              LaunchText(trace, before, steps.back()),
                   .hint = "graphs that share memory have to run one after the other"};
    }
    steps.push_back(graph);
    before = i;
  }
  if (steps.empty()) {
    return Error{.message = "the trace has no launch", .hint = "give the order: --sequence 0,1,2"};
  }
  TakeOneRound(&steps);
  return steps;
}

std::vector<GraphId> SequenceOfSharers(const Facts& facts) {
  const std::vector<PoolSharers> sharers = FindPoolSharers(facts);
  std::vector<GraphId> steps;
  if (!facts.trace.launches.empty()) {
    Result<std::vector<GraphId>> recorded = RecordedSequence(facts);
    if (!recorded) return {};
    steps = std::move(*recorded);
  }
  std::set<GraphId> launched(steps.begin(), steps.end());
  bool shared = false;
  for (const PoolSharers& of_pool : sharers) {
    const bool gone = of_pool.gone < sharers.back().begin;
    shared = shared || (!gone && of_pool.graphs.size() > 1);
    for (const GraphId graph : of_pool.graphs) {
      if (gone) std::erase(steps, graph);
      if (!gone && launched.insert(graph).second) steps.push_back(graph);
    }
  }
  if (!shared) return {};
  TakeOneRound(&steps);
  return steps;
}

SequenceNeeds::SequenceNeeds(const Facts& facts, std::span<const GraphId> steps)
    : facts_(facts), row_(facts.trace.blocks.size(), kNoRow) {
  std::vector<std::vector<GraphId>> takers(facts.trace.blocks.size());
  for (size_t graph = 0; graph < facts.inputs().size(); ++graph) {
    for (const GraphInput& input : facts.inputs()[graph])
      takers[input.block.index()].emplace_back(graph);
  }
  const LaterReads reads(facts, steps);
  for (const GraphId graph : std::set<GraphId>(steps.begin(), steps.end())) {
    for (const BlockId block : facts.blocks()[graph.index()]) {
      const bool freed = facts.lives()[block].freed;
      if (freed && !reads.read.contains(block)) continue;
      const auto taken = [&](GraphId by) {
        return std::ranges::find(takers[block.index()], by) != takers[block.index()].end();
      };
      const bool elsewhere = reads.After(block, {});
      const bool kept = elsewhere || (!freed && std::ranges::none_of(steps, taken));
      row_[block.index()] = static_cast<uint32_t>(runs_.size());
      runs_.push_back(RunsThatNeed(steps, graph, facts.trace.graphs.size(), [&](GraphId step) {
        return kept || taken(step) || reads.After(block, step);
      }));
    }
  }
}

bool SequenceNeeds::NeededIn(BlockId block, GraphId graph) const {
  const uint32_t row = row_[block.index()];
  return row == kNoRow ? facts_.lives()[block].root == graph : runs_[row][graph.index()];
}

bool SequenceNeeds::Conflict(BlockId x, BlockId y) const {
  return NeededIn(x, facts_.lives()[y].root) || NeededIn(y, facts_.lives()[x].root);
}

PlannedMemory PlanSequence(const Facts& facts, std::span<const GraphId> steps, MarkerRule rule,
                           const CapturePlannerOptions& options) {
  const BlockOrder order = facts.Blocks(rule);
  const SequenceNeeds needs(facts, steps);
  PlannedMemory planned;
  planned.of_trace = true;
  planned.sequence.assign(steps.begin(), steps.end());
  std::vector<PoolPlanner> planners;
  for (auto& [pool, blocks] : BlocksOfPools(facts, steps))
    planners.emplace_back(pool, order, needs, std::move(blocks), options.alignment);
  std::vector<PoolPlan> plans(planners.size());
  PlanToFit(plans.size(), options.search.capacity, [&](size_t i, Bytes capacity, bool greedily) {
    CapturePlannerOptions of_pool = options;
    of_pool.search.capacity = capacity;
    if (greedily) of_pool.search.effort = 0;
    plans[i] = planners[i].Run(of_pool);
    return plans[i].peak;
  });
  for (const PoolPlanner& planner : planners) {
    const auto arena = static_cast<uint32_t>(planned.arenas.size());
    const PoolPlan& plan = plans[arena];
    const LowerBound bound = planner.Bound(steps);
    planned.arenas.push_back(
        {{}, planner.pool(), planner.blocks().size(), plan.peak, bound.bytes, bound.blocks});
    planned.peak += plan.peak;
    planned.lower_bound += bound.bytes;
    std::map<GraphId, std::vector<Placement>> by_graph;
    for (const auto& [i, block] : Enumerate(planner.blocks())) {
      by_graph[facts.lives()[block].root].push_back(
          {block.value, arena, plan.offsets[i], RoundedSize(facts.trace[block])});
    }
    for (const auto& [graph, placements] : by_graph) {
      planned.placements.insert(planned.placements.end(), placements.begin(), placements.end());
      AddSharedBytes(order, placements, &planned);
    }
  }
  return planned;
}

}  // namespace graphkit
