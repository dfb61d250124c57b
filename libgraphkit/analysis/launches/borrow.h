// Memory of a pool that may be borrowed between two launches of its graphs: bytes that each
// launch surely writes before it reads them (first_writes.h), in which it leaves nothing for later,
// and that nothing else holds.
//
//     segment    | a, b in turn |  output  | c | never used |     a, b, c are freed in their
//     capture borrowed   [              ]          [                ]     the output bars its bytes
//
//     launches   graph 0 ───┐          ┌─── graph 1               a window: from the end of the one
//                           └─ window ─┘                          to the start of the next
//
// Blocks freed only after their capture stay barred: programs read such outputs by address (weak
// references), and graphs of one pool hand their results on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Why bytes aren't free between launches.
enum class BorrowBar : uint8_t {
  kOtherGraph,   // another graph touches the block, or its bytes when it isn't there
  kReadFirst,    // a launch may read them before it has surely written them
  kOutput,       // not freed before its capture ended: a launch leaves something in it
  kOtherStream,  // freed while one of its streams wasn't captured: that may use it after a launch
  kOutside,      // work outside of graphs touches them after the block's free
  kEager,        // allocated outside of captures, and there between launches or at the end
  kNoBlock,      // touched in a segment where no block ever lay
};
GRAPHKIT_NAMES(BorrowBar, "other graph", "read first", "output", "other stream", "used outside",
               "allocated outside", "no block")

struct BarredBlock {
  BlockId block;          // none: kNoBlock
  Interval<Bytes> bytes;  // in the block; kNoBlock: addresses
  BorrowBar why = BorrowBar::kOutput;
  // The content that a launch finds there counts, too: it doesn't surely write it before it is
  // read.
  bool found = false;
  bool operator==(const BarredBlock&) const = default;
};

// Between a launch of one graph and the next launch of a graph of the pool.
struct BorrowWindow {
  GraphId after;
  GraphId before;
  uint64_t count = 0;
  uint64_t unordered = 0;  // of them: the later launch isn't ordered after the earlier: no window
  // From call to call, less the first graph's longest path by measured durations; by the host's
  // clock. None: no times were recorded.
  std::optional<Nanoseconds> shortest_ns = {};
  std::optional<Nanoseconds> median_ns = {};
  bool operator==(const BorrowWindow&) const = default;
};

struct PoolBorrow {
  PoolId pool;
  std::vector<GraphId> graphs;          // that allocated in it, root graphs
  uint64_t launches = 0;                // of these
  Bytes reserved = 0;                   // in segments
  Bytes in_use = 0;                     // by the allocator, at the last launch
  std::vector<Interval<Address>> free;  // by address; each within one segment, as long as it gets
  std::vector<BarredBlock> barred;      // the largest first
  std::vector<BorrowWindow> windows;    // the most frequent first
  uint64_t looks = 0;  // at launches, graphs, segments and barred bytes, to find this
  bool operator==(const PoolBorrow&) const = default;

  Bytes free_bytes() const;
  Bytes largest() const;
};

// Bytes of a segment that nodes touch where no block of a capture lay then, or that work outside of
// graphs touches.
struct StrayBytes {
  PoolId pool;
  Interval<Address> bytes = {};
  GraphId root = {};    // none: outside of graphs
  BlockId block = {};   // that lay there then, allocated outside of captures
  bool found = false;   // read, and not surely written before by the same launch
  bool inside = false;  // blocks of captures lay there at other times
  Seq seq = 0;          // outside of graphs: the last one
  bool operator==(const StrayBytes&) const = default;
};

// Of blocks that were allocated in captures: by block. Of memory-alloc nodes all is the driver's.
// Of work outside of graphs counts what the trace holds (Process::all_work).
struct BorrowBars {
  std::vector<BarredBlock> blocks;  // by block
  std::vector<StrayBytes> strays;   // by pool

  std::span<const BarredBlock> Of(BlockId block) const {
    return {std::ranges::lower_bound(blocks, block, {}, &BarredBlock::block),
            std::ranges::upper_bound(blocks, block, {}, &BarredBlock::block)};
  }
};
BorrowBars FindBorrowBars(const Facts& facts, MarkerRule rule);

// The blocks of memory-alloc nodes, which aren't lent: no allocation has their addresses between
// launches, and the driver chooses what backs them.
struct GraphMemory {
  uint64_t blocks = 0;
  Bytes bytes = 0;
  bool operator==(const GraphMemory&) const = default;
};
GraphMemory FindGraphMemory(const Ran& trace);

// Of each allocator's pool that captures allocated in; those whose blocks have no addresses are
// left out. The segments are those that were there at the last launch.
std::vector<PoolBorrow> FindBorrow(const Facts& facts, MarkerRule rule);

}  // namespace graphkit
