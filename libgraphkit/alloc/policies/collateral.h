// Blocks outside of every graph that PyTorch's allocator holds back because a capture is under way
// somewhere in the process: their free finds uses on other streams, and events can't be asked then
// (frameworks.md: "collateral deferral"; c10/cuda/CUDACachingAllocator.cpp, December 2025).
#pragma once

#include <cstdint>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct CollateralOptions {
  // Until pytorch/pytorch#175374 requests inside a user's MemPool were taken for a capture's: a
  // block of such a pool that other streams used waited for the pool's end.
  bool pools_count = false;
};

struct Collateral {
  uint64_t blocks = 0;
  Bytes bytes = 0;  // of all of them
  Bytes peak = 0;   // most of them held back at once
  bool operator==(const Collateral&) const = default;
};

Collateral FindCollateral(const Trace& trace, const CollateralOptions& options = {});

}  // namespace graphkit
