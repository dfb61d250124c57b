// graph-leak: graphs that were never destroyed.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Graphs that the program owns: embedded ones go with their node.
bool Owned(const Graph& graph) {
  return graph.origin == GraphOrigin::kCapture || graph.origin == GraphOrigin::kExplicit ||
         graph.origin == GraphOrigin::kClone;
}

}  // namespace

std::vector<Finding> FindGraphLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  const std::vector<bool>& invalidated = facts.invalidated();
  // A graph that is still being captured isn't the program's yet.
  const std::vector<bool> open = CapturedWith(trace, CaptureStatus::kOpen);
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    if (!Owned(trace[graph]) || trace[graph].destroyed != kNever) return;
    if (invalidated[graph.index()] || open[graph.index()]) return;
    finding->message = NameOf(trace, graph) + " was never destroyed";
    finding->advice = "call cudaGraphDestroy once the graph is instantiated";
  });
}

}  // namespace graphkit
