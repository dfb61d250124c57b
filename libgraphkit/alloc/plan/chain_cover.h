// Blocks of one size need as many places as the smallest number of chains that they can be put
// into, each block of a chain before the next one. That is the size of the largest set of blocks
// that all conflict (Dilworth's theorem), so the lower bound is always reached.
//
//     lane 0    a0 ──► a1 ─┐    a2        three chains, three places:
//     lane 1       b0 ──┐  └► b1          a0 a1 b1 | b0 c0 a2 | …
//     lane 2            └► c0
//
// Every block looks for one to follow (a matching in the order of blocks): a free one if there is,
// otherwise one whose follower can follow another one instead, and so on.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/memory/bound/lanes.h"

namespace graphkit {

struct ChainCover {
  std::vector<uint32_t> chain;  // by item
  uint32_t chains = 0;
};

ChainCover CoverByChains(const Lanes& lanes);

}  // namespace graphkit
