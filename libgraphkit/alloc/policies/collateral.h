// Blocks outside of every graph that PyTorch's allocator holds back because a capture is under way
// somewhere in the process: their free finds uses on other streams, and events can't be asked then
// (frameworks.md: "collateral deferral"; c10/cuda/CUDACachingAllocator.cpp, December 2025).
#pragma once

#include <cstdint>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct Collateral {
  uint64_t blocks = 0;
  Bytes bytes = 0;  // of all of them
  Bytes peak = 0;   // most of them held back at once
  bool operator==(const Collateral&) const = default;
};

Collateral FindCollateral(const Trace& trace);

}  // namespace graphkit
