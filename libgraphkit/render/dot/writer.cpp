#include "libgraphkit/render/dot/writer.h"

#include <cmath>
#include <map>
#include <set>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/nesting.h"
#include "libgraphkit/render/dot/labels.h"
#include "libgraphkit/render/dot/style.h"

namespace graphkit {

namespace {

constexpr const char* kThick = "2.6";  // points: lines of a path
constexpr size_t kWideDrawing = 600;   // boxes and edges; from here on layout goes for speed
constexpr size_t kInOneRow = 8;        // graphs; more are laid out in rows and columns

// The graphs that each node holds, and the boxes of each stream of each graph.
struct NestedBoxes {
  std::map<NodeId, std::vector<GraphId>> inside;
  std::vector<std::map<StreamId, std::vector<uint32_t>>> boxes;  // by graph
};

NestedBoxes NestedBoxesOf(const Ran& trace, const FoldedGraphs& folded) {
  NestedBoxes nesting;
  nesting.boxes.resize(trace.graphs.size());
  for (const auto& [i, box] : Enumerate<uint32_t>(folded.boxes)) {
    nesting.boxes[box.graph.index()][box.stream].push_back(i);
  }
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const NodeId parent = trace.graphs[i].parent;
    if (parent) nesting.inside[parent].push_back(GraphId(i));
  }
  return nesting;
}

struct Writer {
  const Drawing& drawing;
  std::ostream& out;
  const Ran& trace = drawing.trace;
  const FoldedGraphs& folded = drawing.folded;
  NestedBoxes nesting = NestedBoxesOf(trace, folded);
  NodeChanges changes = NodeChanges(trace);
  std::set<std::pair<uint32_t, uint32_t>> path = {};  // edges between boxes
  std::set<uint32_t> path_boxes = {};

  void Write(const std::string& legend) {
    const std::vector<NodeId>& nodes = drawing.options.path;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t box = folded.box_of[nodes[i].index()];
      path_boxes.insert(box);
      if (i > 0) path.insert({folded.box_of[nodes[i - 1].index()], box});
    }
    std::vector<GraphId> outermost;
    for (size_t i = 0; i < trace.graphs.size(); ++i) {
      const NodeId parent = trace.graphs[i].parent;
      const bool nested = parent && folded.box_of[parent.index()] != kNoBox;
      if (drawing.graphs[i] && !nested) outermost.emplace_back(i);
    }
    WriteHead(legend);
    for (const GraphId id : outermost) WriteGraph(id, 1);
    if (folded.fold == Fold::kStreams) WriteRows();
    if (folded.fold != Fold::kStreams && drawing.options.rank == RankBy::kCapture) WriteRanks();
    if (outermost.size() > kInOneRow) WriteColumns(outermost);
    for (const BoxEdge& edge : folded.edges) WriteEdge(edge);
    for (const auto& [parent, graphs] : nesting.inside) {
      for (const GraphId graph : graphs) WriteHolds(parent, graph);
    }
    out << "}\n";
  }

  void WriteHead(const std::string& legend) {
    const bool wide = folded.boxes.size() + folded.edges.size() > kWideDrawing;
    out << "digraph graphkit {\n"
        << "  graph [compound=true, rankdir=TB, nodesep=0.3, ranksep=0.4, pad=0.3, newrank=true,"
        << " bgcolor=white, fontname=" << DotQuoted(kFont) << ", fontsize=11, fontcolor=\"" << kInk
        << "\", labelloc=t, labeljust=l, label=" << legend
        << (wide ? ", outputorder=edgesfirst, nslimit=2, nslimit1=2, mclimit=0.2" : "") << "];\n"
        << "  node [fontname=" << DotQuoted(kFont) << ", fontsize=11, fontcolor=\"" << kInk
        << "\", margin=\"0.14,0.07\", height=0.4, penwidth=1.1];\n"
        << "  edge [fontname=" << DotQuoted(kFont) << ", fontsize=9, fontcolor=\"" << kPaleInk
        << "\", arrowsize=0.7, penwidth=1.1];\n";
  }

  // Attributes of a cluster are inherited by those inside it: all that differ are written each
  // time.
  struct Cluster {
    std::string id;  // in DOT
    std::string anchor;
    std::string url;
    std::string label;
    const char* line;
    const char* fill;
    const char* side = "l";  // where the label stands
  };

  void OpenCluster(const Cluster& cluster, size_t depth) {
    out << std::string(2 * depth, ' ') << "subgraph " << cluster.id << " {\n"
        << std::string(2 * depth + 2, ' ') << "graph [style=\"rounded,filled\", color=\""
        << cluster.line << "\", fillcolor=\"" << cluster.fill << "\", margin=12, id=\""
        << cluster.anchor << "\", URL=\"" << cluster.url << "\", labeljust=" << cluster.side
        << ", label=" << cluster.label << "];\n";
  }

  // A graph that a node holds leads back to it.
  void OpenGraph(GraphId id, size_t depth) {
    const NodeId parent = trace[id].parent;
    OpenCluster({.id = "cluster_g" + std::to_string(id.value),
                 .anchor = "graph" + std::to_string(id.value),
                 .url = parent ? "#node" + std::to_string(parent.value) : "",
                 .label = GraphLabel(id),
                 .line = kGraphLine,
                 .fill = kGraphFill},
                depth);
  }

  static std::string StreamName(GraphId graph, StreamId stream) {
    return "g" + std::to_string(graph.value) + "_s" + std::to_string(stream.value);
  }

  // Edges from streams that began before come from the left: the name stands to the right. In a
  // grid edges arch over its first row: the names are a row of their own above.
  void OpenStream(GraphId graph, StreamId stream, size_t depth) {
    const std::string name = StreamName(graph, stream);
    const std::string label = TitleLabel("", {StreamTitle(trace, stream)}, "right");
    const bool grid = folded.fold == Fold::kStreams;
    OpenCluster({.id = "cluster_" + name,
                 .anchor = name,
                 .url = "",
                 .label = grid ? "\"\"" : label,
                 .line = kStreamLine,
                 .fill = kStreamFill,
                 .side = "r"},
                depth);
    if (!grid) return;
    out << std::string(2 * depth + 2, ' ') << "title_" << name
        << " [shape=plaintext, height=0.2, margin=0, label=" << label << "];\n";
  }

  void WriteGraph(GraphId id, size_t depth) {
    const auto& streams = nesting.boxes[id.index()];
    OpenGraph(id, depth);
    if (streams.empty()) WriteEmptyGraph(id, depth + 1);
    for (const auto& [stream, boxes] : streams) WriteStream(id, stream, boxes, depth + 1);
    for (const auto& [stream, boxes] : streams) {
      for (const uint32_t box : boxes) WriteInside(folded.boxes[box].nodes.front(), depth + 1);
    }
    out << std::string(2 * depth, ' ') << "}\n";
  }

  void WriteInside(NodeId holder, size_t depth) {
    const auto found = nesting.inside.find(holder);
    if (found == nesting.inside.end()) return;
    for (const GraphId graph : found->second) {
      if (drawing.graphs[graph.index()]) WriteGraph(graph, depth);
    }
  }

  // A cluster without a node would not be drawn.
  void WriteEmptyGraph(GraphId id, size_t depth) {
    out << std::string(2 * depth, ' ') << "empty_g" << id.value << " [shape=plaintext, fontcolor=\""
        << kPaleInk << "\", label=\"no nodes\"];\n";
  }

  void WriteStream(GraphId graph, StreamId stream, const std::vector<uint32_t>& boxes,
                   size_t depth) {
    if (stream) OpenStream(graph, stream, depth);
    for (const uint32_t box : boxes) WriteBox(box, depth + (stream ? 1 : 0));
    if (stream) out << std::string(2 * depth, ' ') << "}\n";
  }

  void WriteBox(uint32_t index, size_t depth) {
    const Box& box = folded.boxes[index];
    const bool several = box.nodes.size() > 1;
    const NodeLook& look = LookOf(trace[box.nodes.front()].kind);
    const ColourBy by = drawing.options.colour;
    const BoxColour colour = ColourOfKey(KeyOfBox(box, drawing.colour_keys, by), by);
    const bool focus =
        std::ranges::find(box.nodes, drawing.options.select.focus) != box.nodes.end();
    out << std::string(2 * depth, ' ') << BoxId(index)
        << " [shape=" << (several ? "box3d" : look.shape) << ", style=\""
        << (several ? "filled" : look.style) << "\", fillcolor=\"" << colour.fill << "\", color=\""
        << colour.line << "\"";
    if (focus) out << ", peripheries=2";
    out << ", id=\"node" << box.nodes.front().value << "\"";
    const std::string link = LinkOf(box.nodes.front());
    if (!link.empty()) out << ", URL=" << DotQuoted(link);
    if (path_boxes.contains(index)) out << ", penwidth=" << kThick;
    out << ", label=" << BoxLabel(trace, box, drawing.options.details, changes)
        << ", tooltip=" << DotQuoted(BoxTip(trace, box)) << "];\n";
  }

  void WriteEdge(const BoxEdge& edge) {
    const EdgeLook& look = LookOf(edge.from_port, edge.type);
    out << "  " << BoxId(edge.from) << " -> " << BoxId(edge.to) << " [style=" << look.style
        << ", arrowhead=" << look.head << ", color=\"" << look.colour << "\"";
    const bool within = folded.boxes[edge.from].stream == folded.boxes[edge.to].stream;
    const bool rows = folded.fold == Fold::kStreams;
    if (within) out << ", weight=8";
    const bool capture = drawing.options.rank == RankBy::kCapture;
    if ((rows && !within) || (capture && edge.to < edge.from)) out << ", constraint=false";
    if (path.contains({edge.from, edge.to})) out << ", penwidth=" << kThick;
    const std::string label = EdgeLabel(trace, edge, drawing.options.details);
    if (!label.empty() && !rows) out << ", label=" << DotQuoted(label);
    out << ", tooltip=" << DotQuoted(EdgeTip(trace, edge)) << "];\n";
  }

  // Stretches of a graph that were captured together stand side by side: the drawing is a grid of
  // streams and capture order.
  void WriteRows() {
    std::map<std::pair<GraphId, uint32_t>, std::map<StreamId, uint32_t>> rows;
    for (const auto& [i, box] : Enumerate<uint32_t>(folded.boxes)) {
      rows[{box.graph, box.stretch}].emplace(box.stream, i);
    }
    for (const auto& [row, boxes] : rows) {
      out << "  { rank=same;";
      for (const auto& [stream, box] : boxes) out << " " << BoxId(box) << ";";
      out << " }\n";
    }
    for (size_t i = 0; i < trace.graphs.size(); ++i) WriteTitles(GraphId(i));
  }

  void WriteTitles(GraphId graph) {
    std::string titles;
    for (const auto& [stream, boxes] : nesting.boxes[graph.index()]) {
      if (!stream) continue;
      const std::string title = "title_" + StreamName(graph, stream);
      titles += " " + title + ";";
      out << "  " << title << " -> " << BoxId(boxes.front()) << " [style=invis, weight=8];\n";
    }
    if (!titles.empty()) out << "  { rank=same;" << titles << " }\n";
  }

  // Where a box leads to in SVG.
  std::string LinkOf(NodeId node) const {
    if (!drawing.options.link.empty()) return NodeLink(drawing.options.link, trace, node);
    const auto inside = nesting.inside.find(node);
    if (inside == nesting.inside.end()) return "";
    return "#graph" + std::to_string(inside->second.front().value);
  }

  // Each box of a graph below the one that was captured before it.
  void WriteRanks() {
    std::map<GraphId, uint32_t> last;
    for (uint32_t i = 0; i < folded.boxes.size(); ++i) {
      const auto [before, first] = last.emplace(folded.boxes[i].graph, i);
      if (!first) {
        out << "  " << BoxId(before->second) << " -> " << BoxId(i) << " [style=invis, weight=0];\n";
      }
      before->second = i;
    }
  }

  // The first and last boxes of a graph and those inside it, in DOT.
  struct Ends {
    std::set<std::string> first;
    std::set<std::string> last;
  };

  std::vector<Ends> EndsOfGraphs() const {
    const std::vector<GraphId> roots = FindRoots(trace);
    std::vector<bool> entered(folded.boxes.size()), left(folded.boxes.size());
    for (const BoxEdge& edge : folded.edges) left[edge.from] = entered[edge.to] = true;
    std::vector<Ends> ends(trace.graphs.size());
    for (uint32_t i = 0; i < folded.boxes.size(); ++i) {
      Ends& of_graph = ends[roots[folded.boxes[i].graph.index()].index()];
      if (!entered[i]) of_graph.first.insert(BoxId(i));
      if (!left[i]) of_graph.last.insert(BoxId(i));
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      for (const auto& [stream, boxes] : nesting.boxes[i]) {
        ends[roots[i].index()].first.insert(BoxId(boxes.front()));
        ends[roots[i].index()].last.insert(BoxId(boxes.back()));
      }
      if (ends[i].first.empty()) ends[i].first = ends[i].last = {"empty_g" + std::to_string(i)};
    }
    return ends;
  }

  // Graphs below each other, in about twice as many columns as rows: Graphviz' own packing draws
  // no clusters.
  void WriteColumns(const std::vector<GraphId>& graphs) {
    const auto columns =
        static_cast<size_t>(std::lround(std::sqrt(2.0 * static_cast<double>(graphs.size()))));
    const std::vector<Ends> ends = EndsOfGraphs();
    for (size_t i = columns; i < graphs.size(); ++i) {
      const std::string between = "below_g" + std::to_string(graphs[i - columns].value);
      out << "  " << between << " [shape=point, style=invis];\n";
      for (const std::string& box : ends[graphs[i - columns].index()].last) {
        out << "  " << box << " -> " << between << " [style=invis];\n";
      }
      for (const std::string& box : ends[graphs[i].index()].first) {
        out << "  " << between << " -> " << box << " [style=invis];\n";
      }
    }
  }

  // From a node to the cluster of a graph that it holds.
  void WriteHolds(NodeId parent, GraphId graph) {
    const uint32_t from = folded.box_of[parent.index()];
    if (from == kNoBox || !drawing.graphs[graph.index()]) return;
    const auto& streams = nesting.boxes[graph.index()];
    const std::string to =
        streams.empty() ? "empty_g" + std::to_string(graph.value) : BoxId(FirstBox(streams));
    out << "  " << BoxId(from) << " -> " << to << " [lhead=cluster_g" << graph.value
        << ", style=\"bold\", arrowhead=none, arrowtail=odiamond, dir=both, color=\"" << kHoldsLine
        << "\", tooltip=\"holds graph " << graph.value << "\"];\n";
  }

  static uint32_t FirstBox(const std::map<StreamId, std::vector<uint32_t>>& streams) {
    uint32_t first = kNoBox;
    for (const auto& [stream, boxes] : streams) first = std::min(first, boxes.front());
    return first;
  }

  std::string BoxId(uint32_t index) const {
    return "n" + std::to_string(folded.boxes[index].nodes.front().value);
  }

  std::string GraphLabel(GraphId id) const {
    const Graph& graph = trace[id];
    uint64_t nodes = 0;
    for (const auto& [stream, boxes] : nesting.boxes[id.index()]) {
      for (const uint32_t box : boxes) nodes += folded.boxes[box].nodes.size();
    }
    std::string what = Counted(nodes, "node");
    if (graph.origin == GraphOrigin::kBody) what += ", body " + std::to_string(graph.body);
    if (graph.origin == GraphOrigin::kChild) what += ", child graph";
    if (graph.origin == GraphOrigin::kClone) what += ", a clone";
    return TitleLabel(GraphTitle(trace, id), {what}, "left");
  }
};

}  // namespace

void WriteDot(const Drawing& drawing, const std::string& legend, std::ostream& out) {
  Writer{drawing, out}.Write(legend);
}

}  // namespace graphkit
