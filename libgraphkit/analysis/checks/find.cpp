#include "libgraphkit/analysis/checks/find.h"

#include <algorithm>

#include "libgraphkit/analysis/naming.h"
#include "libgraphkit/analysis/proof.h"

namespace graphkit {

bool KnowsWhatWasFreed(const Trace& trace) {
  return !trace.completeness.truncated && trace.process.device != DeviceKind::kImported;
}

bool Invalidated(const Trace& trace, GraphId graph) {
  return std::any_of(trace.captures.begin(), trace.captures.end(), [&](const Capture& capture) {
    return capture.graph == graph && capture.status == CaptureStatus::kInvalidated;
  });
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
