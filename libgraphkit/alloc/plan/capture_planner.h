// Places the blocks of a captured graph so that the highest byte used is low. Two blocks may share
// memory only if the graph orders them (libgraphkit/analysis/memory/block_order.h): unlike with
// plain lifetimes there is no single order of time.
// docs/planning.md has the steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/memory/lower_bound.h"

namespace graphkit {

struct CapturePlannerOptions {
  PlannerOptions search;
  Bytes alignment = 512;              // of every offset; a multiple of 512
  const LowerBound* bound = nullptr;  // of the blocks, where it is known already
};

struct FixedBlock {
  BlockId block;
  Bytes offset = 0;
};

struct CapturePlan {
  std::vector<Bytes> offsets;  // by block given
  Bytes peak = 0;
  Bytes lower_bound = 0;
  bool operator==(const CapturePlan&) const = default;
};

// `blocks`: of one pool of one root graph, in capture order. Blocks without bytes lie at 0. `fixed`
// blocks lie where they are told to, whether or not that is safe.
CapturePlan PlanCapture(const BlockOrder& order, std::span<const BlockId> blocks,
                        const CapturePlannerOptions& options = {},
                        std::span<const FixedBlock> fixed = {});

// Blocks of one size need as many places as the smallest number of chains that they can be put
// into, each block of a chain before the next one. That is the size of the largest set of blocks
// that all conflict (Dilworth's theorem), so the lower bound is always reached.
//
//     lane 0    a0 ──► a1 ─┐    a2        three chains, three places:
//     lane 1       b0 ──┐  └► b1          a0 a1 b1 | b0 c0 a2 | …
//     lane 2            └► c0
//
// A matching in the order of blocks: a follower makes way where it can follow another block.
struct ChainCover {
  std::vector<uint32_t> chain;  // by item
  uint32_t chains = 0;
};

ChainCover CoverByChains(const Lanes& lanes, const PlacedConflicts& conflicts);

}  // namespace graphkit
