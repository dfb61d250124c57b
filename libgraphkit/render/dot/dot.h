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
#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/ran/ran.h"

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
FoldedGraphs FoldGraphs(const Ran& trace, const std::vector<bool>& nodes, Fold fold);

// Graphs as DOT, the language of Graphviz: each graph a cluster, in it a cluster for each stream;
// child graphs and bodies of conditional nodes nested, and linked to their node. Written as text,
// so that it needs no Graphviz; tests read it back with libcgraph.
//
// Edges differ without colours: full edges are solid, programmatic ones dashed
// with an open head, launch-completion ones dotted.

enum class ColourBy : uint8_t { kType, kStream, kDuration, kPool, kFinding };

// The order of boxes from top to bottom.
enum class RankBy : uint8_t {
  kOrder,    // what it depends on
  kCapture,  // when it was captured: below all that was captured before it
};

// More texts in boxes and on edges.
struct DotDetails {
  bool memory = false;  // the blocks that a node touches
  bool edges = false;   // ids and ports
  bool params = false;  // sizes of a kernel's parameters
  bool operator==(const DotDetails&) const = default;
};

struct DotOptions {
  SelectionOptions select;
  Fold fold = Fold::kAuto;
  ColourBy colour = ColourBy::kType;
  DotDetails details;
  RankBy rank = RankBy::kOrder;
  // Where a box leads to in SVG: {node}, {file} and {line} (of the call that made it) are filled
  // in. Empty: boxes that hold graphs lead to them, others nowhere.
  std::string link = {};
  std::vector<NodeId> path = {};       // drawn with thick lines, from its first node to its last
  std::vector<Finding> findings = {};  // for ColourBy::kFinding
  bool operator==(const DotOptions&) const = default;
};

// The drawn parts, and notes on them for people.
struct DotSummary {
  uint64_t nodes = 0;
  uint64_t boxes = 0;
  Fold fold = Fold::kNone;
  std::vector<std::string> notes;  // also in the drawing: folding, incompleteness, simulation
  uint64_t graphs_left_out = 0;
  bool operator==(const DotSummary&) const = default;
};

DotSummary RenderDot(const Ran& trace, const DotOptions& options, std::ostream& out);

}  // namespace graphkit
