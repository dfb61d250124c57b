// Graphs as DOT, the language of Graphviz: each graph a cluster, in it a cluster for each stream;
// child graphs and bodies of conditional nodes nested, and linked to their node. Written as text,
// so that it needs no Graphviz; tests read it back with libcgraph.
//
// What an edge means can be told without colours: full edges are solid, programmatic ones dashed
// with an open head, launch-completion ones dotted.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/dot/fold.h"

namespace graphkit {

enum class ColourBy : uint8_t { kType, kStream, kDuration, kPool, kFinding };

// What decides how far down a box stands.
enum class RankBy : uint8_t {
  kOrder,    // what it depends on
  kCapture,  // when it was captured: below all that was captured before it
};

// What else stands in boxes and on edges.
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

// What is drawn, and what a person should know about it.
struct DotSummary {
  uint64_t nodes = 0;
  uint64_t boxes = 0;
  Fold fold = Fold::kNone;
  std::vector<std::string> notes;  // also in the drawing: folding, incompleteness, simulation
  uint64_t graphs_left_out = 0;
  bool operator==(const DotSummary&) const = default;
};

DotSummary RenderDot(const Trace& trace, const DotOptions& options, std::ostream& out);

}  // namespace graphkit
