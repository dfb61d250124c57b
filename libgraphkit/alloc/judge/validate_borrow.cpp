#include "libgraphkit/alloc/judge/validate.h"

#include <algorithm>
#include <optional>

#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

// Of a block that lies at `begin`, the bytes that lie in a range; empty: none does.
Interval<Bytes> PartOf(Address begin, Bytes size, Address range, Bytes range_size) {
  const Address from = std::max(begin, range);
  const Address to = std::min(begin + size, range + range_size);
  return from < to ? Interval<Bytes>{from - begin, to - begin} : Interval<Bytes>{};
}

// An access by address, of a node or of work outside of graphs.
struct Reached {
  Interval<Address> bytes;
  NodeId node = {};     // none: outside of graphs
  GraphId graph = {};   // its root
  Seq seq = kNever;     // outside of graphs
  bool reads = true;    // or may
  bool nowhere = true;  // no block lay there then
};

// Of a block's accesses one that meets a piece of it, and so covers it.
struct PieceUse {
  NodeId node;
  GraphId root;
  AccessMode mode = AccessMode::kUnknown;
  bool known = false;               // its length
  std::optional<Access> gaps = {};  // it has rows, with bytes between them that it leaves alone
};

bool OfOwnGraph(const Facts& facts, BlockId block, NodeId node) {
  return facts.roots()[facts.trace[node].graph.index()] == facts.lives()[block].root;
}

class Judge {
 public:
  explicit Judge(const Facts& facts) : facts_(facts), trace_(facts.trace) {
    const std::vector<bool>& backs = facts.lives().backs_segment;
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      if (backs[i] || !facts.lives().blocks[i].root || trace_.blocks[i].address == 0) continue;
      blocks_.Add(AddressesOf(trace_.blocks[i]), BlockId(i));
    }
    blocks_.Sort();
    for (const auto& [i, node] : Enumerate(trace_.nodes)) {
      for (const Access& access : trace_.accesses.Of(node.accesses)) {
        if (access.block.index() >= backs.size() || !backs[access.block.index()]) continue;
        Add({.bytes = BytesOf(access, true),
             .node = NodeId(i),
             .graph = facts.roots()[node.graph.index()],
             .reads = access.mode != AccessMode::kWrite});
      }
    }
    for (const EagerWork& work : trace_.works) {
      for (const Access& access : trace_.accesses.Of(work.accesses)) {
        if (access.block.index() >= trace_.blocks.size()) continue;
        const bool segment = backs[access.block.index()];
        Add({.bytes = BytesOf(access, segment),
             .seq = work.seq,
             .nowhere = segment || trace_[access.block].free_completed <= work.seq});
      }
    }
    reached_.Sort();
  }

  // True if a launch may find in those bytes of a block what was there before it.
  bool Found(BlockId block, Interval<Bytes> bytes) const {
    return std::ranges::any_of(Pieces(block, bytes), [&](const Interval<Bytes>& piece) {
      return FoundInPiece(block, piece);
    });
  }

  // True if what a launch leaves there is needed later.
  bool Leaves(BlockId id, Interval<Bytes> bytes) const {
    const BlockLife& life = facts_.lives()[id];
    const Block& block = trace_[id];
    if (!life.freed || (life.foreign && life.escaped)) return true;
    return AnyReached(
        {block.address + bytes.begin, block.address + std::min(bytes.end, block.size)},
        [&](const Reached& one) { return !one.node && one.seq > block.free_requested; });
  }

  // True if every launch writes all of those bytes.
  bool WrittenAnew(BlockId block, Interval<Bytes> bytes) const {
    return std::ranges::all_of(Pieces(block, bytes), [&](const Interval<Bytes>& piece) {
      return std::ranges::any_of(UsesOf(block, piece),
                                 [&](const PieceUse& use) { return WritesAlways(block, use); });
    });
  }

  // True if something touches addresses where no block lies, other than launches of the graphs that
  // have written them before.
  bool Stray(Interval<Address> bytes, std::span<const GraphId> graphs, Seq first) const {
    return AnyReached(bytes, [&](const Reached& one) {
      if (!one.node) return one.nowhere && one.seq >= first;
      if (std::ranges::find(graphs, one.graph) == graphs.end()) return true;
      return one.reads && !WrittenBefore(one, Common(one.bytes, bytes));
    });
  }

 private:
  void Add(const Reached& one) { reached_.Add(one.bytes, one); }

  // Without a length: to the end of the block; of a segment to that of the longest block that ever
  // lay there, and of itself where none did.
  Interval<Address> BytesOf(const Access& access, bool segment) const {
    const Block& block = trace_[access.block];
    const Address begin = block.address + std::min(access.offset, block.size);
    if (access.length != kLengthUnknown) return {begin, begin + access.length};
    Address end = 0;
    if (segment) {
      blocks_.Visit({begin, begin + 1},
                    [&](Interval<Address> own, BlockId) { end = std::max(end, own.end); });
    }
    return {begin, end != 0 ? end : block.address + block.size};
  }

  template <typename Test>
  bool AnyReached(Interval<Address> bytes, Test test) const {
    bool any = false;
    reached_.Visit(bytes, [&](Interval<Address>, const Reached& one) { any = any || test(one); });
    return any;
  }

  Interval<Bytes> BytesIn(const Access& access) const {
    return graphkit::BytesOf(access, trace_[access.block].size);
  }

  // All bytes of a piece are touched by the same accesses.
  std::vector<Interval<Bytes>> Pieces(BlockId block, Interval<Bytes> bytes) const {
    const Bytes size = trace_[block].size;
    std::vector<Bytes> cuts = {std::min(bytes.begin, size), std::min(bytes.end, size)};
    ForEachAccess(trace_, facts_.lives(), block, [&](NodeId, const Access& access) {
      const Interval<Bytes> touched = BytesIn(access);
      for (const Bytes cut : {touched.begin, touched.end}) {
        if (cuts[0] < cut && cut < cuts[1]) cuts.push_back(cut);
      }
    });
    std::ranges::sort(cuts);
    std::vector<Interval<Bytes>> pieces;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i] < cuts[i + 1]) pieces.push_back({cuts[i], cuts[i + 1]});
    }
    return pieces;
  }

  std::vector<PieceUse> UsesOf(BlockId block, Interval<Bytes> piece) const {
    std::vector<PieceUse> uses;
    ForEachAccess(trace_, facts_.lives(), block, [&](NodeId node, const Access& access) {
      if (!Overlaps(BytesIn(access), piece)) return;
      const GraphId root = facts_.roots()[trace_[node].graph.index()];
      uses.push_back({node, root, access.mode, access.length != kLengthUnknown});
      if (access.rows.width != 0) uses.back().gaps = access;
    });
    return uses;
  }

  bool FoundInPiece(BlockId block, Interval<Bytes> piece) const {
    const BlockLife& life = facts_.lives()[block];
    const std::vector<PieceUse> uses = UsesOf(block, piece);
    for (const PieceUse& use : uses) {
      if (use.root != life.root) {
        if (life.elsewhere) return true;
      } else if (use.mode != AccessMode::kWrite && !ReadsItsOwn(block, use) &&
                 !WrittenBefore(block, uses, use)) {
        return true;
      }
    }
    const auto begins = [&](const PieceUse& use) {
      return WritesAlways(block, use) && ComesFirst(block, use.node);
    };
    if (life.escaped && TouchedByOwn(block) && std::ranges::none_of(uses, begins)) return true;
    const Address at = trace_[block].address;
    const Interval<Address> bytes{at + piece.begin, at + piece.end};
    return AnyReached(bytes, [&](const Reached& one) {
      if (!one.node) return false;
      if (one.graph != life.root) return true;
      return one.reads && !WrittenBefore(one, Common(one.bytes, bytes));
    });
  }

  bool WrittenBefore(BlockId block, std::span<const PieceUse> uses, const PieceUse& reader) const {
    return std::ranges::any_of(uses, [&](const PieceUse& use) {
      return use.root == reader.root && use.node != reader.node && Writes(block, use) &&
             (!use.gaps || SameRows(*use.gaps, reader.gaps)) &&
             facts_.order().Before(use.node, reader.node) && RunsWith(use.node, reader.node);
    });
  }
  // Both begin with the same row, so that one that ends later has more of the same rows, which lie
  // in other pieces.
  static bool SameRows(const Access& write, const std::optional<Access>& read) {
    return read && write.offset == read->offset && write.rows == read->rows;
  }

  // The same by address: the blocks of the graph that lie there are what may be written.
  bool WrittenBefore(const Reached& one, Interval<Address> bytes) const {
    std::vector<Interval<Address>> written;
    blocks_.Visit(bytes, [&](Interval<Address> own, BlockId block) {
      if (facts_.lives()[block].root != one.graph) return;
      const Address at = own.begin;
      const Interval<Address> there = Common(bytes, own);
      for (const Interval<Bytes>& piece : Pieces(block, {there.begin - at, there.end - at})) {
        const PieceUse reader{.node = one.node, .root = one.graph};
        if (!WrittenBefore(block, UsesOf(block, piece), reader)) continue;
        written.push_back({at + piece.begin, at + piece.end});
      }
    });
    std::ranges::sort(written, {}, &Interval<Address>::begin);
    Address reached = bytes.begin;
    for (const Interval<Address>& part : written) {
      if (part.begin <= reached) reached = std::max(reached, part.end);
    }
    return reached >= bytes.end;
  }

  bool TouchedByOwn(BlockId block) const {
    return std::ranges::any_of(facts_.lives().Touches(block), [&](const NodeId touch) {
      return OfOwnGraph(facts_, block, touch);
    });
  }
  // No other node of the graph is likely to touch the block before.
  bool ComesFirst(BlockId block, NodeId node) const {
    if (!OfOwnGraph(facts_, block, node)) return false;
    return std::ranges::none_of(facts_.lives().Touches(block), [&](const NodeId touch) {
      return OfOwnGraph(facts_, block, touch) && facts_.likely_order().Before(touch, node);
    });
  }
  // A node that may both read and write writes first, where nothing can be there.
  bool ReadsItsOwn(BlockId block, const PieceUse& use) const {
    return use.mode == AccessMode::kUnknown && ComesFirst(block, use.node);
  }
  bool Writes(BlockId block, const PieceUse& use) const {
    if (use.mode == AccessMode::kRead || use.mode == AccessMode::kReadWrite) return false;
    if (!trace_.completeness.unapplied.empty()) return false;
    const ChangedNode* changed = FindChanged(trace_, use.node);
    if (changed != nullptr && changed->varies) return false;
    return (use.mode == AccessMode::kWrite && use.known) || ComesFirst(block, use.node);
  }

  // All of the piece, in every launch of its graph.
  bool WritesAlways(BlockId block, const PieceUse& use) const {
    return use.root == facts_.lives()[block].root && Writes(block, use) && !use.gaps &&
           BodiesOf(use.node).empty();
  }

  // Bodies of conditionals that a node is in.
  std::vector<GraphId> BodiesOf(NodeId node) const {
    std::vector<GraphId> bodies;
    for (GraphId graph = trace_[node].graph; trace_[graph].parent;) {
      const Node& holder = trace_[trace_[graph].parent];
      if (holder.kind == NodeKind::kConditional) bodies.push_back(graph);
      graph = holder.graph;
    }
    return bodies;
  }
  bool RunsWith(NodeId node, NodeId other) const {
    const std::vector<GraphId> bodies = BodiesOf(node);
    if (bodies.empty()) return true;
    const std::vector<GraphId> of_other = BodiesOf(other);
    return std::ranges::all_of(
        bodies, [&](GraphId body) { return std::ranges::find(of_other, body) != of_other.end(); });
  }

  const Facts& facts_;
  const Trace& trace_;
  RangeIndex<BlockId> blocks_;  // of captures
  RangeIndex<Reached> reached_;
};

// By pool: the launches of graphs that allocated in it, from the first to the last. None:
// {kNever, 0}.
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
  return found;
}

// Each range lies in a segment, behind the one before it, and nothing strays into it.
void CheckRanges(const Judge& judge, const PoolBorrow& pool, std::span<const Segment> by_address,
                 Seq first_launch, uint64_t* looked, std::vector<WrongBorrow>* wrong) {
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
void CheckBlock(const Facts& facts, const Judge& judge, const PoolBorrow& pool, BlockId id,
                std::pair<Seq, Seq> launches, std::vector<WrongBorrow>* wrong) {
  const Block& block = facts.trace[id];
  // From the first range on that ends behind the block's begin.
  auto range = std::ranges::upper_bound(pool.free, block.address, {}, &Interval<Address>::end);
  for (; range != pool.free.end() && range->begin < block.address + block.size; ++range) {
    const auto part = PartOf(block.address, block.size, range->begin, range->size());
    const bool exists = block.allocated < launches.second && block.free_completed > launches.first;
    const bool of_graph = facts.lives()[id].root.valid();
    if (of_graph ? !judge.Found(id, part) && !judge.Leaves(id, part) : !exists) continue;
    wrong->push_back({id, range->begin});
    return;
  }
}

// True if a loop that a block doesn't live in holds both nodes: then each comes after the other.
bool InOneLoop(const Facts& facts, BlockId id, NodeId a, NodeId b) {
  const Trace& trace = facts.trace;
  for (GraphId body = trace[a].graph; trace[body].parent;) {
    const Node& holder = trace[trace[body].parent];
    if (MayRepeat(holder) && IsWithin(trace, trace[b].graph, body) &&
        !IsWithin(trace, facts.lives()[id].alloc.graph, body)) {
      return true;
    }
    body = holder.graph;
  }
  return false;
}

// True if all that a block is used for in its graph is over before `at` starts.
bool OverBefore(const Facts& facts, BlockId id, NodeId at) {
  const BlockLife& life = facts.lives()[id];
  const auto before = [&](NodeId node) { return facts.order().Before(node, at); };
  const auto touch_before = [&](const NodeId touch) {
    if (!OfOwnGraph(facts, id, touch)) return true;  // Judge looks at these
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
  const Trace& trace = facts.trace;
  std::vector<WrongBorrow> wrong;
  uint64_t looked = 0;
  const Judge judge(facts);
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
  const Judge judge(facts);
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
  const Judge judge(facts);
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
