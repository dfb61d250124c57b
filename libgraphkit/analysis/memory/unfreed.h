// Memory that is there when the program ends, and whether that looks like a leak.
//
//     launches, captures   ──│────│────│────│──     kept: weights, optimizer state, workspaces
//     blocks of line 7     x                        made before or once, and used to the end
//     blocks of line 9       x    x    x    x       grows: made in each interval, none ever freed
//
// Memory that an allocator of the program (PyTorch's, a pool) or a library has at the end is kept
// on purpose, unless it grows. What the program itself asked the driver for and never freed leaked.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/memory/memory_facts.h"

namespace graphkit {

// Blocks of one pool, made by one call stack; without stacks, of one size.
struct UnfreedSite {
  StackId stack;
  PoolId pool;
  std::vector<BlockId> blocks = {};
  Bytes bytes = 0;       // as asked for
  bool managed = false;  // by an allocator or a library
  // Between launches and captures, in which it made what no graph has; 0: some of what it made was
  // freed.
  uint32_t intervals = 0;

  bool grows() const { return intervals >= 3; }
  bool leaked() const { return !managed || grows(); }
};

// In order of their first blocks. None of a trace that doesn't say what was freed.
std::vector<UnfreedSite> FindUnfreed(const MemoryFacts& facts);

}  // namespace graphkit
