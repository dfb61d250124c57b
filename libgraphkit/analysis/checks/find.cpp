#include "libgraphkit/analysis/checks/find.h"

#include <algorithm>

#include "libgraphkit/analysis/naming.h"
#include "libgraphkit/analysis/proof.h"

namespace graphkit {

bool KnowsWhatWasFreed(const Trace& trace) {
  return !trace.completeness.truncated && trace.process.device != DeviceKind::kImported;
}

std::vector<bool> InvalidatedGraphs(const Trace& trace) {
  std::vector<bool> invalidated(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    invalidated[capture.graph.index()] = true;
  }
  return invalidated;
}

std::vector<bool> NeverRun(const Trace& trace) {
  std::vector<bool> never(trace.graphs.size());
  if (!KnowsWhatWasFreed(trace)) return never;
  for (size_t i = 0; i < never.size(); ++i) {
    if (trace.graphs[i].destroyed != kNever) never[i] = true;
    if (trace.graphs[i].original.valid()) never[trace.graphs[i].original.index()] = true;
  }
  for (const Exec& exec : trace.execs) {
    if (exec.graph.valid()) never[exec.graph.index()] = false;
  }
  return never;
}

Evidence ProofPath(const Facts& facts, NodeId from, NodeId to) {
  Evidence evidence;
  evidence.nodes = ShortestPath(facts.order, facts.in_edges, from, to);
  if (evidence.nodes.empty()) {
    evidence.nodes = {from, to};
    evidence.text = NameOf(facts.trace, from) + " is before " + NameOf(facts.trace, to) +
                    ", through the graphs that hold them";
    return evidence;
  }
  constexpr size_t kShown = 6;
  for (size_t i = 0; i < evidence.nodes.size(); ++i) {
    const bool skipped =
        evidence.nodes.size() > kShown && i >= kShown / 2 && i + kShown / 2 < evidence.nodes.size();
    if (skipped && i > kShown / 2) continue;
    if (i > 0) evidence.text += " -> ";
    evidence.text += skipped ? "..." : NameOf(facts.trace, evidence.nodes[i]);
  }
  return evidence;
}

}  // namespace graphkit
