// The same trace with other ids: streams, nodes, edges, blocks, kernels and strings renumbered, and
// nodes in another order that keeps each stream's and each edge's.
#pragma once

#include <random>
#include <vector>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct Permuted {
  Ran trace;
  std::vector<NodeId> node;  // of each old id the new one
  std::vector<EdgeId> edge;
};

// Keeps what a comparison looks at: graphs, nodes, edges, streams, kernels, shapes, accesses and
// blocks. Nodes and edges that aren't in their graph any more are left out: their new id is none.
Permuted Permute(const Ran& trace, std::mt19937_64& random);

}  // namespace graphkit
