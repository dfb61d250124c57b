// unsafe-call-in-capture: calls that a capture doesn't allow, and that it survived.
#include <vector>

#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {

std::vector<Finding> FindUnsafeCalls(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> broke(trace.failures.size());
  for (const Capture& capture : trace.captures) {
    if (capture.failure < broke.size()) broke[capture.failure] = true;
  }
  std::vector<Finding> findings;
  for (size_t i = 0; i < trace.failures.size(); ++i) {
    const Failure& failure = trace.failures[i];
    const CaptureRule* rule = CaptureRuleOf(failure.error);
    if (broke[i] || rule == nullptr || failure.error == kErrorInvalidated ||
        !failure.graph.valid()) {
      continue;
    }
    Finding finding;
    finding.graph = failure.graph;
    if (failure.stream.valid()) finding.streams = {failure.stream};
    finding.message = CallText(trace, failure) + " failed in the capture of " +
                      NameOf(trace, failure.graph) + ", which survived it: " + rule->broken;
    finding.advice = rule->advice;
    finding.evidence.push_back({.text = CalledText(trace, failure), .stack = failure.stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
