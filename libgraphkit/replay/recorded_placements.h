// Checks that a policy places a graph's blocks where the recorded allocator placed them: in the
// same segments, at the same places in them. Where the segments themselves lie is the driver's
// choice.
//
//   recorded   segment 7: a at +0, b at +512   segment 9: c at +0
//   replayed   a at 0, b at 512                c at 2 MiB          the same
#pragma once

#include <cstdint>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

struct RecordedPlacements {
  uint64_t compared = 0;  // blocks
  uint64_t same = 0;
  // In no segment, or in a pool that was used outside of captures before (torch.compile restores
  // what such a pool held, which no record says).
  uint64_t not_compared = 0;
  BlockId first;  // that lies elsewhere; none: all are the same
  bool operator==(const RecordedPlacements&) const = default;
};

// Of a policy's placements by the segment rules, with pools that hold what they held
// (ReplayOptions::continued).
RecordedPlacements CompareWithRecorded(const Facts& facts, const PolicyReplay& replay);

}  // namespace graphkit
