#include "libgraphkit/render/dot.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "libgraphkit/render/dot_labels.h"
#include "libgraphkit/render/dot_style.h"
#include "libgraphkit/render/names.h"
#include "libgraphkit/render/printable.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

constexpr size_t kLegendColumns = 6;
constexpr size_t kWideDrawing = 600;  // boxes and edges; from here on layout goes for speed

// The graphs that each node holds, and the boxes of each stream of each graph.
struct Nesting {
  std::map<NodeId, std::vector<GraphId>> inside;
  std::vector<std::map<StreamId, std::vector<uint32_t>>> boxes;  // by graph
};

Nesting NestingOf(const Trace& trace, const FoldedGraphs& folded) {
  Nesting nesting;
  nesting.boxes.resize(trace.graphs.size());
  for (uint32_t i = 0; i < folded.boxes.size(); ++i) {
    const Box& box = folded.boxes[i];
    nesting.boxes[box.graph.index()][box.stream].push_back(i);
  }
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const NodeId parent = trace.graphs[i].parent;
    if (parent) nesting.inside[parent].push_back(GraphId(i));
  }
  return nesting;
}

// Whether each graph is drawn: the wanted one and what lies inside it. Nested graphs follow the
// graph that holds them, however deep.
std::vector<bool> DrawnGraphs(const Trace& trace, GraphId wanted) {
  std::vector<bool> drawn(trace.graphs.size(), !wanted);
  if (!wanted) return drawn;
  drawn[wanted.index()] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < trace.graphs.size(); ++i) {
      const NodeId parent = trace.graphs[i].parent;
      if (drawn[i] || !parent || !drawn[trace[parent].graph.index()]) continue;
      drawn[i] = grew = true;
    }
  }
  return drawn;
}

class Writer {
 public:
  Writer(const Trace& trace, const FoldedGraphs& folded, const std::vector<bool>& drawn,
         std::ostream& out)
      : trace_(trace),
        folded_(folded),
        drawn_(drawn),
        nesting_(NestingOf(trace, folded)),
        out_(out) {}

  void Write(const std::string& legend) {
    WriteHead(legend);
    for (size_t i = 0; i < trace_.graphs.size(); ++i) {
      const NodeId parent = trace_.graphs[i].parent;
      const bool nested = parent && drawn_[trace_[parent].graph.index()];
      if (drawn_[i] && !nested) WriteGraph(GraphId(i), 1);
    }
    if (folded_.fold == Fold::kStreams) WriteRows();
    for (const BoxEdge& edge : folded_.edges) WriteEdge(edge);
    for (const auto& [parent, graphs] : nesting_.inside) {
      for (const GraphId graph : graphs) WriteHolds(parent, graph);
    }
    out_ << "}\n";
  }

 private:
  void WriteHead(const std::string& legend) {
    const bool wide = folded_.boxes.size() + folded_.edges.size() > kWideDrawing;
    out_ << "digraph graphkit {\n"
         << "  graph [compound=true, rankdir=TB, nodesep=0.3, ranksep=0.4, pad=0.3, newrank=true,"
         << " bgcolor=white, fontname=" << DotQuoted(kFont) << ", fontsize=11, fontcolor=\"" << kInk
         << "\", labelloc=t, labeljust=l, label=" << legend
         << (wide ? ", splines=line, nslimit=2, nslimit1=2, mclimit=0.2" : "") << "];\n"
         << "  node [fontname=" << DotQuoted(kFont) << ", fontsize=11, fontcolor=\"" << kInk
         << "\", margin=\"0.14,0.07\", height=0.4, penwidth=1.1];\n"
         << "  edge [fontname=" << DotQuoted(kFont) << ", fontsize=9, fontcolor=\"" << kPaleInk
         << "\", arrowsize=0.7, penwidth=1.1];\n";
  }

  void OpenCluster(const std::string& id, const std::string& label, const char* line,
                   const char* fill, size_t depth) {
    out_ << std::string(2 * depth, ' ') << "subgraph " << id << " {\n"
         << std::string(2 * depth + 2, ' ') << "graph [style=\"rounded,filled\", color=\"" << line
         << "\", fillcolor=\"" << fill << "\", margin=12, label=" << label << "];\n";
  }

  void WriteGraph(GraphId id, size_t depth) {
    const auto& streams = nesting_.boxes[id.index()];
    OpenCluster("cluster_g" + std::to_string(id.value), GraphLabel(id), kGraphLine, kGraphFill,
                depth);
    if (streams.empty()) WriteEmptyGraph(id, depth + 1);
    for (const auto& [stream, boxes] : streams) WriteStream(id, stream, boxes, depth + 1);
    for (const auto& [stream, boxes] : streams) {
      for (const uint32_t box : boxes) WriteInside(folded_.boxes[box].nodes.front(), depth + 1);
    }
    out_ << std::string(2 * depth, ' ') << "}\n";
  }

  void WriteInside(NodeId holder, size_t depth) {
    const auto found = nesting_.inside.find(holder);
    if (found == nesting_.inside.end()) return;
    for (const GraphId graph : found->second) {
      if (drawn_[graph.index()]) WriteGraph(graph, depth);
    }
  }

  // A cluster without a node would not be drawn.
  void WriteEmptyGraph(GraphId id, size_t depth) {
    out_ << std::string(2 * depth, ' ') << "empty_g" << id.value
         << " [shape=plaintext, fontcolor=\"" << kPaleInk << "\", label=\"no nodes\"];\n";
  }

  void WriteStream(GraphId graph, StreamId stream, const std::vector<uint32_t>& boxes,
                   size_t depth) {
    if (stream) {
      OpenCluster("cluster_g" + std::to_string(graph.value) + "_s" + std::to_string(stream.value),
                  TitleLabel("", StreamTitle(trace_, stream), "left"), kStreamLine, kStreamFill,
                  depth);
    }
    for (const uint32_t box : boxes) WriteBox(box, depth + (stream ? 1 : 0));
    if (stream) out_ << std::string(2 * depth, ' ') << "}\n";
  }

  void WriteBox(uint32_t index, size_t depth) {
    const Box& box = folded_.boxes[index];
    const bool folded = box.nodes.size() > 1;
    const NodeLook& look = LookOf(trace_[box.nodes.front()].kind);
    out_ << std::string(2 * depth, ' ') << BoxId(index)
         << " [shape=" << (folded ? "box3d" : look.shape) << ", style=\""
         << (folded ? "filled" : look.style) << "\", fillcolor=\"" << look.fill << "\", color=\""
         << look.line << "\", label=" << BoxLabel(trace_, box)
         << ", tooltip=" << DotQuoted(BoxTip(trace_, box)) << "];\n";
  }

  void WriteEdge(const BoxEdge& edge) {
    const EdgeLook& look = LookOf(edge.from_port, edge.type);
    out_ << "  " << BoxId(edge.from) << " -> " << BoxId(edge.to) << " [style=" << look.style
         << ", arrowhead=" << look.head << ", color=\"" << look.colour << "\"";
    const bool within = folded_.boxes[edge.from].stream == folded_.boxes[edge.to].stream;
    const bool rows = folded_.fold == Fold::kStreams;
    if (within) out_ << ", weight=8";
    if (rows && !within) out_ << ", constraint=false";
    if (edge.count > 1 && !rows) out_ << ", label=\"" << edge.count << "\"";
    out_ << ", tooltip=" << DotQuoted(EdgeTip(trace_, edge)) << "];\n";
  }

  // Stretches of a graph that were captured together stand side by side: the drawing is a grid of
  // streams and capture order.
  void WriteRows() {
    std::map<std::pair<GraphId, uint32_t>, std::map<StreamId, uint32_t>> rows;
    for (uint32_t i = 0; i < folded_.boxes.size(); ++i) {
      const Box& box = folded_.boxes[i];
      rows[{box.graph, box.stretch}].emplace(box.stream, i);
    }
    for (const auto& [row, boxes] : rows) {
      out_ << "  { rank=same;";
      for (const auto& [stream, box] : boxes) out_ << " " << BoxId(box) << ";";
      out_ << " }\n";
    }
  }

  // From a node to the cluster of a graph that it holds.
  void WriteHolds(NodeId parent, GraphId graph) {
    const uint32_t from = folded_.box_of[parent.index()];
    if (from == kNoBox || !drawn_[graph.index()]) return;
    const auto& streams = nesting_.boxes[graph.index()];
    const std::string to =
        streams.empty() ? "empty_g" + std::to_string(graph.value) : BoxId(FirstBox(streams));
    out_ << "  " << BoxId(from) << " -> " << to << " [lhead=cluster_g" << graph.value
         << ", style=\"bold\", arrowhead=none, arrowtail=odiamond, dir=both, color=\"" << kHoldsLine
         << "\", tooltip=\"holds graph " << graph.value << "\"];\n";
  }

  static uint32_t FirstBox(const std::map<StreamId, std::vector<uint32_t>>& streams) {
    uint32_t first = kNoBox;
    for (const auto& [stream, boxes] : streams) first = std::min(first, boxes.front());
    return first;
  }

  std::string BoxId(uint32_t index) const {
    return "n" + std::to_string(folded_.boxes[index].nodes.front().value);
  }

  std::string GraphLabel(GraphId id) const {
    const Graph& graph = trace_[id];
    uint64_t nodes = 0;
    for (const auto& [stream, boxes] : nesting_.boxes[id.index()]) {
      for (const uint32_t box : boxes) nodes += folded_.boxes[box].nodes.size();
    }
    std::string what = Counted(nodes, "node");
    if (graph.origin == GraphOrigin::kBody) what += ", body " + std::to_string(graph.body);
    if (graph.origin == GraphOrigin::kChild) what += ", child graph";
    if (graph.origin == GraphOrigin::kClone) what += ", a clone";
    return TitleLabel(GraphTitle(trace_, id), what, "left");
  }

  const Trace& trace_;
  const FoldedGraphs& folded_;
  const std::vector<bool>& drawn_;
  Nesting nesting_;
  std::ostream& out_;
};

std::vector<std::string> Notes(const Trace& trace, const FoldedGraphs& folded) {
  std::vector<std::string> notes;
  if (trace.process.device == DeviceKind::kSoft) {
    notes.push_back("recorded on the software device (simulated)");
  }
  if (!trace.completeness.complete()) notes.push_back("the trace is incomplete");
  if (folded.boxes.size() < folded.nodes) {
    notes.push_back(
        FormatCount(folded.nodes) + " nodes folded into " + Counted(folded.boxes.size(), "group") +
        (folded.fold == Fold::kStreams ? ", stretches of streams" : ", straight chains"));
  }
  return notes;
}

// One line of the legend's table.
std::string LegendRow(const std::string& content) {
  return "<tr><td align=\"left\">" + content + "</td></tr>";
}

std::string InColour(const std::string& content, const char* colour) {
  return std::string("<font color=\"") + colour + "\">" + content + "</font>";
}

// The kinds of nodes that occur, six to a line.
std::string NodeLegend(const Trace& trace, const FoldedGraphs& folded) {
  std::set<NodeKind> kinds;
  for (const Box& box : folded.boxes) {
    for (const NodeId id : box.nodes) kinds.insert(trace[id].kind);
  }
  std::string rows, line;
  size_t shown = 0;
  for (const NodeKind kind : kinds) {
    line += InColour("■", LookOf(kind).line) + " " + NodeKindName(kind) + "   ";
    if (++shown % kLegendColumns != 0 && shown < kinds.size()) continue;
    rows += LegendRow(line);
    line.clear();
  }
  return rows;
}

// The kinds of edges that occur, a line each.
std::string EdgeLegend(const FoldedGraphs& folded) {
  std::map<std::pair<uint8_t, EdgeType>, const EdgeLook*> looks;
  for (const BoxEdge& edge : folded.edges) {
    looks[{edge.from_port, edge.type}] = &LookOf(edge.from_port, edge.type);
  }
  std::string rows;
  const EdgeLook* last = nullptr;
  for (const auto& [kind, look] : looks) {
    if (look != last) {
      rows += LegendRow(InColour(look->sample, look->colour) + "  " + DotHtml(look->name));
    }
    last = look;
  }
  return rows;
}

// Title, notes, and what the boxes and lines mean.
std::string Legend(const Trace& trace, const FoldedGraphs& folded,
                   const std::vector<std::string>& notes) {
  const std::string program = Ellipsize(Printable(trace.process.program), 80);
  std::string html = "<<table border=\"0\" cellborder=\"0\" cellspacing=\"1\" cellpadding=\"2\">";
  html += LegendRow("<b>" + DotHtml(program.empty() ? "CUDA graphs" : program) + "</b>");
  for (const std::string& note : notes) html += LegendRow(InColour(DotHtml(note), kPaleInk));
  return html + NodeLegend(trace, folded) + EdgeLegend(folded) + "</table>>";
}

}  // namespace

DotSummary RenderDot(const Trace& trace, const DotOptions& options, std::ostream& out) {
  const std::vector<bool> drawn = DrawnGraphs(trace, options.graph);
  const FoldedGraphs folded = FoldGraphs(trace, drawn, options.fold);
  DotSummary summary{folded.nodes, folded.boxes.size(), folded.fold, Notes(trace, folded)};
  Writer(trace, folded, drawn, out).Write(Legend(trace, folded, summary.notes));
  return summary;
}

}  // namespace graphkit
