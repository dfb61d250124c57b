// What graphs and work outside of them need of memory that is lent: found for the validators of
// loans, apart from what plans them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Of a block that lies at `begin`, the bytes that lie in a range; empty: none does.
inline Interval<Bytes> PartOf(Address begin, Bytes size, Address range, Bytes range_size) {
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
  bool writes = false;  // surely, all of it
  bool eager = false;   // of a block that was allocated outside of captures
  bool handed = false;  // and that was there
};

// Of a block's accesses one that meets a piece of it, and so covers it.
struct PieceUse {
  NodeId node;
  GraphId root;
  AccessMode mode = AccessMode::kUnknown;
  bool known = false;               // its length
  std::optional<Access> gaps = {};  // it has rows, with bytes between them that it leaves alone
};

inline bool OfOwnGraph(const Facts& facts, BlockId block, NodeId node) {
  return facts.roots()[facts.trace[node].graph.index()] == facts.lives()[block].root;
}

class BorrowJudge {
 public:
  explicit BorrowJudge(const Facts& facts) : facts_(facts), trace_(facts.trace) {
    const std::vector<bool>& backs = facts.lives().backs_segment;
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      if (backs[i] || !facts.lives().blocks[i].root || trace_.blocks[i].address == 0) continue;
      blocks_.Add(AddressesOf(trace_.blocks[i]), BlockId(i));
    }
    blocks_.Sort();
    for (const NodeId id : trace_.graph_nodes) {
      const Node& node = trace_[id];
      for (const Access& access : trace_.accesses.Of(node.accesses)) {
        if (access.block.index() >= backs.size() || facts.lives()[access.block].root) continue;
        const bool segment = backs[access.block.index()];
        Add({.bytes = BytesOf(access, segment),
             .node = id,
             .graph = facts.roots()[node.graph.index()],
             .reads = access.mode != AccessMode::kWrite,
             .writes = WritesIn(id, access),
             .eager = !segment});
      }
    }
    for (const EagerWork& work : trace_.works) {
      for (const Access& access : trace_.accesses.Of(work.accesses)) {
        if (access.block.index() >= trace_.blocks.size()) continue;
        const bool segment = backs[access.block.index()];
        const bool eager = !segment && !facts.lives()[access.block].root;
        Add({.bytes = BytesOf(access, segment),
             .seq = work.seq,
             .eager = eager,
             .handed = eager && trace_[access.block].free_completed > work.seq});
        if (access.mode != AccessMode::kRead) filled_.insert(access.block);
      }
    }
    reached_.Sort();
    for (const auto& [i, launch] : Enumerate(trace_.launches)) {
      if (const GraphId graph = facts.ran()[i]) first_launch_.emplace(graph, launch.seq);
    }
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
    const auto first = first_launch_.find(life.root);
    if (first == first_launch_.end()) return false;
    const Seq since = std::max(block.free_requested, first->second);
    return AnyReached(
        {block.address + bytes.begin, block.address + std::min(bytes.end, block.size)},
        [&](const Reached& one) { return !one.node && !one.handed && one.seq > since; });
  }

  // True if every launch writes all of those bytes.
  bool WrittenAnew(BlockId block, Interval<Bytes> bytes) const {
    return std::ranges::all_of(Pieces(block, bytes), [&](const Interval<Bytes>& piece) {
      return std::ranges::any_of(UsesOf(block, piece),
                                 [&](const PieceUse& use) { return WritesAlways(block, use); });
    });
  }

  // True if something touches addresses as no block of a capture, other than launches of the graphs
  // that have written them before, and the program what it was handed out.
  bool Stray(Interval<Address> bytes, std::span<const GraphId> graphs, Seq first) const {
    return AnyReached(bytes, [&](const Reached& one) {
      if (!one.node) return !one.handed && one.seq >= first;
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
      if (!one.node || one.eager) return false;
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

  // The same by address: the blocks of the graph that lie there may be written, and bytes that are
  // in none of them.
  bool WrittenBefore(const Reached& one, Interval<Address> bytes) const {
    std::vector<Interval<Address>> written;
    reached_.Visit(bytes, [&](Interval<Address> own, const Reached& other) {
      const bool before = other.writes && other.graph == one.graph && other.node != one.node &&
                          facts_.order().Before(other.node, one.node) &&
                          RunsWith(other.node, one.node);
      if (before) written.push_back(Common(own, bytes));
    });
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
    return use.mode == AccessMode::kUnknown && ComesFirst(block, use.node) &&
           !filled_.contains(block);
  }
  bool Writes(BlockId block, const PieceUse& use) const {
    if (use.mode == AccessMode::kRead || use.mode == AccessMode::kReadWrite) return false;
    if (!DoesTheSame(use.node)) return false;
    return (use.mode == AccessMode::kWrite && use.known) ||
           (ComesFirst(block, use.node) && !filled_.contains(block));
  }
  bool WritesIn(NodeId node, const Access& access) const {
    return access.mode == AccessMode::kWrite && access.length != kLengthUnknown &&
           access.rows.width == 0 && DoesTheSame(node);
  }
  // In each launch.
  bool DoesTheSame(NodeId node) const {
    const ChangedNode* changed = FindChanged(trace_, node);
    return trace_.completeness.unapplied.empty() && (changed == nullptr || !changed->varies);
  }

  // All of the piece, in every launch of its graph.
  bool WritesAlways(BlockId block, const PieceUse& use) const {
    return use.root == facts_.lives()[block].root && Writes(block, use) && !use.gaps &&
           !facts_.nesting().InConditional(trace_[use.node].graph);
  }

  bool RunsWith(NodeId node, NodeId other) const {
    return !facts_.nesting().ConditionalApart(trace_[node].graph, trace_[other].graph).valid();
  }

  const Facts& facts_;
  const Ran& trace_;
  RangeIndex<BlockId> blocks_;  // of captures
  RangeIndex<Reached> reached_;
  std::set<BlockId> filled_;             // that work outside of graphs may have written
  std::map<GraphId, Seq> first_launch_;  // by root graph
};

}  // namespace graphkit
