// Which freed blocks a stream's next malloc may take, as order proves it: each block is found once
// for each stream, by the first malloc of the stream that comes after all its markers, without
// looking at those that still wait.
//
// A malloc is after a count of each chain's nodes, and a stream's mallocs never go back: what one
// of them is after, the next one is after as well. The blocks that were freed last stand in few
// slots, where each stream's malloc looks at those that the stream hasn't found. Where slots run
// out, a block goes to heaps that each stream has for itself, one for each chain, by the place of a
// marker that the stream's mallocs aren't after:
//
//     slots        x    y    z          z comes when all slots are taken: x makes room, and
//     stream 0     .         .          waits for stream 0 in its heaps
//     stream 1          .    .          stream 1 has found x, and looks at y and z
//
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/chunks/view_slots.h"
#include "libgraphkit/analysis/memory/block_order.h"

namespace graphkit {

// For a graph all of whose blocks are plain (PlainBlocks). The order must outlive it.
class FreedByOrder {
 public:
  // `shared`: every stream gets to know every block; otherwise its own ones only. `slots`: where to
  // say what streams find in slots, each a view, numbered by their first mallocs; at most 64
  // streams. Null: it is found like everything else. Must outlive it.
  FreedByOrder(const BlockOrder& order, bool shared, ViewSlots* slots = nullptr);

  // The block's free is requested.
  void Free(BlockId block);
  // Adds to `found` what this malloc is the first of its stream to be after; but for what the
  // stream finds in slots, if there are some.
  void BeforeMalloc(BlockId block, std::vector<BlockId>* found);
  // By the last of these calls.
  const SlotChanges& changes() const { return changes_; }

 private:
  // What a freed block's taker must be after.
  struct Freed {
    BlockId block;
    bool alloc = false;  // its allocation beside its markers
  };
  // A block, from the first of its markers on that the stream isn't known to be after.
  struct Waiting {
    uint32_t place = 0;  // in the chain
    uint32_t freed = 0;
    uint32_t marker = 0;
    bool operator<(const Waiting& o) const { return place > o.place; }  // the lowest on top
  };
  struct Heap {
    uint32_t chain = 0;
    std::vector<Waiting> waiting;
  };
  static constexpr uint32_t kSlots = ViewSlots::kSlots;
  static constexpr size_t kColumns = 16;
  static constexpr uint8_t kNoColumn = 0xff;
  // By column, a chain: how many of its nodes have ended, or must have. 32 bits with a sign, as
  // machines compare several of these at once.
  using Counts = std::array<int32_t, kColumns>;
  // Blocks that some streams look at: all of them, or one alone.
  struct List {
    std::vector<Freed> freed;
    std::vector<StreamId> readers;
    std::vector<uint32_t> chains;          // by column
    std::vector<uint8_t> column_of;        // by chain
    std::array<Counts, kSlots> needs;      // by slot
    std::array<uint32_t, kSlots> in_slot;  // of the freed ones
    std::array<uint32_t, kSlots> lacking;  // by slot: how many readers haven't found it
    SlotMask used = 0;
    uint32_t next_out = 0;  // the slot that has to make room next
  };
  struct Stream {
    bool reads = false;
    uint32_t view = 0;              // its place among the readers
    OrderPoint point;               // of its last malloc
    SlotMask unfound = 0;           // slots
    SlotMask fresh = 0;             // of these, those that weren't looked at
    std::vector<uint32_t> outside;  // in no slot, and not looked at
    std::vector<Heap> heaps;
    std::vector<uint32_t> again;  // what waits for no single marker
  };

  uint32_t ListOf(StreamId stream) const { return shared_ ? 0 : stream.value; }
  bool ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const;
  void StartReading(StreamId id, Stream* stream, List* list);
  void ClearChanges();

  static uint8_t ColumnOf(uint32_t chain, List* list);
  bool FindNeeds(const Freed& freed, List* list, Counts* needs) const;
  Counts CountsAt(const OrderPoint& point, const List& list) const;
  bool PutInSlot(uint32_t freed, List* list);
  void MakeRoom(List* list);
  void Leave(uint32_t slot, List* list);
  void LookAtSlots(const OrderPoint& point, Stream* stream, List* list,
                   std::vector<BlockId>* found);
  // Of the slots those that a point with these counts is after, by so many columns.
  template <size_t kUsed>
  static SlotMask Passed(const List& list, SlotMask slots, const Counts& counts);
  void FindInSlot(uint32_t slot, const Stream& stream, List* list, std::vector<BlockId>* found);

  // The first of a block's markers, from `marker` on, that the point isn't after; their number. The
  // one captured last comes first.
  uint32_t FirstMissing(BlockId block, uint32_t marker, const OrderPoint& point) const;
  ChainPlace PlaceOf(BlockId block, uint32_t marker) const;
  // Whether the point is after the block, of which `marker` is the first place to look at;
  // otherwise it waits.
  bool Found(const List& list, uint32_t freed, uint32_t marker, const OrderPoint& point,
             Stream* stream);
  bool AfterAlloc(uint32_t freed, BlockId block, const OrderPoint& point, Stream* stream);
  static void Wait(const ChainPlace& place, uint32_t freed, uint32_t marker, Stream* stream);
  void LookAgain(const List& list, const OrderPoint& point, Stream* stream,
                 std::vector<BlockId>* found);
  void PopFrom(size_t heap, const List& list, const OrderPoint& point, Stream* stream,
               std::vector<BlockId>* found);

  const BlockOrder& order_;
  bool shared_;
  ViewSlots* slots_;
  SlotChanges changes_;
  std::vector<Stream> streams_;  // by stream
  std::vector<List> lists_;      // by stream; shared: [0] is for all
};

// Whether of these blocks of one graph it is known when they may be taken from the place of a
// malloc in its stream alone: no block is touched before its allocation is ordered before, none
// lives in a conditional's body or a child graph, each has a stream, and no stream's mallocs go
// back.
bool PlainBlocks(const BlockOrder& order, GraphId graph, std::span<const BlockId> blocks);

}  // namespace graphkit
