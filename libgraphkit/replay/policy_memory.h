// The memory of a graph's pools as a policy fills it: each block is placed twice, with segments and
// without. Two ways to the same places: by an index of what the policy has offered to views of its
// mallocs, or by asking it, pair by pair, for every piece of memory at each malloc.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/alloc/chunks/indexed_map.h"
#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// The pools of graphs that share them (libgraphkit/alloc/plan/plan_trace.h), while a policy is
// replayed from one graph to the next: what a graph finds there when its capture begins.
//
//     segment 3   | a (lives) |  hole  | b (lives) | hole |      a graph's mallocs may take the
//     segment 7   |            hole                       |      holes of their own stream
struct MemoryHole {
  Bytes offset = 0;
  Bytes size = 0;
  StreamId owner;
  bool small = false;
  bool operator==(const MemoryHole&) const = default;
};

struct HeldMemory {
  std::vector<MemoryHole> holes;
  Bytes end = 0;
  bool operator==(const HeldMemory&) const = default;
};

class HeldPools {
 public:
  HeldPools(const Ran& trace, const CachingConfig& config) : trace_(trace), config_(config) {}

  // A graph's first allocation: blocks stay whose free wasn't requested before.
  void Begin(Seq begin, Seq last);
  Bytes living() const { return living_; }      // bytes of blocks that stayed
  Bytes staying() const { return staying_; }    // of those that stay to its last allocation
  Bytes reserved() const { return reserved_; }  // of segments
  // The highest byte that a block had, without segments.
  const std::map<PoolId, Bytes>& tops() const { return tops_; }
  HeldMemory Of(PoolId pool) const;

  void AddSegment(PoolId pool, const MemoryHole& segment);
  // Of a graph, in segments, or without them where it was planned.
  void Add(PoolId pool, const std::vector<PlacedBlock>& placed);

 private:
  struct Pool {
    std::vector<MemoryHole> segments;  // as they were made
    std::vector<PlacedBlock> living;
  };

  const Ran& trace_;
  const CachingConfig& config_;
  std::map<PoolId, Pool> pools_;
  std::map<PoolId, Bytes> tops_;
  Bytes living_ = 0;
  Bytes staying_ = 0;
  Bytes reserved_ = 0;
};

class PolicyMemory {
 public:
  // Of a graph's mallocs; they must outlive the memory.
  struct Views {
    const MallocViews* offered = nullptr;  // that the policy offers to; null: it is asked
    const MallocViews* proved = nullptr;   // of what last use proves, to find out what was missed
  };
  // False: there are more views than an index can tell apart.
  static bool CanIndex(const PolicyInfo& policy, const Views& views);

  // `missed`: finds out what was missed; with an index, where there are views for it.
  PolicyMemory(const Facts& facts, const GraphSlice& slice, const PolicyInfo& info,
               const ReusePolicy& policy, const Views& views, size_t pools,
               const CachingConfig& config, bool missed);

  // Where a block went, and what its pool got to hold more for it.
  struct Placed {
    Bytes arena = 0;  // offsets
    Bytes segments = 0;
    Bytes arena_added = 0;
    Bytes segments_added = 0;
    // The arena grew although last use proves a stretch safe that would have done.
    bool missed = false;
  };

  // The pool's segments from the beginning; before any of `blocks` is placed.
  void Hold(uint32_t pool, const HeldMemory& held, std::span<const BlockId> blocks);
  // Called for every offer of the policy, and before each malloc, placed or not.
  void Take(const Offer& offer);
  void BeforeMalloc(BlockId block);
  void Freed(BlockId block);
  // `size`: rounded, not 0.
  Placed Place(BlockId block, uint32_t pool, Bytes size);

 private:
  static constexpr uint32_t kNoPool = 0xffffffffu;

  struct Pool {
    IndexedMap arena;
    IndexedMap segments;
    std::optional<IndexedMap> proved;  // the arena, with what last use proves
  };
  struct Answer {
    uint32_t stamp = 0;
    bool yes = false;
  };

  // The block's number in the maps, and back.
  BlockId Number(BlockId block) const { return BlockId(blocks_.NumberOf(block.index())); }
  BlockId BlockOf(BlockId number) const { return BlockId(blocks_[number.index()]); }
  void Ask(BlockId block, Bytes size, Pool* pool, Placed* placed);
  bool Offered(BlockId last, BlockId block);

  const Facts& facts_;
  const Rows& blocks_;
  const ReusePolicy& policy_;
  Views views_;
  bool shared_;  // blocks go to other streams, too
  bool missed_;
  BlockOrder safe_;
  std::vector<uint32_t> pool_of_;  // by block of the graph, once it is placed
  std::vector<Pool> pools_;
  std::optional<FreedByOrder> proofs_;
  std::vector<BlockId> found_;
  std::vector<Answer> answers_;  // by block of the graph: what was said of this malloc
  uint32_t stamp_ = 0;
};

}  // namespace graphkit
