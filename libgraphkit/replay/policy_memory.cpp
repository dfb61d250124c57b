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
  Scanning(const Facts& facts, const ReusePolicy& policy, size_t pools,
           const PolicyMemoryOptions& options)
      : facts_(facts),
        policy_(policy),
        missed_(options.missed),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        pools_(pools, {PieceMap(), PieceMap(options.config)}),
        answers_(facts.trace.blocks.size()) {}

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
    Answer& answer = answers_[last.index()];
    if (answer.stamp != stamp_) answer = {stamp_, policy_.Offers(last, block)};
    return answer.yes;
  }

  const Facts& facts_;
  const ReusePolicy& policy_;
  bool missed_;
  BlockOrder safe_;
  std::vector<Pool> pools_;
  std::vector<Answer> answers_;  // by block: what was said of this malloc
  uint32_t stamp_ = 0;
};

// Views are the streams that allocate.
class Indexed final : public PolicyMemory {
 public:
  struct Kind {
    bool shared = false;  // blocks go to other streams, too
    bool missed = false;  // what last use proves is to be compared
  };

  Indexed(const Facts& facts, const Kind& kind, std::vector<uint32_t> views, uint32_t count,
          size_t pools, const CachingConfig& config)
      : facts_(facts),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        views_(std::move(views)),
        pool_of_(facts.trace.blocks.size(), kNoPool) {
    const size_t blocks = facts.trace.blocks.size();
    for (size_t i = 0; i < pools; ++i) {
      const IndexedMap::Options arena{.config = {}, .views = count, .shared = kind.shared};
      IndexedMap::Options segments = arena;
      segments.config = config;
      pools_.push_back({IndexedMap(arena, blocks), IndexedMap(segments, blocks), {}});
      const IndexedMap::Options proved{
          .config = {}, .views = count, .shared = true, .by_address = true};
      if (kind.missed) pools_.back().proved.emplace(proved, blocks);
    }
    if (kind.missed) proofs_.emplace(safe_, true);
  }

  void Take(const Offer& offer) override {
    const uint32_t pool = pool_of_[offer.block.index()];
    const uint32_t view = views_[offer.to.index()];
    if (pool == kNoPool || view == kNoView) return;
    pools_[pool].arena.Show(offer.block, view);
    pools_[pool].segments.Show(offer.block, view);
  }

  void Freed(BlockId block) override {
    if (proofs_) proofs_->Free(block);
  }

  void BeforeMalloc(BlockId block) override {
    if (!proofs_) return;
    found_.clear();
    proofs_->BeforeMalloc(block, &found_);
    for (const BlockId found : found_) {
      const uint32_t pool = pool_of_[found.index()];
      if (pool != kNoPool) pools_[pool].proved->Show(found, ViewOf(block));
    }
  }

  Placed Place(BlockId block, uint32_t pool, Bytes size) override {
    pool_of_[block.index()] = pool;
    const uint32_t view = ViewOf(block);
    Pool& memory = pools_[pool];
    Placed placed;
    placed.missed =
        memory.proved && !memory.arena.Fits(size, view) && memory.proved->Fits(size, view);
    placed.arena = memory.arena.Place(block, size, view);
    placed.arena_added = memory.arena.added();
    if (memory.proved) memory.proved->PlaceAt(block, placed.arena, size);
    placed.segments = memory.segments.Place(block, size, view);
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

  uint32_t ViewOf(BlockId block) const { return views_[facts_.trace[block].stream.index()]; }

  const Facts& facts_;
  BlockOrder safe_;
  std::vector<uint32_t> views_;    // by stream
  std::vector<uint32_t> pool_of_;  // by block, once it is placed
  std::vector<Pool> pools_;
  std::optional<FreedByOrder> proofs_;
  std::vector<BlockId> found_;
};

}  // namespace

std::unique_ptr<PolicyMemory> ScanningMemory(const Facts& facts, const ReusePolicy& policy,
                                             size_t pools, const PolicyMemoryOptions& options) {
  return std::make_unique<Scanning>(facts, policy, pools, options);
}

std::unique_ptr<PolicyMemory> IndexedMemory(const Facts& facts, const PolicyInfo& policy,
                                            GraphId graph, std::span<const BlockId> blocks,
                                            size_t pools, const PolicyMemoryOptions& options) {
  const BlockOrder safe = facts.Blocks(MarkerRule::kLastUse);
  const bool missed = options.missed && policy.misses;
  if (!policy.can_index(facts.Blocks(policy.rule), graph, blocks)) return nullptr;
  if (missed && !PlainBlocks(safe, graph, blocks)) return nullptr;
  std::vector<uint32_t> views(facts.trace.streams.size(), Indexed::kNoView);
  uint32_t count = 0;
  for (const BlockId block : blocks) {
    uint32_t& view = views[facts.trace[block].stream.index()];
    if (view == Indexed::kNoView) view = count++;
  }
  if (count > IndexedMap::kMaxViews) return nullptr;
  return std::make_unique<Indexed>(facts, Indexed::Kind{policy.any_stream, missed},
                                   std::move(views), count, pools, options.config);
}

}  // namespace graphkit
