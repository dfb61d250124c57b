// Blocks laid out so that what may follow a block is a range: a lane is a row of births (blocks, in
// capture order) whose allocation points come one after another, so that if x is before one of
// them, it is before all that follow in the lane.
//
//     lane 0 (stream a)   a0   a1   a2   a3        x dies here ─┐
//     lane 1 (stream b)      b0   b1      b2        before: a2, a3 | b2
//
// Nearly always a lane is a stream. A block that may be touched before its allocation point goes to
// a lane beside its stream's. Where there are many streams, a birth goes to another stream's lane
// where it comes after all of it; also if no block died on its own stream that isn't dead where the
// stream was forked:
//
//     a: ─┬──────────┬─ next                 no block died on b before x: x is born where b was
//     b:  └─ k0 ── x ┘                       forked, and may be in a's lane
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class Lanes {
 public:
  // `blocks` in capture order, all of one root graph. Items are their indices.
  Lanes(const BlockOrder& order, std::span<const BlockId> blocks);

  size_t size() const { return items_.size(); }
  size_t lanes() const { return lanes_.size(); }
  BlockId block(uint32_t item) const { return items_[item].block; }
  Bytes weight(uint32_t item) const {
    return RoundUp(trace()[items_[item].block].size, kBlockGranularity);
  }
  uint32_t lane(uint32_t item) const { return items_[item].lane; }
  std::span<const uint32_t> births(uint32_t lane) const { return births_.Of(lane); }
  // Items that had to be left out, because they fit in no lane.
  size_t left_out() const { return left_out_; }
  Bytes left_out_bytes() const { return left_out_bytes_; }

  // True if x is before y. Same as BlockOrder::Before, faster where it is simple.
  bool Before(uint32_t x, uint32_t y) const {
    const Item& from = items_[x];
    const Item& to = items_[y];
    if (!from.dies) return false;
    if (from.simple && to.plain) {
      return x != y && order_.order().CountAt(Alloc(y), from.chain) > from.seq;
    }
    return order_.Before(from.block, to.block);
  }
  bool Dies(uint32_t item) const { return items_[item].dies; }
  // True if it is before a birth once its markers are, and it comes after FirstAfter(): they lie in
  // the root graph, and nothing else counts.
  bool Regular(uint32_t item) const { return items_[item].regular; }
  std::span<const NodeId> Markers(uint32_t item) const {
    return order_.lives().Markers(items_[item].block, order_.rule());
  }
  // No earlier item can be after this one: where it was freed, if its free counts as a use.
  uint32_t FirstAfter(uint32_t item) const;
  // True if it is touched after its allocation point only, in the root graph.
  bool Plain(uint32_t item) const { return items_[item].plain; }
  const OrderPoint& Alloc(uint32_t item) const { return AllocOf(items_[item]); }
  const Order& order() const { return order_.order(); }
  const Trace& trace() const { return order_.trace(); }
  // True if births in capture order before x can come after it: other bodies of a conditional.
  bool AnyOrder(uint32_t item) const { return items_[item].nested; }

 private:
  struct Item {  // 16 bytes: there are as many as blocks
    BlockId block;
    uint32_t chain = 0;  // simple: its one marker
    uint32_t seq = 0;
    uint32_t lane : 26 = 0;
    bool dies : 1 = false;
    bool simple : 1 = false;  // one marker in the root graph, and nothing else counts
    bool plain : 1 = false;   // touched after its allocation point only, in the root graph
    bool nested : 1 = false;  // in an embedded graph
    bool regular : 1 = false;
    bool by_streams : 1 = false;  // Lifetimes::ByStreams
  };
  struct Lane {
    uint32_t chain = 0;
    uint32_t last = 0;    // of its births so far
    bool shared = false;  // with births of other chains
  };

  Item MakeItem(BlockId block) const;
  const OrderPoint& AllocOf(const Item& item) const {
    if (reduces_) {
      if (const auto at = reduced_.find(item.block.value); at != reduced_.end()) return at->second;
    }
    return order_.lives()[item.block].alloc;
  }
  std::span<const NodeId> EarlyNodes(const Item& item) const {
    return order_.lives().EarlyNodes(item.block, order_.rule());
  }
  bool EndCovers(std::span<const NodeId> nodes, const OrderPoint& point) const;
  bool Follows(const Item& later, const Item& earlier) const;
  bool Covered(const Item& later, const OrderPoint& point) const;
  bool Place(uint32_t item);
  bool PlaceReduced(std::span<const uint32_t> lanes, bool shared, uint32_t item);
  bool PlaceIn(std::span<const uint32_t> lanes, uint32_t item);
  void NoteDeaths(std::span<const BlockId> blocks);
  void Reduce(const Item& item);

  BlockOrder order_;
  std::vector<Item> items_;
  std::vector<Lane> lanes_;
  Grouped births_;                                                // by lane
  std::unordered_map<uint32_t, std::vector<uint32_t>> by_chain_;  // lanes
  // With many lanes: by chain, the places of markers; allocation points that were moved back, by
  // block; and the lanes that births of other chains went to last, or that were opened.
  std::unordered_map<uint32_t, std::vector<uint32_t>> deaths_;
  std::unordered_map<uint32_t, OrderPoint> reduced_;
  std::vector<uint32_t> recent_;
  bool noted_ = false;    // deaths_ are known, or can't help
  bool reduces_ = false;  // they can
  size_t left_out_ = 0;
  Bytes left_out_bytes_ = 0;
};

}  // namespace graphkit
