// Memory that launches of graphs overwrite and that isn't theirs any more: work outside of graphs
// that a graph's replay writes as another block of its own.
//
//     capture of graph 0:   block 1 (freed)   block 2, at the same address (kept)
//     outside of graphs:                         writes block 2 ──┐               ┌── reads block 2
//     launches:                                                   └── graph 0 ────┘
//                                                                     writes block 1
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/model/memory.h"

namespace graphkit {

// Memory used outside of graphs that a launch wrote over, or may have.
struct Overwrite {
  BlockId used;              // what is used outside of graphs; none: no allocator's block is there
  BlockId own;               // the graph's block in its place
  NodeId node;               // that writes it
  GraphId graph;             // that was launched
  uint32_t launch = 0;       // in Trace::launches: the one that wrote over it
  uint32_t before = kNoUse;  // in Trace::works: what used it before the launch, if any did
  uint32_t after = kNoUse;   // that uses it after the launch; none: nothing recorded does
  AccessMode mode = AccessMode::kUnknown;  // of `after`: it reads what is used, or may
  bool sure = true;                        // both uses are known to be some (SureAccess)
  bool operator==(const Overwrite&) const = default;
};

// By what is used, each by each graph once.
std::vector<Overwrite> FindOverwrites(const Facts& facts);

}  // namespace graphkit
