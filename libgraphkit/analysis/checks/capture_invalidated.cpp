// capture-invalidated: calls that broke a capture.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Of a capture of which no call is known that failed: what else happened to it, and when.
std::string BrokenBy(const Trace& trace, const CaptureBreak& broken) {
  if (broken.lost.valid()) {
    return ": " + NameOf(trace, broken.lost) +
           ", which holds it, was destroyed while it was captured, by a call that succeeded";
  }
  if (broken.destroyed.valid()) {
    return " after cudaStreamDestroy of " + NameOf(trace, broken.destroyed) +
           ", which succeeded: the stream was part of the capture";
  }
  std::string text = ", and which call broke it was not recorded: a call that succeeded, ";
  text += broken.last.valid() ? "after " + NameOf(trace, broken.last) : "after the begin";
  if (broken.noticed != nullptr) text += " and before " + CallText(trace, *broken.noticed);
  return text;
}

std::string AdviceFor(const Trace& trace, const CaptureBreak& broken) {
  if (broken.lost.valid()) {
    return "end the captures into the bodies of " + NameOf(trace, broken.lost) + " before it goes";
  }
  if (broken.destroyed.valid()) {
    return "join " + NameOf(trace, broken.destroyed) +
           ", and destroy it after the capture has ended";
  }
  return "ask cudaStreamIsCapturing after each call in between, to see which one it is";
}

}  // namespace

std::vector<Finding> FindInvalidatedCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    if (capture.error == kErrorUnjoined) continue;
    const CaptureBreak broken = BreakOf(trace, capture);
    const Failure* cause = broken.failure;
    if (cause != nullptr && cause->error == kErrorUnjoined) continue;
    Finding finding;
    finding.graph = capture.graph;
    if (capture.origin.valid()) finding.streams = {capture.origin};
    const std::string captured =
        "the capture of " + NameOf(trace, capture.graph) + " on " + NameOf(trace, capture.origin);
    if (cause == nullptr) {
      finding.message =
          captured + " failed (" + std::to_string(capture.error) + ")" + BrokenBy(trace, broken);
      finding.advice = AdviceFor(trace, broken);
      if (broken.noticed != nullptr) {
        finding.evidence.push_back({.text = CalledText(facts, *broken.noticed) + ", and noticed",
                                    .stack = broken.noticed->stack});
      }
    } else {
      finding.message = CallText(trace, *cause) + " broke " + captured;
      if (const std::optional<BrokenRule> rule = RuleOf(trace, *cause, &capture)) {
        finding.message += ": " + rule->broken;
        finding.advice = rule->advice;
      }
      finding.evidence.push_back({.text = CalledText(facts, *cause), .stack = cause->stack});
    }
    AddStuckMemory(facts, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
