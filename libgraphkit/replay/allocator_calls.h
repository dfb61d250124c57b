// The calls that an allocator gets for a graph's blocks, in capture order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/group_by.h"

namespace graphkit {

struct AllocatorCall {
  enum class Kind : uint8_t { kMalloc, kRecordStream, kFree };
  Seq seq = 0;
  Kind kind = Kind::kMalloc;
  BlockId block;
  StreamId stream = {};
  uint32_t pool = 0;  // of those given
};

// The rows of Trace::block_streams by block.
Grouped StreamsOfBlocks(const Trace& trace);

// Of some pools of a graph. `streams`: StreamsOfBlocks.
std::vector<AllocatorCall> CallsOf(const Facts& facts, std::span<const PoolBlocks> pools,
                                   const Grouped& streams);

}  // namespace graphkit
