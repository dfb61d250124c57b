#include "libgraphkit/render/diff/text.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/diff/memory_text.h"
#include "libgraphkit/render/figure_text.h"

namespace graphkit {

namespace {

constexpr size_t kLineTitleColumns = 48;

std::string NodeText(const Ran& trace, NodeId id) {
  return "node " + std::to_string(id.value) + " " + NodeTitle(trace, id, kLineTitleColumns);
}

std::string PairText(const Ran& before, const Ran& after, const NodePair& pair) {
  const std::string title = NodeTitle(before, pair.before, kLineTitleColumns);
  const std::string other = NodeTitle(after, pair.after, kLineTitleColumns);
  const std::string ids = pair.before == pair.after ? std::to_string(pair.before.value)
                                                    : std::to_string(pair.before.value) + " → " +
                                                          std::to_string(pair.after.value);
  return "node " + ids + " " + title + (title == other ? "" : " → " + other);
}

std::string OnStream(const Ran& trace, NodeId id) {
  return trace[id].stream ? " on " + StreamTitle(trace, trace[id].stream) : "";
}

std::string EdgeText(const Ran& trace, EdgeId id) {
  const Edge& edge = trace[id];
  const std::string data = edge.full() ? "" : " (" + EdgeDataText(edge) + ")";
  return "edge " + NodeText(trace, edge.from) + " → " + NodeText(trace, edge.to) + data;
}

bool IsBytes(const FigureChange& change) { return change.figure.ends_with("_bytes"); }

void RenderInked(std::string_view sign, const std::string& text, Ink ink, const TextOut& out) {
  const std::string line = Wrapped(sign, text, out.style);
  out << out.Inked(std::string_view(line).substr(0, line.size() - 1), ink) << "\n";
}

// The graphs whose peak changed, the largest change first: "peak live 76 MiB → 28 MiB (graph 0)".
void RenderPeaks(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                 const TextOut& out) {
  struct Peak {
    const GraphDiff* graph;
    Bytes before, after;
  };
  std::vector<Peak> peaks;
  for (const GraphDiff& graph : diff.graphs) {
    const auto peak = std::ranges::find(graph.figures, std::string_view("peak_live_bytes"),
                                        &FigureChange::figure);
    if (peak == graph.figures.end() || !peak->before || !peak->after) continue;
    peaks.push_back({&graph, *peak->before, *peak->after});
  }
  std::ranges::stable_sort(peaks, std::ranges::greater(), [](const Peak& peak) {
    return std::max(peak.before, peak.after) - std::min(peak.before, peak.after);
  });
  if (!peaks.empty() && !diff.memory_equal()) out << "\n";
  out.Top(peaks, "", [&](const Peak& peak) {
    const std::string text = "peak live " + FormatBytes(peak.before) + " → " +
                             FormatBytes(peak.after) + " (" + ChangeText(peak.before, peak.after) +
                             ") in " + PairTitle(before.trace, after.trace, *peak.graph);
    RenderInked("", text, peak.after > peak.before ? Ink::kRed : Ink::kGreen, out);
  });
}

struct GraphText {
  const Ran &before, &after;
  const TextOut& out;

  void Render(const GraphDiff& diff) {
    Heading(diff);
    Figures(diff);
    List(diff.removed_nodes, "  - ", Ink::kRed,
         [&](NodeId id) { return NodeText(before, id) + OnStream(before, id); });
    List(diff.added_nodes, "  + ", Ink::kGreen,
         [&](NodeId id) { return NodeText(after, id) + OnStream(after, id); });
    List(diff.moved_nodes, "  ~ ", Ink::kYellow, [&](const NodePair& pair) {
      return PairText(before, after, pair) + ": " +
             StreamTitle(before, before[pair.before].stream) + " → " +
             StreamTitle(after, after[pair.after].stream);
    });
    List(diff.parameters, "  ~ ", Ink::kYellow, [&](const ParameterChange& change) {
      return PairText(before, after, change.node) + ": " + change.what + " " + change.before +
             " → " + change.after;
    });
    List(diff.lost_edges, "  - ", Ink::kRed, [&](EdgeId id) { return EdgeText(before, id); });
    List(diff.gained_edges, "  + ", Ink::kGreen, [&](EdgeId id) { return EdgeText(after, id); });
    List(diff.changed_edges, "  ~ ", Ink::kYellow, [&](const EdgePair& pair) {
      const Edge &from = before[pair.before], &to = after[pair.after];
      return "edge " + NodeText(before, from.from) + " → " + NodeText(before, from.to) + ": " +
             EdgeDataText(from) + " → " + EdgeDataText(to);
    });
  }

  void Heading(const GraphDiff& diff) {
    std::vector<std::string> parts = {Counted(diff.matched_nodes, "node") + " matched"};
    const auto add = [&parts](const auto& items, std::string_view noun, const char* what) {
      if (items.empty()) return;
      const size_t count = items.size();
      parts.push_back((noun.empty() ? FormatCount(count) : Counted(count, noun)) + what);
    };
    add(diff.removed_nodes, "", " removed");
    add(diff.added_nodes, "", " added");
    add(diff.moved_nodes, "", " moved to another stream");
    add(diff.parameters, "parameter", " changed");
    add(diff.lost_edges, "edge", " lost");
    add(diff.gained_edges, "edge", " gained");
    add(diff.changed_edges, "edge", " changed");
    if (diff.equal()) parts = {Counted(diff.matched_nodes, "node"), "equal"};
    const std::string title = PairTitle(before, after, diff);
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    out.Paragraph("", title + ": " + text);
  }

  template <typename Item, typename ToText>
  void List(const std::vector<Item>& items, const char* sign, Ink ink, ToText to_text) {
    out.Top(items, sign, [&](const Item& item) { RenderInked(sign, to_text(item), ink, out); });
  }

  // Memory first: it is what most people ask about.
  void Figures(const GraphDiff& diff) {
    std::vector<FigureChange> figures = diff.figures;
    std::stable_partition(figures.begin(), figures.end(), IsBytes);
    TextRows rows;
    for (const FigureChange& change : figures) {
      rows.push_back({FigureWords(change.figure), FigureText(change.figure, change.before), "→",
                      FigureText(change.figure, change.after)});
    }
    out << Table(rows, "lrlr", "  ", out.style);
  }
};

void RenderFindings(const TraceDiff& diff, const TextOut& out) {
  if (diff.findings.empty()) return;
  out << "\nFindings\n";
  out.Top(diff.findings, "  ", [&](const FindingChange& change) {
    const bool more = change.count_after > change.count_before;
    const bool less = change.count_after < change.count_before;
    out.Wrap(more   ? "  + "
             : less ? "  - "
                    : "  ~ ",
             change.check + ": " + CountsText(change) + " (" + Printable(change.message) + ")");
  });
}

void RenderGraphs(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                  const TextOut& out) {
  RenderPeaks(diff, before, after, out);
  GraphText graphs{before.trace, after.trace, out};
  for (const GraphDiff& graph : diff.graphs) {
    if (!graph.equal()) graphs.Render(graph);
  }
  if (!diff.removed_graphs.empty() || !diff.added_graphs.empty()) out << "\n";
  for (const GraphId id : diff.removed_graphs) {
    out.Wrap("- ", GraphTitle(before.trace, id) + " removed");
  }
  for (const GraphId id : diff.added_graphs) {
    out.Wrap("+ ", GraphTitle(after.trace, id) + " added");
  }
}

void RenderVerdict(const TraceDiff& diff, const TextOut& out) {
  if (!diff.any()) {
    const std::string nothing = "nothing to compare: neither holds a graph or memory history";
    out << "\n" << out.Inked(nothing, Ink::kRed) << "\n";
    return;
  }
  std::vector<std::string> parts;
  if (!diff.memory.empty() && !diff.any_graph()) parts.push_back("memory");
  if (!diff.memory.empty() && diff.any_graph()) {
    parts.push_back(diff.memory_equal() ? "memory equal" : "memory differs");
  }
  if (diff.any_graph()) {
    const auto equal = std::ranges::count_if(diff.graphs, &GraphDiff::equal);
    const size_t other = std::max(diff.removed_graphs.size(), diff.added_graphs.size());
    parts.push_back(FormatCount(static_cast<uint64_t>(equal)) + " of " +
                    Counted(diff.graphs.size() + other, "graph") + " equal");
  }
  if (!diff.findings.empty()) parts.push_back("findings differ");
  const bool equal = diff.equal();
  out << "\n" << (equal ? out.Inked("equal", Ink::kGreen) : out.Inked("different", Ink::kRed));
  for (size_t i = 0; i < parts.size(); ++i) out << (i == 0 ? ": " : ", ") << parts[i];
  out << "\n";
}

}  // namespace

std::string PairTitle(const Ran& before, const Ran& after, const GraphDiff& diff) {
  const std::string title = GraphTitle(before, diff.before);
  return diff.before == diff.after ? title : title + " → " + GraphTitle(after, diff.after);
}

std::string EdgeDataText(const Edge& edge) {
  if (edge.full() && edge.to_port == 0) return "full";
  std::string text = edge.type == EdgeType::kProgrammatic ? "programmatic" : "";
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (edge.from_port != kPortDefault) add("port " + std::to_string(edge.from_port));
  if (edge.to_port != 0) add("to port " + std::to_string(edge.to_port));
  return text;
}

void RenderDiffText(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    const TextOut& out) {
  std::ostringstream text;
  const TextOut to{out.style, text};
  const std::string first = "before: " + Printable(before.file);
  const std::string second = "after: " + Printable(after.file);
  if (DisplayWidth(first + ", " + second) <= out.style.width) {
    to << first << ", " << second << "\n";
  } else {
    to.Wrap("before: ", Printable(before.file));
    to.Wrap("after:  ", Printable(after.file));
  }
  RenderMemoryDiff(diff, before, after, to);
  RenderGraphs(diff, before, after, to);
  RenderFindings(diff, to);
  RenderVerdict(diff, to);
  out << (out.style.ascii ? Ascii(text.str()) : text.str());
}

}  // namespace graphkit
