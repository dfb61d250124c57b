// Bytes of each graph over capture order, which the timeline sums up (timeline.h), and sizes of
// blocks. Sizes are rounded up to 512 B; a graph's blocks are those allocated in it and in the
// graphs that it holds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct Usage {
  uint64_t blocks = 0;
  Bytes total = 0;      // of all blocks
  Bytes peak_live = 0;  // most bytes allocated and not yet free-requested
  Seq peak_at = 0;      // the allocation that made the peak
  Bytes deferred = 0;   // most bytes between free requested and free completed
  Bytes peak_held = 0;  // most bytes live or deferred: what deferring made necessary
  uint64_t never_freed_blocks = 0;
  Bytes never_freed = 0;
  // From the lowest to the highest address used in each segment (blocks outside segments: what
  // their addresses cover), summed up.
  Bytes extent = 0;
  bool operator==(const Usage&) const = default;
};

// Blocks that come and go: what they sum up to.
class LiveBytes {
 public:
  // From its allocation to `end`; kNever: for good.
  void Add(const Block& block, Seq end);
  // The most bytes at once.
  Bytes Peak();

 private:
  std::vector<std::pair<Seq, int64_t>> changes_;
};

// Sizes as graphs are compared, planned and replayed: rounded up to 512 B.
Bytes RoundedSize(const Block& block);
// The bytes that its allocator handed out for it.
Bytes AllocatedSize(const Block& block);

// Between its free request and its completion, for some while.
bool Deferred(const Block& block);

}  // namespace graphkit
