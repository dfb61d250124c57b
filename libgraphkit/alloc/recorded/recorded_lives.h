// Pairs the frees of a recorded run with its allocations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_ranges.h"
#include "libgraphkit/model/torch_snapshot.h"
#include "libgraphkit/units.h"

namespace graphkit {

// One block from allocation to free. An end that isn't there lies outside of what was recorded.
struct RecordedLife {
  Address address = 0;
  Bytes requested = 0;
  uint64_t stream = 0;
  std::optional<uint32_t> alloc;           // event
  std::optional<uint32_t> free_requested;  // event
  std::optional<uint32_t> free_completed;  // event
  std::optional<uint32_t> final_block;     // index in TorchSnapshot::blocks: in use at the end
  bool repaired = false;                   // its end was recorded at another address
  bool operator==(const RecordedLife&) const = default;

  bool at_start() const { return !alloc; }
  bool lost() const { return alloc && !free_requested && !final_block; }
};

// The lives of one device, in order of their first event; those without events last. An allocation
// whose address fits no free and no block at the end, and a free or block of the same size that
// fits no allocation, are one life: of two records that disagree one is wrong. Where several would
// fit, `reading` picks: 0 takes the likeliest, 1 the next, and so on. `segments`: all that there
// were at any time; where whole lives lie outside of them, the file lacks some, and what else lies
// outside isn't taken for wrong.
std::vector<RecordedLife> FindLives(const TorchSnapshot& snapshot, size_t device,
                                    const RecordedRanges& segments, uint32_t reading = 0);

}  // namespace graphkit
