// The memory of a graph's pools as a policy fills it: each block is placed twice, with segments and
// without. Two ways to the same places: looking at every piece of memory at each malloc, by asking
// the policy pair by pair, or by an index of what it has offered.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/replay/held_memory.h"

namespace graphkit {

class PolicyMemory {
 public:
  // Where a block went, and what its pool got to hold more for it.
  struct Placed {
    Bytes arena = 0;  // offsets
    Bytes segments = 0;
    Bytes arena_added = 0;
    Bytes segments_added = 0;
    // The arena grew although last use proves a stretch safe that would have done.
    bool missed = false;
  };

  virtual ~PolicyMemory() = default;

  // The pool's segments from the beginning; before any of `blocks` is placed.
  virtual void Hold(uint32_t pool, const HeldMemory& held, std::span<const BlockId> blocks) = 0;
  // Called for every offer of the policy, and before each malloc, placed or not.
  virtual void Take(const Offer&) {}
  virtual void BeforeMalloc(BlockId) {}
  virtual void Freed(BlockId) {}
  // `size`: rounded, not 0.
  virtual Placed Place(BlockId block, uint32_t pool, Bytes size) = 0;
};

// Asks the policy at each malloc for every piece of the pool. `missed`: finds out what was missed.
std::unique_ptr<PolicyMemory> ScanningMemory(const Facts& facts, const GraphSlice& slice,
                                             const ReusePolicy& policy, size_t pools,
                                             const CachingConfig& config, bool missed);

// For a policy that offers to `views`. `proved`: views of what last use proves, to find out what
// was missed; null: nothing is asked. Null when there are more views than can be told apart. Views
// must outlive it.
std::unique_ptr<PolicyMemory> IndexedMemory(const Facts& facts, const PolicyInfo& policy,
                                            const GraphSlice& slice, const MallocViews& views,
                                            const MallocViews* proved, size_t pools,
                                            const CachingConfig& config);

}  // namespace graphkit
