#include "libgraphkit/replay/held_memory.h"

namespace graphkit {

void HeldPools::Begin(Seq begin) {
  living_ = 0;
  for (auto& [id, pool] : pools_) {
    std::erase_if(pool.living, [&](const PlacedBlock& placed) {
      return placed.size == 0 || trace_[placed.block].free_requested < begin;
    });
    std::ranges::sort(pool.living, {}, &PlacedBlock::offset);
    for (const PlacedBlock& placed : pool.living) living_ += placed.size;
  }
}

HeldMemory HeldPools::Of(PoolId id) const {
  HeldMemory held;
  const auto found = pools_.find(id);
  if (found == pools_.end()) return held;
  auto living = found->second.living.begin();
  for (const MemoryHole& segment : found->second.segments) {
    MemoryHole hole = segment;
    // A rest that a large segment wouldn't have split off belongs to the block before it.
    const auto add_until = [&](Bytes end) {
      hole.size = end - hole.offset;
      const bool kept =
          hole.small || hole.offset == segment.offset || hole.size > config_.small_size;
      if (hole.size > 0 && kept) held.holes.push_back(hole);
    };
    const Bytes end = segment.offset + segment.size;
    for (; living != found->second.living.end() && living->offset < end; ++living) {
      add_until(living->offset);
      hole.offset = living->offset + living->size;
    }
    add_until(end);
    held.end = std::max(held.end, RoundUp(end, kSegmentAlignment));
  }
  return held;
}

void HeldPools::AddSegment(PoolId pool, const MemoryHole& segment) {
  pools_[pool].segments.push_back(segment);
  reserved_ += segment.size;
}

void HeldPools::Add(PoolId pool, const std::vector<PlacedBlock>& placed) {
  std::vector<PlacedBlock>& living = pools_[pool].living;
  living.insert(living.end(), placed.begin(), placed.end());
  Bytes& top = tops_[pool];
  for (const PlacedBlock& block : placed) top = std::max(top, block.offset + block.size);
}

}  // namespace graphkit
