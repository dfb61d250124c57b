// Who holds memory at the end of a trace: the allocators' segments, and what is handed out of them.
// Of a snapshot's state, all that it says.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/analyze/memory_bill.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// Blocks lie in segments or are the driver's own: their bytes and those of segments don't add up.
struct HeldLine {
  std::string name;  // as BillLine's
  uint64_t segments = 0;
  Bytes segment_bytes = 0;
  uint64_t blocks = 0;    // whose free isn't complete
  Bytes block_bytes = 0;  // sizes rounded up to 512
  bool operator==(const HeldLine&) const = default;
};

// Pools and streams have segments; stacks have blocks only.
bool HaveSegments(BillBy by);

// The most in segments first, then in blocks, then by name. The memory that a
// segment is made of is no block here.
std::vector<HeldLine> BillHeld(const Trace& trace, BillBy by);

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const TextStyle& style,
                std::ostream& out);

}  // namespace graphkit
