// Which NVTX range each node was captured in.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// By node: of the ranges that were open on its thread, the one opened last; kNoRange (fold.h): none
// was, or the thread isn't known.
std::vector<uint32_t> InnermostRanges(const Trace& trace);

}  // namespace graphkit
