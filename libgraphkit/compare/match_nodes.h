// Pairs the nodes of two graphs by their kind and their surroundings, never by
// their ids.
//
// A node's cones are all that leads to it and all that it leads to. Where both are the same on both
// sides, the nodes match; a change leaves the cones that don't hold it as they were:
//
//     a ─── b ─── x ─── c ─── d          a, b: what leads to them is unchanged
//     a ─── b ─── y ─── c ─── d          c, d: what they lead to is unchanged
//
// Between several changes the matching spreads from matched nodes to neighbours with the same
// label, then along each stream by longest common subsequences, then to kernels of the same name
// anywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/compare/graph_view.h"
#include "libgraphkit/compare/stream_votes.h"

namespace graphkit {

struct NodeMatching {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<uint32_t> after;   // of each node before: its number after, or kNone
  std::vector<uint32_t> before;  // and back
  StreamVotes::Partners streams;
};

// The traces give the streams' names, which tell symmetric streams apart.
NodeMatching MatchNodes(const GraphView& before, const Trace& before_trace, const GraphView& after,
                        const Trace& after_trace);

}  // namespace graphkit
