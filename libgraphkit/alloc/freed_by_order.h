// Which freed blocks a stream's next malloc may take, as order proves it: each block is found once
// for each stream, by the first malloc of the stream that comes after all its markers, without
// looking at those that still wait.
//
// Of the markers that a malloc isn't after, a block waits for one: a place in a chain of nodes. A
// malloc is after a count of each chain's nodes, so what waits in a chain is a heap by place:
//
//     stream 0 waits for   chain 1: [7: x, 9: y]   chain 2: [4: z]
//     a malloc of stream 0 after 8 nodes of chain 1 and 2 of chain 2 finds x, if x's other markers
//     are before it as well; otherwise x waits for one of those
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
  struct Stream {
    size_t seen = 0;   // of the frees
    OrderPoint point;  // of its last malloc
    std::vector<Heap> heaps;
    std::vector<uint32_t> again;  // what waits for no single marker
  };

  uint32_t ListOf(StreamId stream) const { return shared_ ? 0 : stream.value; }
  // Whether the point is after the block, of which `marker` is the first place to look at;
  // otherwise it waits.
  bool Found(const std::vector<Freed>& list, uint32_t freed, uint32_t marker,
             const OrderPoint& point, Stream* stream);
  bool AfterAlloc(uint32_t freed, BlockId block, const OrderPoint& point, Stream* stream);
  void Wait(const ChainPlace& place, uint32_t freed, uint32_t marker, Stream* stream);
  void LookAgain(const std::vector<Freed>& list, const OrderPoint& point, Stream* stream,
                 std::vector<BlockId>* found);

  const BlockOrder& order_;
  bool shared_;
  std::vector<Stream> streams_;            // by stream
  std::vector<std::vector<Freed>> freed_;  // by stream; shared: [0] is everybody's
  std::vector<ChainPlace> places_;         // of the freed blocks' markers
};

// Whether of these blocks of one graph it is known when they may be taken from the place of a
// malloc in its stream alone: no block is touched before its allocation is ordered before, none
// lives in a conditional's body or a child graph, each has a stream, and no stream's mallocs go
// back.
bool PlainBlocks(const BlockOrder& order, GraphId graph, std::span<const BlockId> blocks);

}  // namespace graphkit
