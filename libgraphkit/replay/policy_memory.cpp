#include "libgraphkit/replay/policy_memory.h"

#include <algorithm>
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
           const PolicyMemoryOptions& options)
      : facts_(facts),
        blocks_(slice.blocks),
        policy_(policy),
        missed_(options.missed),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        pools_(pools, {PieceMap(), PieceMap(options.config)}),
        answers_(slice.blocks.size()) {}

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

// Views are the streams that allocate.
class Indexed final : public PolicyMemory {
 public:
  struct Kind {
    bool shared = false;  // blocks go to other streams, too
    bool missed = false;  // what last use proves is to be compared
  };

  Indexed(const Facts& facts, const GraphSlice& slice, const Kind& kind,
          std::vector<uint32_t> views, uint32_t count, size_t pools, const CachingConfig& config)
      : facts_(facts),
        slice_(slice),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        views_(std::move(views)),
        pool_of_(slice.blocks.size(), kNoPool) {
    const size_t blocks = slice.blocks.size();
    for (size_t i = 0; i < pools; ++i) {
      const IndexedMap::Options arena{.config = {}, .views = count, .shared = kind.shared};
      IndexedMap::Options segments = arena;
      segments.config = config;
      pools_.push_back({IndexedMap(arena, blocks), IndexedMap(segments, blocks), {}});
      const IndexedMap::Options proved{
          .config = {}, .views = count, .shared = true, .by_address = true};
      if (kind.missed) pools_.back().proved.emplace(proved, blocks);
    }
    if (kind.missed) proofs_.emplace(safe_, slice.streams, true);
  }

  void Take(const Offer& offer) override {
    const BlockId number = Number(offer.block);
    const uint32_t pool = pool_of_[number.index()];
    const uint32_t view = ViewOf(offer.to);
    if (pool == kNoPool || view == kNoView) return;
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
      if (pool != kNoPool) pools_[pool].proved->Show(number, ViewOf(facts_.trace[block].stream));
    }
  }

  Placed Place(BlockId block, uint32_t pool, Bytes size) override {
    const BlockId number = Number(block);
    pool_of_[number.index()] = pool;
    const uint32_t view = ViewOf(facts_.trace[block].stream);
    Pool& memory = pools_[pool];
    Placed placed;
    placed.missed =
        memory.proved && !memory.arena.Fits(size, view) && memory.proved->Fits(size, view);
    placed.arena = memory.arena.Place(number, size, view);
    placed.arena_added = memory.arena.added();
    if (memory.proved) memory.proved->PlaceAt(number, placed.arena, size);
    placed.segments = memory.segments.Place(number, size, view);
    placed.segments_added = memory.segments.added();
    return placed;
  }

 private:
  static constexpr uint32_t kNoPool = 0xffffffffu;

 public:
  static constexpr uint32_t kNoView = 0xffffffffu;

 private:
  struct Pool {
    IndexedMap arena;
    IndexedMap segments;
    std::optional<IndexedMap> proved;  // the arena, with what last use proves
  };

  // What the maps know a block by.
  BlockId Number(BlockId block) const { return BlockId(slice_.blocks.NumberOf(block.index())); }
  uint32_t ViewOf(StreamId stream) const { return views_[slice_.streams.NumberOf(stream.index())]; }

  const Facts& facts_;
  const GraphSlice& slice_;
  BlockOrder safe_;
  std::vector<uint32_t> views_;    // by stream of the graph
  std::vector<uint32_t> pool_of_;  // by block of the graph, once it is placed
  std::vector<Pool> pools_;
  std::optional<FreedByOrder> proofs_;
  std::vector<BlockId> found_;
};

}  // namespace

std::unique_ptr<PolicyMemory> ScanningMemory(const Facts& facts, const GraphSlice& slice,
                                             const ReusePolicy& policy, size_t pools,
                                             const PolicyMemoryOptions& options) {
  return std::make_unique<Scanning>(facts, slice, policy, pools, options);
}

std::unique_ptr<PolicyMemory> IndexedMemory(const Facts& facts, const PolicyInfo& policy,
                                            const GraphSlice& slice,
                                            std::span<const BlockId> blocks, size_t pools,
                                            const PolicyMemoryOptions& options) {
  const BlockOrder safe = facts.Blocks(MarkerRule::kLastUse);
  const bool missed = options.missed && policy.misses;
  if (!policy.can_index(facts.Blocks(policy.rule), slice, blocks)) return nullptr;
  if (missed && !PlainBlocks(safe, slice, blocks)) return nullptr;
  std::vector<uint32_t> views(slice.streams.size(), Indexed::kNoView);
  uint32_t count = 0;
  for (const BlockId block : blocks) {
    uint32_t& view = views[slice.streams.NumberOf(facts.trace[block].stream.index())];
    if (view == Indexed::kNoView) view = count++;
  }
  if (count > IndexedMap::kMaxViews) return nullptr;
  return std::make_unique<Indexed>(facts, slice, Indexed::Kind{policy.any_stream, missed},
                                   std::move(views), count, pools, options.config);
}

}  // namespace graphkit
