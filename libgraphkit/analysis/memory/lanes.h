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
  const Ran& trace() const { return order_.trace(); }
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
};

// For each block and each lane, the first birth that the block is before: found once for all, so
// that windows needn't search for it.
//
// The births of a lane see ever more of each chain. So for one lane and one chain, the blocks whose
// marker lies on that chain come out in the order of their markers, and a pointer that only moves
// forwards finds them all. All lanes are walked together, in capture order: what they look at lies
// close together then.
//
//     births of a lane      b0      b1       b2         count of chain c there: 1, 1, 4
//     markers on chain c    x(0)  y(1)  z(2)  w(4)      first births: x b0; y, z b2; w none

class Exits {
 public:
  static constexpr uint32_t kNever = 0xffffffffu;    // before none of them
  static constexpr uint32_t kUnknown = 0xfffffffeu;  // ask Lanes::Before

  // `lanes` must outlive it.
  explicit Exits(const Lanes& lanes);

  // An item; kNever; or kUnknown, where the order isn't that simple or the birth is far away.
  uint32_t Of(uint32_t item, uint32_t lane) const {
    if (deltas_.empty()) return kUnknown;
    const uint16_t delta = deltas_[static_cast<size_t>(item) * lanes_.lanes() + lane];
    if (delta >= kFar) return delta == kFar ? kUnknown : kNever;
    return item + delta;
  }
  // True if an item is before a birth of a lane: the same as Lanes::Before.
  bool Before(uint32_t item, uint32_t birth) const {
    const uint32_t exit = Of(item, lanes_.lane(birth));
    return exit == kUnknown ? lanes_.Before(item, birth) : exit <= birth;
  }

 private:
  // Values of deltas_: how far away the birth is; kFar: the order has to be asked; above it: how
  // many of the block's markers the lane hasn't come after.
  static constexpr uint16_t kFar = 0xfeff;
  static constexpr uint16_t kMostMarkers = 0xff;

  // A marker of a block, on a chain.
  struct Mark {
    uint32_t seq;
    uint32_t item;
  };

  // How far the walk has come in one lane.
  struct Walk {
    bool plain = false;
    OrderPoint last = {};
    std::vector<size_t> next = {};  // of the marks of each chain, by place in chains_
  };

  bool SortMarkers();
  void SetUp(std::vector<Walk>* walks);
  void Step(uint32_t birth, Walk* walk);
  void Pass(uint32_t birth, uint32_t item);

  const Lanes& lanes_;
  std::vector<uint32_t> chains_;          // that have markers
  std::vector<std::vector<Mark>> marks_;  // by place in chains_, by seq
  std::vector<uint8_t> markers_;          // by item: how many; 0: not that simple
  std::vector<uint16_t> deltas_;          // by item and lane
};

}  // namespace graphkit
