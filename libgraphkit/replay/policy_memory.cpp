#include "libgraphkit/replay/policy_memory.h"

namespace graphkit {

bool PolicyMemory::CanIndex(const PolicyInfo& policy, const Views& views) {
  const auto too_many = [](const MallocViews& some) {
    return !some.complete() || some.count() > IndexedMap::kMaxViews;
  };
  if (policy.any_stream && too_many(*views.offered)) return false;
  return views.proved == nullptr || !too_many(*views.proved);
}

PolicyMemory::PolicyMemory(const Facts& facts, const GraphSlice& slice, const PolicyInfo& info,
                           const ReusePolicy& policy, const Views& views, size_t pools,
                           const CachingConfig& config, bool missed)
    : facts_(facts),
      blocks_(slice.blocks),
      policy_(policy),
      views_(views),
      shared_(info.any_stream),
      missed_(missed),
      safe_(facts.Blocks(MarkerRule::kLastUse)),
      pool_of_(slice.blocks.size(), kNoPool),
      answers_(views.offered == nullptr ? slice.blocks.size() : 0) {
  IndexedMap::Options arena;
  if (views_.offered != nullptr) {
    arena.views = views_.offered->count();
    arena.shared = shared_;
  }
  IndexedMap::Options segments = arena;
  segments.config = config;
  const bool proves = views_.offered != nullptr && views_.proved != nullptr;
  for (size_t i = 0; i < pools; ++i) {
    pools_.push_back({IndexedMap(arena, blocks_.size()), IndexedMap(segments, blocks_.size()), {}});
    if (!proves) continue;
    const IndexedMap::Options all{
        .config = {}, .views = views_.proved->count(), .shared = true, .by_address = true};
    pools_.back().proved.emplace(all, blocks_.size());
  }
  if (proves) proofs_.emplace(safe_, *views_.proved, true);
}

// With views, a stream that doesn't allocate has none, and takes no hole; shared, all take all.
void PolicyMemory::Hold(uint32_t pool, const HeldMemory& held, std::span<const BlockId> blocks) {
  IndexedMap& segments = pools_[pool].segments;
  std::map<StreamId, uint32_t> views;
  for (const BlockId block : blocks) {
    if (held.holes.empty()) break;
    const uint32_t view = views_.offered != nullptr ? views_.offered->Of(block) : 0;
    views.try_emplace(facts_.trace[block].stream, view);
  }
  const bool any = shared_ || views_.offered == nullptr;
  for (const MemoryHole& hole : held.holes) {
    const auto view = any ? views.begin() : views.find(hole.owner);
    if (view == views.end()) continue;
    segments.AddHole(hole.offset, hole.size, hole.small, view->second, hole.owner);
  }
  segments.BeginAt(held.end);
}

void PolicyMemory::Take(const Offer& offer) {
  const BlockId number = Number(offer.block);
  const uint32_t pool = pool_of_[number.index()];
  if (pool == kNoPool || views_.offered == nullptr) return;
  const uint32_t view = views_.offered->Of(offer.like);
  pools_[pool].arena.Show(number, view);
  pools_[pool].segments.Show(number, view);
}

void PolicyMemory::Freed(BlockId block) {
  if (proofs_) proofs_->Free(block);
}

void PolicyMemory::BeforeMalloc(BlockId block) {
  if (!proofs_) return;
  found_.clear();
  proofs_->BeforeMalloc(block, &found_);
  for (const BlockId found : found_) {
    const BlockId number = Number(found);
    const uint32_t pool = pool_of_[number.index()];
    if (pool != kNoPool) pools_[pool].proved->Show(number, views_.proved->Of(block));
  }
}

PolicyMemory::Placed PolicyMemory::Place(BlockId block, uint32_t pool, Bytes size) {
  const BlockId number = Number(block);
  pool_of_[number.index()] = pool;
  Pool& memory = pools_[pool];
  Placed placed;
  if (views_.offered == nullptr) {
    Ask(block, size, &memory, &placed);
  } else {
    const uint32_t view = views_.offered->Of(block);
    placed.missed = memory.proved && !memory.arena.Fits(size, view) &&
                    memory.proved->Fits(size, views_.proved->Of(block));
    placed.arena = memory.arena.Place(number, size, view);
    if (memory.proved) memory.proved->PlaceAt(number, placed.arena, size);
    placed.segments = memory.segments.Place(number, size, view);
  }
  placed.arena_added = memory.arena.added();
  placed.segments_added = memory.segments.added();
  return placed;
}

void PolicyMemory::Ask(BlockId block, Bytes size, Pool* pool, Placed* placed) {
  ++stamp_;
  const IndexedMap::MayTake offered = [&](BlockId last, StreamId owner) {
    return last.valid() ? Offered(last, block) : policy_.OffersFresh(owner, block);
  };
  const IndexedMap::MayTake safe = [&](BlockId last, StreamId) {
    return last.valid() && policy_.freed(BlockOf(last)) && safe_.Before(BlockOf(last), block);
  };
  const StreamId stream = facts_.trace[block].stream;
  IndexedMap& arena = pool->arena;
  placed->missed =
      missed_ && arena.reserved() >= size && !arena.Fits(size, offered) && arena.Fits(size, safe);
  placed->arena = arena.Place(Number(block), size, stream, offered);
  placed->segments = pool->segments.Place(Number(block), size, stream, offered);
}

// The same pair is asked for again and again while a place is looked for.
bool PolicyMemory::Offered(BlockId last, BlockId block) {
  Answer& answer = answers_[last.index()];
  if (answer.stamp != stamp_) answer = {stamp_, policy_.Offers(BlockOf(last), block)};
  return answer.yes;
}

void HeldPools::Begin(Seq begin, Seq last) {
  living_ = staying_ = 0;
  for (auto& [id, pool] : pools_) {
    std::erase_if(pool.living, [&](const PlacedBlock& placed) {
      return placed.size == 0 || trace_[placed.block].free_requested < begin;
    });
    std::ranges::sort(pool.living, {}, &PlacedBlock::offset);
    for (const PlacedBlock& placed : pool.living) {
      living_ += placed.size;
      if (trace_[placed.block].free_requested >= last) staying_ += placed.size;
    }
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
