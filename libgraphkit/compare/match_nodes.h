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
#include <optional>
#include <vector>

#include "libgraphkit/compare/graph_view.h"

namespace graphkit {

// Of each stream the one after that it is matched with.
struct StreamPartners {
  std::vector<std::optional<StreamId>> after;  // by stream before; the last is for no stream

  std::optional<StreamId> Of(StreamId before) const {
    return before ? after[before.index()] : after.back();
  }
};

struct NodeMatching {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<uint32_t> after;   // of each node before: its number after, or kNone
  std::vector<uint32_t> before;  // and back
  StreamPartners streams;
};

// The traces give the streams' names, which tell symmetric streams apart.
NodeMatching MatchNodes(const GraphView& before, const Trace& before_trace, const GraphView& after,
                        const Trace& after_trace);

}  // namespace graphkit
