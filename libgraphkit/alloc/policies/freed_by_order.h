// Which freed blocks a stream's next malloc may take, as order proves it: each block is found once
// for each stream, by the first malloc of the stream that comes after all its markers, without
// looking at those that still wait.
//
// A malloc is after a count of each chain's nodes, and a stream's mallocs never go back: what one
// of them is after, the next one is after as well. So a block waits for one marker at a time, in
// heaps that each stream has for itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/chunks/chain_waits.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/order/slice.h"

namespace graphkit {

// For a graph all of whose blocks are plain (PlainBlocks). The order must outlive it.
class FreedByOrder {
 public:
  // `streams`: of the graph, must outlive it. `shared`: every stream gets to know every block;
  // otherwise its own ones only.
  FreedByOrder(const BlockOrder& order, const Rows& streams, bool shared);

  // The block's free is requested.
  void Free(BlockId block);
  // Adds to `found` what this malloc is the first of its stream to be after.
  void BeforeMalloc(BlockId block, std::vector<BlockId>* found);

 private:
  // What a freed block's taker must be after.
  struct Freed {
    BlockId block;
    bool alloc = false;  // its allocation beside its markers
  };
  struct Stream {
    OrderPoint point;  // of its last malloc
    size_t seen = 0;   // of the freed blocks
    ChainWaits waits;
    std::vector<uint32_t> again;  // what waits for no single marker
  };

  size_t NumberOf(BlockId block) const {
    return rows_.NumberOf(order_.trace()[block].stream.index());
  }
  bool ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const;
  bool Found(const Freed& freed, uint32_t number, Stream* stream) const;

  const BlockOrder& order_;
  const Rows& rows_;
  bool shared_;
  std::vector<Stream> streams_;            // by stream of the graph
  std::vector<std::vector<Freed>> lists_;  // the same; shared: [0] is for all
};

// Whether of these blocks of one graph it is known when they may be taken from the place of a
// malloc in its stream alone: no block is touched before its allocation is ordered before, none
// lives in a conditional's body or a child graph, each has a stream, and no stream's mallocs go
// back.
bool PlainBlocks(const BlockOrder& order, const GraphSlice& slice, std::span<const BlockId> blocks);

}  // namespace graphkit
