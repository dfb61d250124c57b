#include <algorithm>
#include <functional>
#include <sstream>

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/render/explain/explain.h"
#include "libgraphkit/render/explain/memory_text.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {
namespace {

constexpr size_t kMostGraphs = 5;
constexpr size_t kMostFindings = 4;

void RenderHead(const Explanation& explanation, const TextStyle& style, std::ostream& out) {
  std::string line = explanation.about.what;
  for (const std::string& fact : explanation.about.facts) line += " · " + fact;
  const std::string wrapped = Wrapped("", line, style);
  const size_t title = std::min(explanation.about.what.size(), wrapped.find('\n'));
  out << Inked(wrapped.substr(0, title), Ink::kBold, style) << wrapped.substr(title);
}

// One line on what was found: "1 error and 2 warnings", "no error, no warning; 3 notes".
std::string VerdictText(const std::vector<FindingGroup>& groups) {
  uint64_t counts[3] = {};
  for (const FindingGroup& group : groups) {
    counts[static_cast<size_t>(group.first.severity)] += group.count();
  }
  const uint64_t errors = counts[static_cast<size_t>(Severity::kError)];
  const uint64_t warnings = counts[static_cast<size_t>(Severity::kWarning)];
  const uint64_t notes = counts[static_cast<size_t>(Severity::kNote)];
  const std::string and_notes = notes == 0 ? "" : "; " + Counted(notes, "note");
  if (errors + warnings == 0) return "no error, no warning" + and_notes;
  std::vector<std::string> parts;
  if (errors > 0) parts.push_back(Counted(errors, "error"));
  if (warnings > 0) parts.push_back(Counted(warnings, "warning"));
  return Listed(parts) + and_notes;
}

void RenderFindings(const Explanation& explanation, const TextStyle& style, std::ostream& out) {
  if (explanation.graphs.empty()) return;
  const std::vector<FindingGroup>& groups = explanation.findings;
  out << "\n  " << Inked("FINDINGS", Ink::kBold, style) << "  " << VerdictText(groups) << "\n";
  const size_t shown = std::min(groups.size(), kMostFindings);
  for (size_t i = 0; i < shown; ++i) {
    const Finding& finding = groups[i].first;
    const std::string times = groups[i].count() == 1 ? "" : " ×" + FormatCount(groups[i].count());
    const std::string first = "   " + std::to_string(i + 1) + " ";
    const std::string label = SeverityName(finding.severity) + times + ": ";
    const uint64_t others = groups[i].others.size();
    const std::string more = others == 0 ? "" : ", and " + FormatCount(others) + " more like it";
    out << Wrapped(first, label + Printable(finding.message) + more + " [" + finding.check + "]",
                   style);
    if (finding.advice.empty() || finding.severity == Severity::kNote) continue;
    out << Wrapped("     → ", Printable(finding.advice), style);
  }
  if (shown < groups.size()) {
    out << "     … " << Counted(groups.size() - shown, "more kind") << " (graphkit analyze)\n";
  }
}

// Memory that graphs have of their own, those of most bytes first.
void RenderGraphs(const Explanation& explanation, const TextStyle& style, std::ostream& out) {
  std::vector<const GraphSummary*> graphs;
  for (const GraphSummary& graph : explanation.graphs) {
    if (graph.blocks > 0) graphs.push_back(&graph);
  }
  if (graphs.empty() || !explanation.unknown_memory.empty()) return;
  std::ranges::stable_sort(graphs, std::ranges::greater(), &GraphSummary::peak_live_bytes);
  TextRows rows = {
      {"graph", "nodes", "launches", "peak live", "deferred", "never freed", "lower bound"}};
  const size_t shown = std::min(graphs.size(), kMostGraphs);
  for (size_t i = 0; i < shown; ++i) {
    const GraphSummary& graph = *graphs[i];
    rows.push_back({GraphTitle(graph.graph, graph.name), FormatCount(graph.nodes),
                    FormatCount(graph.launches), FormatBytes(graph.peak_live_bytes),
                    FormatBytes(graph.deferred_bytes), FormatBytes(graph.never_freed_bytes),
                    FormatBytes(graph.lower_bound_bytes)});
  }
  out << "\n  " << Inked("WHAT THE GRAPHS KEEP", Ink::kBold, style) << "\n"
      << Table(rows, "lrrrrrr", "    ", style);
  if (shown < graphs.size()) {
    out << "    … " << Counted(graphs.size() - shown, "more graph") << " (graphkit analyze)\n";
  }
}

void RenderNext(const std::vector<NextCommand>& next, const TextStyle& style, std::ostream& out) {
  if (next.empty()) return;
  size_t width = 0;
  for (const NextCommand& command : next) width = std::max(width, DisplayWidth(command.command));
  out << "\n  " << Inked("Next", Ink::kBold, style) << "\n";
  for (const NextCommand& command : next) {
    const std::string space(width - DisplayWidth(command.command) + 4, ' ');
    const bool fits = 4 + width + 4 + DisplayWidth(command.shows) <= style.width;
    out << "    " << command.command << (fits ? space + command.shows : std::string()) << "\n";
  }
}

}  // namespace

void RenderExplanation(const Explanation& explanation, const Trace& trace,
                       const ExplainStyle& style, std::ostream& out) {
  std::ostringstream text;
  RenderHead(explanation, style.text, text);
  if (!explanation.unknown_memory.empty()) {
    text << Wrapped("", "memory unknown: " + Printable(explanation.unknown_memory), style.text);
  }
  RenderFindings(explanation, style.text, text);
  RenderMemory(explanation, trace, style, text);
  RenderGraphs(explanation, style.text, text);
  RenderRemarks(explanation, style.text, text);
  RenderNext(explanation.about.next, style.text, text);
  out << (style.text.ascii ? Ascii(text.str()) : text.str());
}

}  // namespace graphkit
