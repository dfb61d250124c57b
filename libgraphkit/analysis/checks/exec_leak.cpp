// exec-leak: instantiated graphs that were never destroyed.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/group_by.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {

std::vector<Finding> FindExecLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  const Grouped by_graph =
      Group(trace.execs, trace.graphs.size(), [](const Exec& exec) { return exec.graph; });
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
    uint64_t leaked = 0;
    Finding finding;
    for (const uint32_t id : by_graph.Of(graph)) {
      const Exec& exec = trace.execs[id];
      if (exec.destroyed != kNever || ++leaked > 1) continue;
      finding.evidence.push_back({.text = "exec " + std::to_string(id) + " was instantiated " +
                                          PlaceOf(trace, exec.created),
                                  .stack = exec.stack});
    }
    if (leaked == 0) continue;
    finding.graph = GraphId(graph);
    finding.message = Count(leaked, "exec") + " of " + NameOf(trace, finding.graph) +
                      (leaked == 1 ? " was" : " were") + " never destroyed";
    finding.advice = "call cudaGraphExecDestroy when the graph is launched no more";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
