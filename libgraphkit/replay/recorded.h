// Where the blocks of a trace's graphs lay when it was recorded, as placements that can be verified
// and executed like those of any policy or plan.
//
//     recorded at   0x7e…0000   0x7e…0800   0x7f…0000
//                   a           b           c            a and b in one segment, c in another
//     as a plan     0           2 KiB       4 KiB        gaps between segments are left out
#pragma once

#include <cstdint>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// Reserved are the segments that the blocks lay in.
PolicyReplay ReplayRecorded(const Facts& facts, const ReplayOptions& options = {});

inline constexpr const char* kRecordedName = "recorded";

// Checks that a policy places a graph's blocks where the recorded allocator placed them: in the
// same segments, at the same places in them. Where the segments themselves lie is the driver's
// choice.
//
//   recorded   segment 7: a at +0, b at +512   segment 9: c at +0
//   replayed   a at 0, b at 512                c at 2 MiB          the same

struct RecordedPlacements {
  uint64_t compared = 0;  // blocks
  uint64_t same = 0;
  // In no segment, or in a pool that was used outside of captures before (torch.compile restores
  // what such a pool held, which no record says).
  uint64_t not_compared = 0;
  BlockId first;  // that lies elsewhere; none: all are the same
  bool operator==(const RecordedPlacements&) const = default;
};

// Of a policy's placements by the segment rules.
RecordedPlacements CompareWithRecorded(const Facts& facts, const PolicyReplay& replay);

}  // namespace graphkit
