// Memory in which blocks lie where a plan says. No plan is trusted: a block goes to its place only
// if all who lay there may be followed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/alloc/chunks/chain_waits.h"
#include "libgraphkit/alloc/chunks/indexed_map.h"
#include "libgraphkit/alloc/models/driver_memory.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/units.h"

namespace graphkit {

class PlanArena {
 public:
  PlanArena(Address address, Bytes size) : address_(address), size_(size) {}

  // Puts the block at the offset. False, and nothing changes: it doesn't fit in, or one who lay
  // there last may not be followed (`may_follow(last)`).
  template <typename MayFollow>
  bool Take(Bytes offset, Bytes size, BlockId block, const MayFollow& may_follow) {
    if (offset > size_ || size > size_ - offset) return false;
    const Interval<Bytes> bytes{offset, offset + size};
    const auto visit = [&](const auto& last) { return may_follow(last.value); };
    if (!occupants_.Visit(bytes, visit)) return false;
    occupants_.Add(bytes, block);
    return true;
  }

  Address address() const { return address_; }
  Bytes size() const { return size_; }

 private:
  Address address_;
  Bytes size_;
  IntervalMap<BlockId> occupants_;  // who lay where last
};

// Order in a graph while it is being captured. The driver is asked for the edges of nodes as they
// come into sight, each once; what follows from them is proved by analysis/order/order.h.
//
//     capture so far      a0 ── a1 ── a2        seen from a2: a0, a1, a2
//                           ╲                   seen from b0: nothing more but b0
//                            b0                 a1 isn't before b0: memory that a1 used stays
//
// A node that follows another one by a programmatic edge doesn't prove that it has ended: nothing
// is known of whether kernels wait for their grid dependencies.

// An edge, or an entry of a stream's frontier, as the driver tells it.
struct LiveEdge {
  uint64_t node = 0;  // its handle
  uint8_t from_port = 0;
  uint8_t type = 0;
  bool full() const { return from_port == 0 && type == 0; }
  bool operator==(const LiveEdge&) const = default;
};

class LiveOrder {
 public:
  // Adds the edges that lead to a node. False: they aren't known.
  using EdgesInto = std::function<bool(uint64_t node, std::vector<LiveEdge>* in)>;
  LiveOrder(EdgeRule rule, EdgesInto edges_into)
      : edges_into_(std::move(edges_into)), order_(rule) {}

  // Where the next node of a stream that stands there would start. Nothing: edges couldn't be had,
  // and so nothing is proved in this capture any more.
  std::optional<OrderPoint> PointAfter(std::span<const LiveEdge> frontier);

  // Adds what must have ended so that all that a stream did has ended, when it stands at
  // `frontier`: the frontier's nodes, and from the node `since` on (nodes() at a time before the
  // stream did what matters) all whose end no other node waits for and these don't prove; those of
  // other streams among them: that they aren't before the frontier isn't looked at, so a block may
  // wait longer than it must. False: too many, or not known.
  bool AddMarkers(std::span<const LiveEdge> frontier, size_t since, std::vector<NodeId>* markers);

  const Order& order() const { return order_; }
  size_t nodes() const { return order_.nodes(); }

 private:
  static constexpr size_t kMostMarkers = 64;

  struct Open {  // a node whose edges are being followed
    uint64_t node = 0;
    std::vector<LiveEdge> in;
    size_t next = 0;
  };

  bool Learn(uint64_t node);
  bool Enter(uint64_t node);
  void Add(const Open& open);
  void AddLoose(NodeId node);
  bool IsMarker(NodeId node, std::span<const NodeId> ends) const;

  EdgesInto edges_into_;
  Order order_;
  std::unordered_map<uint64_t, NodeId> ids_;  // by handle
  std::vector<Open> open_;
  std::vector<NodeId> loose_;  // in order: with an edge to a node that doesn't wait for their end
  std::vector<LiveEdge> last_frontier_;
  OrderPoint last_point_;
  bool broken_ = false;
};

// The memory that captures share, served while they go on: a private pool of graphs that are
// launched one after the other.
//
// A block is handed on by the rule `xstream` of policy.h: to a malloc of any stream, once all that
// the block's streams did up to its free is ordered before that stream's place in the graph. What
// is still held back when a capture ends is free in the captures that come after it.
//
//     stream A   malloc x   use x                     malloc y: takes x's memory, as the wait
//     stream B              use x   free x            │         has come
//                                         └── wait ───┘
//
// Blocks go to the smallest stretch that they may have, the lowest of equals, in segments by the
// rules of the caching allocator: first of what their stream had last, or what is left of an
// earlier capture, then of what other streams hand on. Otherwise a stream's small blocks lie in the
// holes of another one's large ones, which doesn't get them back before it waits. Or they lie where
// a plan says. Not for several threads.

// Who asks: a stream of a capture, and where it stands. No point: nothing is known of it.
struct LiveAsker {
  uint64_t capture = 0;
  uint64_t stream = 0;
  const LiveOrder* order = nullptr;  // of the capture; must live until EndCapture
  std::optional<OrderPoint> point = {};
};

struct LivePoolFigures {
  Bytes reserved = 0;  // in segments and in plans' arenas
  Bytes used = 0;      // in blocks that aren't freed
  Bytes peak_used = 0;
  uint64_t mallocs = 0;
  uint64_t found = 0;     // frees that order proved in their capture
  uint64_t deferred = 0;  // frees that waited for the end of their capture
  Bytes deferred_bytes = 0;
  bool operator==(const LivePoolFigures&) const = default;
};

class LivePool {
 public:
  // The driver must outlive the pool. Segments are given back by Release only.
  LivePool(const CachingConfig& config, DriverMemory* driver);

  // A capture that blocks may be freed in; a malloc begins its own.
  void BeginCapture(const LiveAsker& asker) { CaptureOf(asker); }
  // Finds the blocks that the stream may take at once, not by its next malloc.
  void Progress(const LiveAsker& asker);

  // Nothing: out of memory. The block's size is rounded up.
  std::optional<BlockId> Malloc(Bytes size, const LiveAsker& asker);
  // At an offset of an arena. Nothing: a block lies there, or lay there and isn't known to be
  // over; with `trusted`, the plan is believed in the latter case.
  std::optional<BlockId> MallocAt(PlanArena* arena, Bytes offset, Bytes size,
                                  const LiveAsker& asker, bool trusted);

  // The block's memory may be taken when all markers, nodes of the capture (begun), have ended.
  void Free(BlockId block, uint64_t capture, std::span<const NodeId> markers);
  // The same, but when that is isn't known: at the capture's end.
  void FreeAtEnd(BlockId block, uint64_t capture);
  // Freed outside of captures: free for every stream.
  void FreeNow(BlockId block);
  void EndCapture(uint64_t capture);

  // A plan's arena, got from the driver. Null: out of memory.
  // `lendable`: what of it may be lent; none: all that Lendable() finds.
  PlanArena* AddArena(Bytes size, const std::optional<std::vector<Interval<Bytes>>>& lendable = {});
  // Memory that no launch of the pool's graphs leaves anything in, by address, each range in one
  // segment: all but the blocks that aren't freed, or weren't freed in the capture that made them.
  // Not while a capture goes on.
  std::vector<Interval<Address>> Lendable() const;
  // Gives all memory back. No block may be in use, and no graph of the pool may be launched again.
  void Release();

  Address address(BlockId block) const { return blocks_[block.index()].address; }
  Bytes size(BlockId block) const { return blocks_[block.index()].size; }
  // True if its memory could be taken so far.
  bool completed(BlockId block) const { return blocks_[block.index()].completed; }
  bool in_use() const { return figures_.used > 0; }
  const LivePoolFigures& figures() const { return figures_; }
  // Blocks whose memory could be taken by any stream for the first time since this was last called.
  std::vector<BlockId> TakeCompleted();

 private:
  static constexpr uint32_t kViews = 16;
  static constexpr uint32_t kNoOffers = kViews - 1;  // the view of streams that are too many

  enum class State : uint8_t { kUsed, kWaiting, kFree };  // free: for every stream
  struct Block {
    Address address = 0;
    Bytes size = 0;
    uint64_t stream = 0;
    State state = State::kUsed;
    bool in_arena = false;
    bool unproven = false;   // its markers aren't known
    bool completed = false;  // its memory could be taken
    bool outlived = false;   // freed, but not in its capture: a launch leaves something in it
    uint64_t made = 0;       // the capture in which it was allocated
    uint64_t capture = 0;    // in which it was freed
    std::vector<NodeId> markers = {};
  };
  // The memory that a stream of a capture may take.
  struct View {
    uint64_t stream = 0;
    uint32_t number = 0;
    OrderedView frees = {};  // of the capture
  };
  struct Capture {
    uint64_t id = 0;
    const LiveOrder* order = nullptr;
    std::vector<View> views = {};
    std::vector<BlockId> freed = {};  // by order
    std::vector<BlockId> at_end = {};
  };
  struct Segment {
    Bytes offset = 0;  // in the map
    Address address = 0;
    Bytes size = 0;
  };

  static IndexedMap::Options MapOptions(const CachingConfig& config);
  Capture& CaptureOf(const LiveAsker& asker);
  View& ViewOf(Capture* capture, uint64_t stream);
  View& Offer(const LiveAsker& asker);
  void Look(const Capture& capture, uint32_t freed, View* view);
  void Complete(BlockId block);
  void MakeFree(BlockId block);
  bool MayFollow(const Block& last, const LiveAsker& asker, bool trusted) const;
  bool Grow(Bytes size);
  BlockId NewBlock(Bytes size, const LiveAsker& asker);
  Address AddressOf(Bytes offset) const;
  void LetGo(BlockId block);

  CachingConfig config_;
  DriverMemory* driver_;
  IndexedMap map_;
  std::vector<Block> blocks_;
  std::vector<Segment> segments_;  // by offset
  std::vector<std::unique_ptr<PlanArena>> arenas_;
  std::vector<Interval<Address>> lendable_;  // all of the segments, and what the arenas lend
  std::vector<Capture> captures_;            // that go on
  uint32_t views_ = 0;                       // given out; again from 0 when no capture goes on
  std::vector<BlockId> completed_;
  LivePoolFigures figures_;
};

}  // namespace graphkit
