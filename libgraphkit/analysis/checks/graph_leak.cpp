// graph-leak: graphs that were never destroyed.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

// Graphs that the program owns: embedded ones go with their node.
bool Owned(const Graph& graph) {
  return graph.origin == GraphOrigin::kCapture || graph.origin == GraphOrigin::kExplicit ||
         graph.origin == GraphOrigin::kClone;
}

// The graphs of captures that are open, which aren't the program's yet.
std::vector<bool> StillCaptured(const Trace& trace) {
  std::vector<bool> captured(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kOpen || !capture.graph.valid()) continue;
    captured[capture.graph.index()] = true;
  }
  return captured;
}

}  // namespace

std::vector<Finding> FindGraphLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  const std::vector<bool> invalidated = InvalidatedGraphs(trace), open = StillCaptured(trace);
  std::vector<Finding> findings;
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const GraphId id(i);
    const Graph& graph = trace.graphs[i];
    if (!Owned(graph) || graph.destroyed != kNever) continue;
    if (invalidated[i] || open[i]) continue;
    Finding finding;
    finding.graph = id;
    finding.message = NameOf(trace, id) + " was never destroyed";
    finding.advice = "call cudaGraphDestroy once the graph is instantiated";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
