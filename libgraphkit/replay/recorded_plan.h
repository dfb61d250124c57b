// Where the blocks of a trace's graphs lay when it was recorded, as placements that can be verified
// and executed like those of any policy or plan.
//
//     recorded at   0x7e…0000   0x7e…0800   0x7f…0000
//                   a           b           c            a and b in one segment, c in another
//     as a plan     0           2 KiB       4 KiB        gaps between segments are left out
#pragma once

#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// Blocks of one pool, with their offsets set: addresses where no block ever lay are left out.
std::vector<PlacedBlock> RecordedPlacement(const Facts& facts, std::vector<PlacedBlock> blocks);

// Of all graphs, each pool of each in an arena of its own.
PlannedMemory RecordedPlan(const Facts& facts);

// Reserved are the segments that the blocks lay in.
PolicyReplay ReplayRecorded(const Facts& facts, const ReplayOptions& options = {});

inline constexpr const char* kRecordedName = "recorded";

}  // namespace graphkit
