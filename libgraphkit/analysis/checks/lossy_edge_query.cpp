// lossy-edge-query: queries of edges that can't say what edges they are.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindLossyEdgeQueries(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Failure& failure : trace.failures) {
    if (failure.error != kErrorLossyQuery) continue;
    Finding finding;
    finding.graph = failure.graph;
    finding.message = std::string(trace[failure.call]) + " of " + NameOf(trace, failure.thread) +
                      " failed (402, cudaErrorLossyQuery): it was asked for edges without a place "
                      "for what sort of edges they are";
    finding.advice = "pass an array of cudaGraphEdgeData";
    finding.evidence.push_back(
        {.text = std::string(trace[failure.call]) + " was called " + facts.places().Of(failure.seq),
         .stack = failure.stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
