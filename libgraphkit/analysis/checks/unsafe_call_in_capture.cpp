// unsafe-call-in-capture: calls that a capture doesn't allow, and that it survived.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindUnsafeCalls(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> broke(trace.failures.size());
  std::vector<const Capture*> of_graph(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.graph.valid()) of_graph[capture.graph.index()] = &capture;
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    const Failure* cause = BreakOf(trace, capture).failure;
    if (cause != nullptr) broke[static_cast<size_t>(cause - trace.failures.data())] = true;
  }
  std::vector<Finding> findings;
  for (size_t i = 0; i < trace.failures.size(); ++i) {
    const Failure& failure = trace.failures[i];
    if (broke[i] || failure.error == kErrorInvalidated || !failure.graph.valid()) continue;
    const std::optional<BrokenRule> rule = RuleOf(trace, failure, of_graph[failure.graph.index()]);
    if (!rule) continue;
    Finding finding;
    finding.graph = failure.graph;
    if (failure.stream.valid()) finding.streams = {failure.stream};
    finding.message = CallText(trace, failure) + " failed in the capture of " +
                      NameOf(trace, failure.graph) + ", which survived it: " + rule->broken;
    finding.advice = rule->advice;
    finding.evidence.push_back({.text = CalledText(facts, failure), .stack = failure.stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
