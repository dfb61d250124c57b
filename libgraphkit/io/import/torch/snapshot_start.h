// The state of an allocator before the first event of a snapshot's history, walked back from the
// state at its end:
//
//   events     alloc A   free B   alloc C   free A          end: C, D
//   at start   B, D
#pragma once

#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/io/import/range_map.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

// Whose a range is, by the numbers of the snapshot.
struct RangeOwner {
  uint64_t stream = 0;
  uint16_t pool = 0;  // index into TorchSnapshot::pools
  bool expandable = false;
};

struct StartBlock {
  Address address = 0;
  Bytes size = 0;  // as requested
  uint64_t stream = 0;
  StackId stack = {};
  bool pending = false;  // its free had been requested
};

struct SnapshotStart {
  RangeMap<RangeOwner> ranges;
  std::vector<StartBlock> blocks;
  size_t unmatched = 0;  // allocations whose block is neither freed nor alive at the end, and
                         // blocks allocated where another one lay
  // One of a free's two events wasn't recorded (skip_actions of _record_memory_history, PyTorch
  // #168183): frees are known, how long they were deferred isn't.
  bool requests_skipped = false;
  bool completions_skipped = false;
};

// How many devices the file speaks of.
size_t DeviceCount(const TorchSnapshot& snapshot);

// The segments of the end, with whose they are.
RangeMap<RangeOwner> OwnersAtEnd(const TorchSnapshot& snapshot, size_t device);

SnapshotStart FindStart(const TorchSnapshot& snapshot, size_t device);

// How many of the recorded allocations came out of each pool (index into TorchSnapshot::pools).
// Most snapshots say it of segments only.
std::vector<uint32_t> CountAllocs(const TorchSnapshot& snapshot, size_t device,
                                  const SnapshotStart& start);

}  // namespace graphkit
