// Folding: fewer boxes than nodes, so that a drawing of ten thousand nodes can be read.
//
//     chains:   a → b → c → d        one box "4 nodes", when nothing else touches b and c, no edge
//                                    but the chain's leaves a or enters d, all edges are full,
//                                    and all lie on one stream
//     streams:  each stream of a graph is cut into stretches of capture order, a box each
//     nvtx:     what was captured on one stream in one NVTX range, the innermost that was open, is
//               one box; what lies in none stays as it is
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class Fold : uint8_t {
  kAuto,  // none for small drawings, chains for larger, streams when that isn't enough
  kNone,
  kChains,
  kStreams,
  kNvtx,
};

inline constexpr uint32_t kNoRange = 0xffffffffu;

// One or more nodes of one graph and one stream, drawn as one.
struct Box {
  GraphId graph;
  StreamId stream;
  std::vector<NodeId> nodes;  // in capture order; never empty
  uint32_t stretch = 0;       // Fold::kStreams: which stretch of the trace it lies in
  uint32_t range = kNoRange;  // Fold::kNvtx: in Trace::nvtx_ranges
  bool operator==(const Box&) const = default;
};

// All edges of one kind from one box to another.
struct BoxEdge {
  uint32_t from = 0;  // index of a box
  uint32_t to = 0;
  uint8_t from_port = kPortDefault;
  EdgeType type = EdgeType::kDefault;
  EdgeId first;        // the first of them
  uint32_t count = 1;  // how many
  bool operator==(const BoxEdge&) const = default;
};

struct FoldedGraphs {
  Fold fold = Fold::kNone;       // what was done: never kAuto
  std::vector<Box> boxes;        // by their first node
  std::vector<BoxEdge> edges;    // by from, then to, then port
  std::vector<uint32_t> box_of;  // by node: its box; kNoBox for nodes that aren't drawn
  uint64_t nodes = 0;            // drawn, in boxes
  bool operator==(const FoldedGraphs&) const = default;
};
inline constexpr uint32_t kNoBox = 0xffffffffu;

// `nodes`: which to draw, by node id. Removed edges aren't drawn.
FoldedGraphs FoldGraphs(const Trace& trace, const std::vector<bool>& nodes, Fold fold);

// Which NVTX range each node was captured in.

// By node: of the ranges that were open on its thread, the one opened last; kNoRange (fold.h): none
// was, or the thread isn't known.
std::vector<uint32_t> InnermostRanges(const Trace& trace);

}  // namespace graphkit
