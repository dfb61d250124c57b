// Addresses without the gaps: where blocks lie when only the memory that they use is drawn.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/report/layout.h"

namespace graphkit {

struct CompactMemory {
  std::vector<MemoryBand> bands;  // by pool, then by address
  std::vector<Bytes> offsets;     // of each block
  Bytes extent = 0;
};

// Of each segment what lies between the lowest and the highest address used; of blocks outside
// segments what they cover. The extent is `recorded_extent_bytes` of the report.
CompactMemory CompactAddresses(const Trace& trace, std::span<const BlockId> blocks);

}  // namespace graphkit
