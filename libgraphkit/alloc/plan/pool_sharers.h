// Graphs that share memory: captured into the same private pools, one after the other. A graph
// finds in its pools what the graphs before it left there:
//
//     graph A  ├ hidden ┤├ logits ──────┤       logits was freed before C was captured,
//     graph B               ├ answer ───────    and C may take its memory; B may not
//     graph C                            ├ …
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"

namespace graphkit {

struct PoolSharers {
  std::vector<GraphId> graphs;  // in capture order
  Seq begin = 0;                // the first allocation of the first of them
  Seq gone = kNever;            // the last of their execs destroyed, and of their blocks freed
  bool operator==(const PoolSharers&) const = default;
};

// All graphs with blocks, in capture order; one that shares no pool is alone, as are captures into
// a pool at the same time, and those that began when the graphs before them were gone.
std::vector<PoolSharers> FindPoolSharers(const Facts& facts);

}  // namespace graphkit
