// A PyTorch memory snapshot as a trace: the allocator's segments and blocks, with their stacks, in
// the order of the recorded events.
//
// The state before the first event follows from the state at the end, walked back. What a snapshot
// doesn't say: which work ran, which streams a block was recorded on, where a capture began. So
//   * each private pool becomes an imported graph, from the pool's first allocation to its last;
//   * in it, one node of unknown kind stands for whatever a stream ran between an allocation and
//     the next free on it (Source::kDerived);
//   * a block whose free was deferred was used on another stream, which stands for all those that
//     aren't known; it isn't in the graph, so nothing is proved about the block.
#pragma once

#include "libgraphkit/model/torch_snapshot.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Totals of a snapshot, counted as torch.cuda._memory_viz does, and gaps in its history.
struct SnapshotTotals {
  size_t devices = 0;
  size_t segments = 0;
  Bytes reserved = 0;   // of segments
  Bytes allocated = 0;  // of active blocks, as the allocator rounded them
  Bytes requested = 0;  // of active blocks, as asked for
  size_t active_blocks = 0;
  size_t events = 0;
  size_t unmatched = 0;  // allocations that the rest of the file contradicts
  // One of a free's two events is left out: how long frees were deferred isn't known.
  bool requests_skipped = false;
  bool completions_skipped = false;
  bool operator==(const SnapshotTotals&) const = default;
};

struct SnapshotTrace {
  Trace trace;
  SnapshotTotals totals;
};

SnapshotTrace TraceOfSnapshot(const TorchSnapshot& snapshot);

}  // namespace graphkit
