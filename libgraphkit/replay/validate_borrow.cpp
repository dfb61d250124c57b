#include "libgraphkit/replay/validate_borrow.h"

#include <algorithm>

namespace graphkit {
namespace {

bool Meet(Address a, Bytes a_size, Address b, Bytes b_size) {
  return a < b + b_size && b < a + a_size;
}

// Whether something of an earlier launch, or of the host, is found in the block by a launch.
bool TakesIn(const Facts& facts, BlockId block) {
  const auto touches = facts.lives.Touches(block);
  const auto foreign = [&](const Touch& touch) {
    return facts.roots[facts.trace[touch.node].graph.index()] != facts.lives[block].root;
  };
  if (facts.lives[block].elsewhere && std::ranges::any_of(touches, foreign)) return true;
  bool any = false;
  for (const Touch& touch : touches) {
    if (touch.node != touches.front().node) break;
    for (const Access& access : facts.trace.accesses.Of(facts.trace[touch.node].accesses)) {
      if (access.block == block && access.mode != AccessMode::kRead) return false;
      any = any || access.block == block;
    }
  }
  return any;
}

// Bytes that work outside of graphs reaches, and nodes of graphs in a segment where no block lay.
class OutsideBytes {
 public:
  explicit OutsideBytes(const Facts& facts) {
    const Trace& trace = facts.trace;
    const std::vector<bool> backs = BacksSegment(trace);
    for (const Node& node : trace.nodes) {
      for (const Access& access : trace.accesses.Of(node.accesses)) {
        if (access.block.index() >= backs.size() || !backs[access.block.index()]) continue;
        const Bytes length = access.length == kLengthUnknown ? 1 : access.length;
        reached_.push_back({trace[access.block].address + access.offset, length, kNever,
                            facts.roots[node.graph.index()]});
        longest_ = std::max(longest_, length);
      }
    }
    for (const EagerWork& work : trace.works) {
      for (const Access& access : trace.accesses.Of(work.accesses)) {
        if (access.block.index() >= trace.blocks.size()) continue;
        const Bytes length = access.length == kLengthUnknown ? 1 : access.length;
        reached_.push_back({trace[access.block].address + access.offset, length, work.seq});
        longest_ = std::max(longest_, length);
      }
    }
    std::ranges::sort(reached_, {}, &Reached::begin);
  }

  // Some of the block's: after its free, or by another graph than its own.
  bool Touch(const Block& block, GraphId root) const {
    const Address from = block.address - std::min(block.address, longest_);
    for (auto at = std::ranges::lower_bound(reached_, from, {}, &Reached::begin);
         at != reached_.end() && at->begin < block.address + block.size; ++at) {
      const bool meets = Meet(at->begin, at->length, block.address, block.size);
      if (meets && at->seq > block.free_requested && at->graph != root) return true;
    }
    return false;
  }

 private:
  struct Reached {
    Address begin = 0;
    Bytes length = 0;
    Seq seq = 0;
    GraphId graph = {};  // none: outside of graphs
  };
  std::vector<Reached> reached_;  // by begin
  Bytes longest_ = 0;
};

// Whether a launch leaves something in the block for later.
bool Leaves(const Facts& facts, const OutsideBytes& outside, BlockId id) {
  const BlockLife& life = facts.lives[id];
  return !life.freed || (life.foreign && life.escaped) || outside.Touch(facts.trace[id], life.root);
}

// By pool: the launches of graphs that allocated in it, from the first to the last. None:
// {kNever, 0}.
std::vector<std::pair<Seq, Seq>> LaunchesOf(const Facts& facts, std::span<const PoolBorrow> pools) {
  std::vector<std::pair<Seq, Seq>> found(pools.size(), {kNever, 0});
  std::vector<std::vector<size_t>> of_graph(facts.trace.graphs.size());
  for (size_t pool = 0; pool < pools.size(); ++pool) {
    for (const GraphId graph : pools[pool].graphs) of_graph[graph.index()].push_back(pool);
  }
  std::vector<GraphId> runs(facts.trace.execs.size());
  for (size_t i = 0; i < runs.size(); ++i) runs[i] = facts.trace.execs[i].graph;
  auto update = facts.trace.exec_updates.begin();
  for (const Launch& launch : facts.trace.launches) {
    for (; update != facts.trace.exec_updates.end() && update->seq < launch.seq; ++update) {
      if (update->result == 0 && update->exec.index() < runs.size()) {
        runs[update->exec.index()] = update->graph;
      }
    }
    if (launch.exec.index() >= runs.size()) continue;
    const GraphId graph = runs[launch.exec.index()];
    if (!graph.valid()) continue;
    for (const size_t pool : of_graph[facts.roots[graph.index()].index()]) {
      found[pool].first = std::min(found[pool].first, launch.seq);
      found[pool].second = launch.seq;
    }
  }
  return found;
}

// Whether the block is needed between launches, whatever the address.
bool NeededBetween(const Facts& facts, const OutsideBytes& outside, BlockId id,
                   std::pair<Seq, Seq> launches) {
  const Block& block = facts.trace[id];
  if (facts.lives[id].root.valid()) return TakesIn(facts, id) || Leaves(facts, outside, id);
  return block.allocated < launches.second && block.free_completed > launches.first;
}

// Whether all that a block is used for in its graph is over before `at` starts.
bool OverBefore(const Facts& facts, BlockId id, NodeId at) {
  const BlockLife& life = facts.lives[id];
  const auto before = [&](NodeId node) { return facts.order.Before(node, at); };
  const auto touch_before = [&](const Touch& touch) { return before(touch.node); };
  if (!std::ranges::all_of(facts.lives.Touches(id), touch_before)) return false;
  if (!life.escaped) return true;
  return std::ranges::all_of(facts.lives.Nodes(life.at_free), before) &&
         facts.trace[id].free_requested < facts.trace[at].seq;
}

// Whether nothing uses a block before the node has ended.
bool NotBefore(const Facts& facts, BlockId id, NodeId node) {
  const BlockLife& life = facts.lives[id];
  const auto after = [&](const Touch& touch) { return facts.order.Before(node, touch.node); };
  const auto start_after = [&](NodeId start) { return facts.order.Before(node, start); };
  if (!std::ranges::all_of(facts.lives.Touches(id), after)) return false;
  if (!life.escaped) return true;
  return std::ranges::all_of(facts.lives.Nodes(life.starts), start_after) &&
         facts.order.Before(node, life.alloc);
}

}  // namespace

BorrowNeeds FindBorrowNeeds(const Facts& facts) {
  const OutsideBytes outside(facts);
  const size_t blocks = facts.trace.blocks.size();
  BorrowNeeds needs{std::vector<bool>(blocks), std::vector<bool>(blocks, true)};
  for (size_t i = 0; i < blocks; ++i) {
    if (!facts.lives.blocks[i].root) continue;
    needs.takes_in[i] = TakesIn(facts, BlockId(i));
    needs.needed[i] = needs.takes_in[i] || Leaves(facts, outside, BlockId(i));
  }
  return needs;
}

std::vector<WrongBorrow> ValidateBorrow(const Facts& facts, std::span<const PoolBorrow> pools,
                                        uint64_t* looks) {
  const Trace& trace = facts.trace;
  std::vector<WrongBorrow> wrong;
  uint64_t looked = 0;
  const OutsideBytes outside(facts);
  const std::vector<bool> backs = BacksSegment(trace);
  std::vector<std::vector<BlockId>> blocks(trace.pools.size());
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (backs[i] || !block.pool.valid() || block.size == 0) continue;
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
    Address reached = 0;
    for (const Interval<Address>& range : pool.free) {
      // Segments may overlap: the last one that begins before is mostly it.
      auto at = std::ranges::upper_bound(own, range.begin, {}, &Segment::address);
      bool held = false;
      for (; !held && at != own.begin(); ++looked) {
        --at;
        held = range.end <= at->address + at->size;
      }
      if (!held || range.begin < reached || range.empty()) wrong.push_back({{}, range.begin});
      reached = range.end;
    }
    for (const BlockId id : blocks[pool.pool.index()]) {
      ++looked;
      const Block& block = trace[id];
      // The first range that ends behind the block's begin.
      const auto range =
          std::ranges::upper_bound(pool.free, block.address, {}, &Interval<Address>::end);
      if (range == pool.free.end() || range->begin >= block.address + block.size) continue;
      if (NeededBetween(facts, outside, id, launches[i])) wrong.push_back({id, range->begin});
    }
  }
  if (looks != nullptr) *looks = looked;
  return wrong;
}

std::vector<WrongBorrow> ValidatePlanBorrow(const Facts& facts, const PlannedMemory& plan) {
  std::vector<WrongBorrow> wrong;
  if (!plan.borrow) return wrong;
  const OutsideBytes outside(facts);
  std::vector<std::vector<BorrowedRange>> ranges(plan.arenas.size());
  for (const BorrowedRange& range : *plan.borrow) ranges[range.arena].push_back(range);
  for (const Placement& placement : plan.placements) {
    for (const BorrowedRange& range : ranges[placement.arena]) {
      if (!Meet(range.offset, range.size, placement.offset, placement.size)) continue;
      const BlockId block(placement.block);
      if (TakesIn(facts, block) || Leaves(facts, outside, block))
        wrong.push_back({block, range.offset});
    }
  }
  return wrong;
}

std::vector<WrongBorrow> ValidateBorrowAt(const Facts& facts, const PlannedMemory& plan, NodeId at,
                                          std::span<const BorrowAt> ranges) {
  std::vector<WrongBorrow> wrong;
  const OutsideBytes outside(facts);
  const ChainPlace place = facts.order.PlaceOf(at);
  const GraphId root = facts.roots[facts.trace[at].graph.index()];
  std::vector<NodeId> chain;
  for (size_t i = 0; i < facts.trace.nodes.size(); ++i) {
    const ChainPlace here = facts.order.PlaceOf(NodeId(i));
    if (here.chain == place.chain && here.seq >= place.seq) chain.emplace_back(i);
  }
  for (const BorrowAt& one : ranges) {
    const auto ours = [&](NodeId node) {
      return facts.order.PlaceOf(node).seq < place.seq + one.nodes;
    };
    for (const Placement& placement : plan.placements) {
      if (placement.arena != one.range.arena ||
          !Meet(one.range.offset, one.range.size, placement.offset, placement.size)) {
        continue;
      }
      const BlockId block(placement.block);
      const bool of_graph = facts.lives[block].root == root;
      const bool over =
          (!of_graph || OverBefore(facts, block, at)) && !Leaves(facts, outside, block);
      const auto later = [&](NodeId n) { return !ours(n) || NotBefore(facts, block, n); };
      const bool starts_later = of_graph && std::ranges::all_of(chain, later);
      if (TakesIn(facts, block) || (!over && !starts_later)) {
        wrong.push_back({block, one.range.offset});
      }
    }
  }
  return wrong;
}

}  // namespace graphkit
