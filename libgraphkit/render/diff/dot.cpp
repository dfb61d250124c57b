#include <array>

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/compare/drawing.h"
#include "libgraphkit/render/diff/diff.h"
#include "libgraphkit/render/dot/drawing.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

constexpr size_t kNodeTitleColumns = 32;

struct ChangeLook {
  const char* fill;
  const char* line;
  const char* style;  // of boxes
  const char* edge;   // style of edges
  const char* width;
};

// In the order of Change.
constexpr std::array<ChangeLook, 5> kLooks = {{
    {"#ffffff", "#9aa2ab", "rounded,filled", "solid", "1"},
    {"#f9d9d6", "#b93a32", "rounded,filled,dashed", "dashed", "1.4"},
    {"#d9efe0", "#2f7f4f", "rounded,filled,bold", "bold", "1.8"},
    {"#fdeacb", "#c08a1e", "rounded,filled", "solid", "1.8"},
    {"#e6e3f3", "#7668ab", "rounded,filled", "solid", "1.8"},
}};

const ChangeLook& LookOf(Change change) { return kLooks[static_cast<size_t>(change)]; }

std::string Ids(const DiffBox& box) {
  if (!box.after) return "#" + std::to_string(box.before.value);
  if (!box.before || box.before == box.after) return "#" + std::to_string(box.after.value);
  return "#" + std::to_string(box.before.value) + " → #" + std::to_string(box.after.value);
}

struct DiffWriter {
  const Trace &before, &after;
  std::ostream& out;

  void Graph(size_t index, const GraphDiff& diff, const DiffDrawing& drawing) {
    std::vector<std::string> details = {Counted(diff.matched_nodes, "node") + " matched"};
    if (drawing.left_out > 0) {
      details.push_back(Counted(drawing.left_out, "more change") + " not drawn");
    }
    const std::string title = PairTitle(before, after, diff);
    out << "  subgraph cluster_" << index << " {\n    graph [style=\"rounded,filled\", color=\""
        << kGraphLine << "\", fillcolor=\"" << kGraphFill
        << "\", label=" << TitleLabel(title, details, "left") << "];\n";
    if (drawing.boxes.empty()) {
      out << "    g" << index << "_none [shape=plaintext, label=\"only figures differ\"];\n";
    }
    for (size_t i = 0; i < drawing.boxes.size(); ++i) Box(index, i, drawing.boxes[i]);
    out << "  }\n";
    for (const DiffArrow& arrow : drawing.arrows) Arrow(index, arrow);
  }

  void Whole(size_t index, const Trace& trace, GraphId graph, Change change) {
    const ChangeLook& look = LookOf(change);
    out << "  whole" << index << " [shape=box, style=\"" << look.style << "\", fillcolor=\""
        << look.fill << "\", color=\"" << look.line
        << "\", label=" << TitleLabel(GraphTitle(trace, graph), {std::string(ChangeName(change))})
        << "];\n";
  }

  void Box(size_t graph, size_t index, const DiffBox& box) {
    const ChangeLook& look = LookOf(box.change);
    const Trace& trace = box.after ? after : before;
    const NodeId id = box.after ? box.after : box.before;
    std::vector<std::string> lines = {Ids(box) + " · " + StreamTitle(trace, trace[id].stream)};
    for (const std::string& what : box.what) lines.push_back(what);
    out << "    g" << graph << "_n" << index << " [shape=box, style=\"" << look.style
        << "\", fillcolor=\"" << look.fill << "\", color=\"" << look.line
        << "\", label=" << TitleLabel(NodeTitle(trace, id, kNodeTitleColumns), lines)
        << ", tooltip=" << DotQuoted(ChangeName(box.change)) << "];\n";
  }

  void Arrow(size_t graph, const DiffArrow& arrow) {
    const ChangeLook& look = LookOf(arrow.change);
    out << "  g" << graph << "_n" << arrow.from << " -> g" << graph << "_n" << arrow.to
        << " [style=\"" << look.edge << "\", color=\"" << look.line
        << "\", penwidth=" << look.width;
    if (arrow.change == Change::kChanged) {
      out << ", label="
          << DotQuoted(EdgeDataText(before[arrow.before]) + " → " +
                       EdgeDataText(after[arrow.after]));
    }
    out << ", tooltip=" << DotQuoted(ChangeName(arrow.change)) << "];\n";
  }
};

std::string Legend(const TraceDiff& diff, const DiffSide& before, const DiffSide& after) {
  std::string html = "<<table border=\"0\" cellborder=\"0\" cellspacing=\"1\" cellpadding=\"2\">";
  const auto row = [&html](const std::string& content) {
    html += "<tr><td align=\"left\">" + content + "</td></tr>";
  };
  row("<b>" + XmlText(Ellipsize(Printable(before.file), 60)) + " → " +
      XmlText(Ellipsize(Printable(after.file), 60)) + "</b>");
  row(diff.equal() ? "equal" : "different");
  std::string line;
  for (const Change change :
       {Change::kRemoved, Change::kAdded, Change::kChanged, Change::kMoved, Change::kSame}) {
    line += std::string("<font color=\"") + LookOf(change).line + "\">■</font> " +
            ChangeName(change) + "   ";
  }
  row(line);
  return html + "</table>>";
}

}  // namespace

void RenderDiffDot(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                   std::ostream& out) {
  out << "digraph graphkit_diff {\n  graph [rankdir=TB, nodesep=0.3, ranksep=0.4, pad=0.3,"
      << " newrank=true, bgcolor=white, fontname=" << DotQuoted(kFont) << ", fontsize=11,"
      << " labelloc=t, labeljust=l, label=" << Legend(diff, before, after) << "];\n"
      << "  node [fontname=" << DotQuoted(kFont) << ", fontsize=11, fontcolor=\"" << kInk
      << "\"];\n  edge [fontname=" << DotQuoted(kFont) << ", fontsize=9, arrowsize=0.7];\n";
  DiffWriter writer{before.trace, after.trace, out};
  const std::vector<DiffDrawing> drawings = DrawDiff(diff, before.trace, after.trace);
  size_t index = 0, whole = 0;
  for (const GraphDiff& graph : diff.graphs) {
    if (graph.equal()) continue;
    writer.Graph(index, graph, drawings[index]);
    ++index;
  }
  for (const GraphId id : diff.removed_graphs) {
    writer.Whole(whole++, before.trace, id, Change::kRemoved);
  }
  for (const GraphId id : diff.added_graphs) {
    writer.Whole(whole++, after.trace, id, Change::kAdded);
  }
  out << "}\n";
}

}  // namespace graphkit
