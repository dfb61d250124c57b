#include "libgraphkit/replay/allocator_calls.h"

#include <algorithm>

namespace graphkit {

Grouped StreamsOfBlocks(const Trace& trace) {
  return Group(trace.block_streams, trace.blocks.size(),
               [](const BlockStream& use) { return use.block; });
}

std::vector<AllocatorCall> CallsOf(const Facts& facts, std::span<const PoolBlocks> pools,
                                   const Grouped& streams) {
  using Kind = AllocatorCall::Kind;
  std::vector<AllocatorCall> calls;
  for (uint32_t pool = 0; pool < pools.size(); ++pool) {
    for (const BlockId block : pools[pool].blocks) {
      const Block& b = facts.trace[block];
      calls.push_back({b.allocated, Kind::kMalloc, block, b.stream, pool});
      for (const uint32_t row : streams.Of(block.index())) {
        const BlockStream& use = facts.trace.block_streams[row];
        calls.push_back({use.seq, Kind::kRecordStream, block, use.stream, pool});
      }
      if (!facts.lives()[block].freed) continue;
      calls.push_back({b.free_requested, Kind::kFree, block,
                       b.free_stream.valid() ? b.free_stream : b.stream, pool});
    }
  }
  std::ranges::stable_sort(calls, {}, &AllocatorCall::seq);
  return calls;
}

}  // namespace graphkit
