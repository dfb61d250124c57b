// open-capture: captures that never ended.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

// A cut trace may have lost the end.
std::vector<Finding> FindOpenCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  const bool cut = trace.completeness.truncated;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kOpen || !capture.graph.valid()) continue;
    Finding finding;
    finding.severity = cut ? Severity::kNote : Severity::kError;
    finding.graph = capture.graph;
    if (capture.origin.valid()) finding.streams = {capture.origin};
    finding.message =
        "the capture of " + NameOf(trace, capture.graph) + " on " + NameOf(trace, capture.origin) +
        (cut ? " was open when the trace was cut off: its graph isn't whole"
             : " was open when the program ended: its graph isn't whole, and was never run");
    finding.advice = cut ? "trace the program up to its end"
                         : "call cudaStreamEndCapture on " + NameOf(trace, capture.origin) +
                               " on every way out of the capture, errors included";
    if (capture.thread.valid()) {
      finding.evidence.push_back({.text = NameOf(trace, capture.thread) + " began it"});
    }
    AddStuckMemory(facts, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
