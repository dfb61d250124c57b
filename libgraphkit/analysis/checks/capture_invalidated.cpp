// capture-invalidated: calls that broke a capture.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {

std::vector<Finding> FindInvalidatedCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    const Failure* cause = CauseOf(trace, capture);
    if (cause != nullptr && cause->error == kErrorUnjoined) continue;
    Finding finding;
    finding.graph = capture.graph;
    if (capture.origin.valid()) finding.streams = {capture.origin};
    const std::string captured =
        "the capture of " + NameOf(trace, capture.graph) + " on " + NameOf(trace, capture.origin);
    if (cause == nullptr) {
      finding.message = captured + " failed (" + std::to_string(capture.error) +
                        "), and which call broke it was not recorded";
    } else {
      const CaptureRule* rule = CaptureRuleOf(cause->error);
      finding.message = CallText(trace, *cause) + " broke " + captured;
      if (rule != nullptr) finding.message += std::string(": ") + rule->broken;
      if (rule != nullptr) finding.advice = rule->advice;
      finding.evidence.push_back({.text = CalledText(trace, *cause), .stack = cause->stack});
    }
    AddStuckMemory(facts, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
