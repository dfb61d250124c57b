#include "libgraphkit/replay/policy_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "libgraphkit/alloc/chunks/indexed_map.h"
#include "libgraphkit/alloc/chunks/piece_map.h"
#include "libgraphkit/alloc/policies/freed_by_order.h"

namespace graphkit {
namespace {

class Scanning final : public PolicyMemory {
 public:
  Scanning(const Facts& facts, const GraphSlice& slice, const ReusePolicy& policy, size_t pools,
           const CachingConfig& config, bool missed)
      : facts_(facts),
        blocks_(slice.blocks),
        policy_(policy),
        missed_(missed),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        pools_(pools, {PieceMap(), PieceMap(config)}),
        answers_(slice.blocks.size()) {}

  void Hold(uint32_t pool, const HeldMemory& held, std::span<const BlockId>) override {
    PieceMap& segments = pools_[pool].segments;
    for (const MemoryHole& hole : held.holes) {
      segments.AddHole(hole.offset, hole.size, hole.small, hole.owner);
    }
    segments.BeginAt(held.end);
  }

  Placed Place(BlockId block, uint32_t pool, Bytes size) override {
    ++stamp_;
    const auto offered = [&](BlockId last, StreamId owner) {
      return last.valid() ? Offered(last, block) : policy_.OffersFresh(owner, block);
    };
    const auto safe = [&](BlockId last, StreamId) {
      return last.valid() && policy_.freed(last) && safe_.Before(last, block);
    };
    const StreamId stream = facts_.trace[block].stream;
    PieceMap& arena = pools_[pool].arena;
    Placed placed;
    placed.missed =
        missed_ && arena.reserved() >= size && !arena.Fits(size, offered) && arena.Fits(size, safe);
    placed.arena = arena.Place(block, size, stream, offered);
    placed.arena_added = arena.added();
    PieceMap& segments = pools_[pool].segments;
    placed.segments = segments.Place(block, size, stream, offered);
    placed.segments_added = segments.added();
    return placed;
  }

 private:
  struct Pool {
    PieceMap arena;
    PieceMap segments;
  };
  struct Answer {
    uint32_t stamp = 0;
    bool yes = false;
  };

  // The same pair is asked for again and again while a place is looked for.
  bool Offered(BlockId last, BlockId block) {
    Answer& answer = answers_[blocks_.NumberOf(last.index())];
    if (answer.stamp != stamp_) answer = {stamp_, policy_.Offers(last, block)};
    return answer.yes;
  }

  const Facts& facts_;
  const Rows& blocks_;
  const ReusePolicy& policy_;
  bool missed_;
  BlockOrder safe_;
  std::vector<Pool> pools_;
  std::vector<Answer> answers_;  // by block of the graph: what was said of this malloc
  uint32_t stamp_ = 0;
};

class Indexed final : public PolicyMemory {
 public:
  // `shared`: blocks go to other streams, too.
  Indexed(const Facts& facts, const GraphSlice& slice, const MallocViews& views,
          const MallocViews* proved, bool shared, size_t pools, const CachingConfig& config)
      : slice_(slice),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        views_(views),
        proved_views_(proved),
        shared_(shared),
        pool_of_(slice.blocks.size(), kNoPool) {
    const size_t blocks = slice.blocks.size();
    for (size_t i = 0; i < pools; ++i) {
      const IndexedMap::Options arena{.config = {}, .views = views.count(), .shared = shared};
      IndexedMap::Options segments = arena;
      segments.config = config;
      pools_.push_back({IndexedMap(arena, blocks), IndexedMap(segments, blocks), {}});
      if (proved_views_ == nullptr) continue;
      const IndexedMap::Options all{
          .config = {}, .views = proved_views_->count(), .shared = true, .by_address = true};
      pools_.back().proved.emplace(all, blocks);
    }
    if (proved_views_ != nullptr) proofs_.emplace(safe_, *proved_views_, true);
  }

  // A stream that doesn't allocate has no view, and takes no hole; shared, all views take all.
  void Hold(uint32_t pool, const HeldMemory& held, std::span<const BlockId> blocks) override {
    IndexedMap& segments = pools_[pool].segments;
    std::map<StreamId, uint32_t> views;
    for (const BlockId block : blocks) {
      if (held.holes.empty()) break;
      views.try_emplace(safe_.trace()[block].stream, views_.Of(block));
    }
    for (const MemoryHole& hole : held.holes) {
      const auto view = shared_ ? views.begin() : views.find(hole.owner);
      if (view != views.end()) segments.AddHole(hole.offset, hole.size, hole.small, view->second);
    }
    segments.BeginAt(held.end);
  }

  void Take(const Offer& offer) override {
    const BlockId number = Number(offer.block);
    const uint32_t pool = pool_of_[number.index()];
    if (pool == kNoPool) return;
    const uint32_t view = views_.Of(offer.like);
    pools_[pool].arena.Show(number, view);
    pools_[pool].segments.Show(number, view);
  }

  void Freed(BlockId block) override {
    if (proofs_) proofs_->Free(block);
  }

  void BeforeMalloc(BlockId block) override {
    if (!proofs_) return;
    found_.clear();
    proofs_->BeforeMalloc(block, &found_);
    for (const BlockId found : found_) {
      const BlockId number = Number(found);
      const uint32_t pool = pool_of_[number.index()];
      if (pool != kNoPool) pools_[pool].proved->Show(number, proved_views_->Of(block));
    }
  }

  Placed Place(BlockId block, uint32_t pool, Bytes size) override {
    const BlockId number = Number(block);
    pool_of_[number.index()] = pool;
    const uint32_t view = views_.Of(block);
    Pool& memory = pools_[pool];
    Placed placed;
    placed.missed = memory.proved && !memory.arena.Fits(size, view) &&
                    memory.proved->Fits(size, proved_views_->Of(block));
    placed.arena = memory.arena.Place(number, size, view);
    placed.arena_added = memory.arena.added();
    if (memory.proved) memory.proved->PlaceAt(number, placed.arena, size);
    placed.segments = memory.segments.Place(number, size, view);
    placed.segments_added = memory.segments.added();
    return placed;
  }

 private:
  static constexpr uint32_t kNoPool = 0xffffffffu;

  struct Pool {
    IndexedMap arena;
    IndexedMap segments;
    std::optional<IndexedMap> proved;  // the arena, with what last use proves
  };

  // The block's number in the maps.
  BlockId Number(BlockId block) const { return BlockId(slice_.blocks.NumberOf(block.index())); }

  const GraphSlice& slice_;
  BlockOrder safe_;
  const MallocViews& views_;
  const MallocViews* proved_views_;
  bool shared_;
  std::vector<uint32_t> pool_of_;  // by block of the graph, once it is placed
  std::vector<Pool> pools_;
  std::optional<FreedByOrder> proofs_;
  std::vector<BlockId> found_;
};

}  // namespace

std::unique_ptr<PolicyMemory> ScanningMemory(const Facts& facts, const GraphSlice& slice,
                                             const ReusePolicy& policy, size_t pools,
                                             const CachingConfig& config, bool missed) {
  return std::make_unique<Scanning>(facts, slice, policy, pools, config, missed);
}

std::unique_ptr<PolicyMemory> IndexedMemory(const Facts& facts, const PolicyInfo& policy,
                                            const GraphSlice& slice, const MallocViews& views,
                                            const MallocViews* proved, size_t pools,
                                            const CachingConfig& config) {
  const auto too_many = [](const MallocViews& some) {
    return !some.complete() || some.count() > IndexedMap::kMaxViews;
  };
  if (policy.any_stream && too_many(views)) return nullptr;
  if (proved != nullptr && too_many(*proved)) return nullptr;
  return std::make_unique<Indexed>(facts, slice, views, proved, policy.any_stream, pools, config);
}

}  // namespace graphkit
