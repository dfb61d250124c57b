// Which freed blocks a stream's next malloc may take, as order proves it: each block is found once
// for each stream, by the first malloc of the stream that comes after all its markers, without
// looking at those that still wait.
//
// A malloc is after a count of each chain's nodes, and a stream's mallocs never go back. So freed
// blocks stand in a row for each chain, by the place of their last marker, and each stream goes
// along the row, as far as its mallocs are:
//
//     chain 1     [2: u] [7: x] [9: y] [14: z]      a malloc of stream 0 after 8 nodes of chain 1
//     stream 0           ^ finds x, goes on to y    finds x, if x's other markers are before it as
//     stream 1                         ^            well; otherwise x waits for one of those
//
// What waits for another marker, or is freed after much that was used later, is in heaps that each
// stream has for itself, one a chain, by place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/block_order.h"

namespace graphkit {

// For a graph all of whose blocks are plain (PlainBlocks). The order must outlive it.
class FreedByOrder {
 public:
  // `shared`: every stream gets to know every block; otherwise its own ones only.
  FreedByOrder(const BlockOrder& order, bool shared);

  // The block's free is requested.
  void Free(BlockId block);
  // Adds to `found` what this malloc is the first of its stream to be after.
  void BeforeMalloc(BlockId block, std::vector<BlockId>* found);

 private:
  // What a freed block's taker must be after.
  struct Freed {
    BlockId block;
    uint32_t first = 0;  // of its markers' places
    uint32_t count = 0;
    bool alloc = false;  // and the block's allocation
  };
  struct InRow {
    uint32_t place = 0;  // in the chain
    uint32_t freed = 0;
  };
  struct Row {
    uint32_t chain = 0;
    std::vector<InRow> blocks;  // by place
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
  // Blocks that some streams look at: everybody's, or one stream's own.
  struct List {
    std::vector<Freed> freed;
    std::vector<uint32_t> apart;  // that are in no row
    std::vector<Row> rows;
    std::vector<uint32_t> row_of;  // by chain
    std::vector<StreamId> readers;
  };
  struct Stream {
    bool reads = false;
    size_t apart = 0;              // so many of those in no row were seen
    OrderPoint point;              // of its last malloc
    std::vector<uint32_t> passed;  // of each row
    std::vector<uint32_t> ahead;   // rows that it isn't through with
    std::vector<uint32_t> late;    // came into a row where it had passed
    std::vector<Heap> heaps;
    std::vector<uint32_t> again;  // what waits for no single marker
  };

  uint32_t ListOf(StreamId stream) const { return shared_ ? 0 : stream.value; }
  bool ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const;
  void StartReading(StreamId id, Stream* stream, List* list);
  bool PutInRow(uint32_t freed, const ChainPlace& place, List* list);
  uint32_t RowOf(uint32_t chain, List* list);
  void Insert(uint32_t row, size_t at, const InRow& block, List* list);
  void GoAlong(const List& list, const OrderPoint& point, Stream* stream,
               std::vector<BlockId>* found);
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
  std::vector<Stream> streams_;     // by stream
  std::vector<List> lists_;         // by stream; shared: [0] is everybody's
  std::vector<ChainPlace> places_;  // of the freed blocks' markers, the last one first
};

// Whether of these blocks of one graph it is known when they may be taken from the place of a
// malloc in its stream alone: no block is touched before its allocation is ordered before, none
// lives in a conditional's body or a child graph, each has a stream, and no stream's mallocs go
// back.
bool PlainBlocks(const BlockOrder& order, GraphId graph, std::span<const BlockId> blocks);

}  // namespace graphkit
