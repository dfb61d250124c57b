#include "libgraphkit/alloc/judge/validate.h"

#include <algorithm>
#include <map>

#include "libgraphkit/alloc/judge/borrow_judge.h"

namespace graphkit {
namespace {

// By pool: the launches of graphs that allocated in it, and of execs that were updated from them,
// from the first to the last. None: {kNever, 0}.
std::vector<std::pair<Seq, Seq>> LaunchesOf(const Facts& facts, std::span<const PoolBorrow> pools) {
  std::vector<std::pair<Seq, Seq>> found(pools.size(), {kNever, 0});
  std::vector<std::vector<size_t>> of_graph(facts.trace.graphs.size());
  for (size_t pool = 0; pool < pools.size(); ++pool) {
    for (const GraphId graph : pools[pool].graphs) of_graph[graph.index()].push_back(pool);
  }
  for (const auto& [i, launch] : Enumerate(facts.trace.launches)) {
    const GraphId graph = facts.ran()[i];
    if (!graph.valid()) continue;
    for (const size_t pool : of_graph[facts.roots()[graph.index()].index()]) {
      found[pool].first = std::min(found[pool].first, launch.seq);
      found[pool].second = launch.seq;
    }
  }
  std::map<ExecId, Seq> last;
  for (const Launch& launch : facts.trace.launches) last[launch.exec] = launch.seq;
  const auto extend = [&](ExecId exec, GraphId graph) {
    if (!graph) return;
    for (const size_t pool : of_graph[facts.roots()[graph.index()].index()])
      found[pool].second = std::max(found[pool].second, last[exec]);
  };
  for (const ExecUpdate& update : facts.trace.exec_updates) {
    if (update.result != 0) continue;
    extend(update.exec, facts.trace[update.exec].graph);
    extend(update.exec, update.graph);
  }
  return found;
}

// Each range lies in a segment, behind the one before it, and nothing strays into it.
void CheckRanges(const BorrowJudge& judge, const PoolBorrow& pool,
                 std::span<const Segment> by_address, Seq first_launch, uint64_t* looked,
                 std::vector<WrongBorrow>* wrong) {
  Address reached = 0;
  for (const Interval<Address>& range : pool.free) {
    // Segments may overlap: the last one that begins before is mostly it.
    auto at = std::ranges::upper_bound(by_address, range.begin, {}, &Segment::address);
    bool held = false;
    for (; !held && at != by_address.begin(); ++*looked) {
      --at;
      held = range.end <= at->address + at->size;
    }
    if (!held || range.begin < reached || range.empty()) wrong->push_back({{}, range.begin});
    reached = range.end;
    if (judge.Stray(range, pool.graphs, first_launch)) wrong->push_back({{}, range.begin});
  }
}

// No part of the block that lies in a range is needed between launches.
void CheckBlock(const Facts& facts, const BorrowJudge& judge, const PoolBorrow& pool, BlockId id,
                std::pair<Seq, Seq> launches, std::vector<WrongBorrow>* wrong) {
  const Block& block = facts.trace[id];
  // From the first range on that ends behind the block's begin.
  auto range = std::ranges::upper_bound(pool.free, block.address, {}, &Interval<Address>::end);
  for (; range != pool.free.end() && range->begin < block.address + block.size; ++range) {
    const auto part = PartOf(block.address, block.size, range->begin, range->size());
    const bool late = block.allocated > launches.second && block.freed();
    const bool exists = !late && block.free_completed > launches.first;
    const bool of_graph = facts.lives()[id].root.valid();
    if (of_graph ? !judge.Found(id, part) && !judge.Leaves(id, part) : !exists) continue;
    wrong->push_back({id, range->begin});
    return;
  }
}

// True if a loop that a block doesn't live in holds both nodes: then each comes after the other.
bool InOneLoop(const Facts& facts, BlockId id, NodeId a, NodeId b) {
  const Nesting& nesting = facts.nesting();
  const GraphId common = nesting.Common(facts.trace[a].graph, facts.trace[b].graph);
  return nesting.LoopApart(common, facts.lives()[id].alloc.graph).valid();
}

// True if all that a block is used for in its graph is over before `at` starts.
bool OverBefore(const Facts& facts, BlockId id, NodeId at) {
  const BlockLife& life = facts.lives()[id];
  const auto before = [&](NodeId node) { return facts.order().Before(node, at); };
  const auto touch_before = [&](const NodeId touch) {
    if (!OfOwnGraph(facts, id, touch)) return true;  // BorrowJudge looks at these
    return before(touch) && !InOneLoop(facts, id, touch, at);
  };
  if (!std::ranges::all_of(facts.lives().Touches(id), touch_before)) return false;
  if (!life.escaped) return true;
  return std::ranges::all_of(facts.lives().Nodes(life.at_free), before) &&
         facts.trace[id].free_requested < facts.trace[at].seq;
}

// True if nothing uses a block before the node has ended.
bool NotBefore(const Facts& facts, BlockId id, NodeId node) {
  const BlockLife& life = facts.lives()[id];
  const auto after = [&](const NodeId touch) {
    return !OfOwnGraph(facts, id, touch) || facts.order().Before(node, touch);
  };
  const auto start_after = [&](NodeId start) { return facts.order().Before(node, start); };
  if (!std::ranges::all_of(facts.lives().Touches(id), after)) return false;
  if (!life.escaped) return true;
  return std::ranges::all_of(facts.lives().Nodes(life.starts), start_after) &&
         facts.order().Before(node, life.alloc);
}

// The place in its chain from which on a range isn't lent any more.
uint64_t LentUntil(const Facts& facts, const BorrowAt& one) {
  const auto place = [&](NodeId node) { return uint64_t{facts.order().PlaceOf(node).seq}; };
  if (one.nodes != 0) return place(one.at) + one.nodes;
  if (one.last) return place(one.last) + 1;
  return one.until ? place(one.until) : kNever;
}

// The nodes of a chain, from one of them on.
std::vector<NodeId> RestOfChain(const Facts& facts, NodeId first) {
  const ChainPlace from = facts.order().PlaceOf(first);
  std::vector<NodeId> chain;
  for (size_t i = 0; i < facts.trace.nodes.size(); ++i) {
    const ChainPlace here = facts.order().PlaceOf(NodeId(i));
    if (here.chain == from.chain && here.seq >= from.seq) chain.emplace_back(i);
  }
  return chain;
}

}  // namespace

std::vector<WrongBorrow> ValidateBorrow(const Facts& facts, std::span<const PoolBorrow> pools,
                                        uint64_t* looks) {
  const Ran& trace = facts.trace;
  std::vector<WrongBorrow> wrong;
  uint64_t looked = 0;
  const BorrowJudge judge(facts);
  std::vector<std::vector<BlockId>> blocks(trace.pools.size());
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    const bool backs = facts.lives().backs_segment[i];
    if (backs || !block.pool.valid() || block.size == 0) continue;
    blocks[block.pool.index()].emplace_back(i);
  }
  std::vector<std::vector<Segment>> segments(trace.pools.size());
  for (const Segment& segment : trace.segments) {
    if (segment.pool.valid()) segments[segment.pool.index()].push_back(segment);
  }
  const std::vector<std::pair<Seq, Seq>> launches = LaunchesOf(facts, pools);
  for (size_t i = 0; i < pools.size(); ++i) {
    const PoolBorrow& pool = pools[i];
    std::vector<Segment>& own = segments[pool.pool.index()];
    std::erase_if(own, [&](const Segment& one) { return one.freed < launches[i].second; });
    std::ranges::sort(own, {}, &Segment::address);
    CheckRanges(judge, pool, own, launches[i].first, &looked, &wrong);
    looked += blocks[pool.pool.index()].size();
    for (const BlockId id : blocks[pool.pool.index()]) {
      CheckBlock(facts, judge, pool, id, launches[i], &wrong);
    }
  }
  if (looks != nullptr) *looks = looked;
  return wrong;
}

std::vector<WrongBorrow> ValidatePlanBorrow(const Facts& facts, const PlannedMemory& plan) {
  std::vector<WrongBorrow> wrong;
  if (!plan.borrow) return wrong;
  const BorrowJudge judge(facts);
  std::vector<std::vector<BorrowedRange>> ranges(plan.arenas.size());
  for (const BorrowedRange& range : *plan.borrow) ranges[range.arena].push_back(range);
  for (const Placement& placement : plan.placements) {
    for (const BorrowedRange& range : ranges[placement.arena]) {
      const BlockId block(placement.block);
      const Interval<Bytes> bytes =
          PartOf(placement.offset, placement.size, range.offset, range.size);
      if (bytes.empty()) continue;
      if (judge.Found(block, bytes) || judge.Leaves(block, bytes))
        wrong.push_back({block, range.offset});
    }
  }
  return wrong;
}

std::vector<WrongBorrow> ValidateBorrowAt(const Facts& facts, const PlannedMemory& plan,
                                          std::span<const BorrowAt> ranges) {
  std::vector<WrongBorrow> wrong;
  if (ranges.empty()) return wrong;
  const BorrowJudge judge(facts);
  NodeId at;
  std::vector<NodeId> chain;
  for (const BorrowAt& one : ranges) {
    const GraphId root = facts.roots()[facts.trace[one.at].graph.index()];
    if (at != one.at) chain = RestOfChain(facts, at = one.at);
    const uint64_t end = LentUntil(facts, one);
    for (const Placement& placement : plan.placements) {
      const BlockId block(placement.block);
      const Interval<Bytes> bytes =
          PartOf(placement.offset, placement.size, one.range.offset, one.range.size);
      if (placement.arena != one.range.arena || bytes.empty()) continue;
      const bool of_graph = facts.lives()[block].root == root;
      const bool leaves = judge.Leaves(block, bytes);
      const bool over = (!of_graph || OverBefore(facts, block, one.at)) && !leaves;
      const auto later = [&](NodeId node) {
        return facts.order().PlaceOf(node).seq >= end || NotBefore(facts, block, node);
      };
      const bool starts_later = of_graph && std::ranges::all_of(chain, later) &&
                                (!leaves || judge.WrittenAnew(block, bytes));
      if (judge.Found(block, bytes) || (!over && !starts_later)) {
        wrong.push_back({block, one.range.offset});
      }
    }
  }
  return wrong;
}

}  // namespace graphkit
