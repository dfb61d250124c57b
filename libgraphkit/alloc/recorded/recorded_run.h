// A recorded allocator run, taken apart for replaying: what the program did (sizes, streams,
// frees), what the driver answered, the state at the start, and, kept apart from all that, where
// the blocks really were.
//
// A snapshot holds the state at the end and the last events before it. The start is found by
// walking back: a block that is freed without having been allocated was live at the start, and so
// was one that lives at the end and was never allocated.
//
//   events     alloc A   free B   alloc C   free A          end: C, D
//   at start   B, D
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/model/torch_snapshot.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The life of one block, from its allocation to its free: an index.
using LifeId = uint32_t;

struct RecordedOperation {
  enum class Kind : uint8_t { kAlloc, kFreeRequested, kFreeCompleted, kSegment };
  Kind kind = Kind::kAlloc;
  uint32_t event = 0;    // place in the device's events
  LifeId life = 0;       // kAlloc, kFree…
  Bytes size = 0;        // kAlloc: as asked for
  uint64_t stream = 0;   // kAlloc
  PoolHandle pool = 0;   // kAlloc
  SegmentEvent segment;  // kSegment: what the driver was asked, and its answer
};

struct RecordedRun {
  CachingConfig config;
  uint32_t pools = 1;  // the default pool and the private ones
  std::vector<SegmentState> start;
  // For each used block of `start`, segment by segment: its life.
  std::vector<LifeId> start_lives;
  std::vector<RecordedOperation> operations;
  uint32_t lives = 0;
  uint32_t repaired = 0;  // allocations whose recorded address fits nothing else in the file
  // Where each life's block was; not for the model.
  std::vector<Address> recorded_addresses;
};

// The allocator's settings as a snapshot states them.
CachingConfig ConfigOf(const TorchSettings& settings);

// Refuses a snapshot whose start can't be told. Reading: see FindLives.
Result<RecordedRun> RewindSnapshot(const TorchSnapshot& snapshot, size_t device,
                                   uint32_t reading = 0);

}  // namespace graphkit
