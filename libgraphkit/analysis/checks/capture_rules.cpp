#include "libgraphkit/analysis/checks/capture_rules.h"

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr CaptureRule kCaptureRules[] = {
    {401, "cudaErrorIllegalState", "the stream isn't in a state that allows the call",
     "end the capture that the stream is in before", false},
    {900, "cudaErrorStreamCaptureUnsupported",
     "while a capture is open, calls that wait for the device or may do so are not allowed",
     "make the call before the capture begins or after it has ended"},
    {902, "cudaErrorStreamCaptureMerge",
     "waiting for an event of another capture would make one of two captures",
     "capture both into one graph, from one origin stream"},
    {903, "cudaErrorStreamCaptureUnmatched", "a capture ends on the stream that began it",
     "call cudaStreamEndCapture on the capture's origin stream"},
    {905, "cudaErrorStreamCaptureIsolation",
     "a capture may wait only for what was captured in it, and the event was recorded outside",
     "record the event inside the capture, or wait for it (on the host or the stream) before"},
    {906, "cudaErrorStreamCaptureImplicit",
     "the legacy stream waits for every blocking stream, hence for work that is only captured",
     "use streams made with cudaStreamNonBlocking, or no legacy stream while capturing"},
    {907, "cudaErrorCapturedEvent",
     "an event that was recorded in a capture stands for work that has not run: it can't be asked "
     "or waited for by the host",
     "ask an event that is recorded outside captures"},
    {908, "cudaErrorStreamCaptureWrongThread",
     "a capture that isn't relaxed ends in the thread that began it",
     "end it in the thread that began it, or begin it in relaxed mode", false},
};

// Calls on a stream that no capture takes, whatever its mode.
struct UncapturedCall {
  std::string_view call;  // after "cuda" or "cu"
  const char* broken;
  const char* advice;
};
constexpr UncapturedCall kUncaptured[] = {
    {"BatchAsync", "a batch of copies or of ranges can't be captured: the graph lacks it",
     "call cudaMemcpyAsync for each copy, which becomes a node; make other batches outside of it"},
    {"StreamAddCallback", "a stream callback can't be captured",
     "use cudaLaunchHostFunc, which becomes a node of the graph"},
    {"GraphLaunch", "a launch of a graph can't be captured, in no mode",
     "launch it before the capture begins or after it has ended; or add its graph as a child node "
     "(cudaGraphAddChildGraphNode, between cudaStreamGetCaptureInfo and "
     "cudaStreamUpdateCaptureDependencies)"},
};

// Never allowed on what a capture holds up, in no mode.
constexpr std::string_view kWaits[] = {
    "cudaStreamSynchronize", "cudaStreamQuery",  "cudaDeviceSynchronize", "cuStreamSynchronize",
    "cuStreamQuery",         "cuCtxSynchronize", "cuCtxRecordEvent",      "cuCtxWaitEvent"};

bool OfCapture(const Ran& trace, StreamId stream, const Capture& capture) {
  const auto captured = [&](const Node& node) {
    return node.graph == capture.graph && node.stream == stream;
  };
  return stream.valid() && (stream == capture.origin || std::ranges::any_of(trace.nodes, captured));
}

// Of a call that may wait for the device.
std::string UnsafeAdvice(const Ran& trace, const Failure& failure, const Capture* capture) {
  const std::string outside = CaptureRuleOf(kErrorUnsupported)->advice;
  if (capture == nullptr || capture->mode == CaptureMode::kRelaxed) return outside;
  const bool waits = std::ranges::find(kWaits, trace[failure.call]) != std::end(kWaits);
  if (waits || OfCapture(trace, failure.stream, *capture)) return outside;
  if (failure.thread == capture->thread) return outside + ", or capture in relaxed mode";
  return Say(trace,
             "{}, capture in thread-local mode, or let {} call cudaThreadExchangeStreamCaptureMode "
             "first",
             outside, failure.thread);
}

}  // namespace

const CaptureRule* CaptureRuleOf(int32_t error) {
  const auto* found = std::ranges::find(kCaptureRules, error, &CaptureRule::error);
  return found == std::end(kCaptureRules) ? nullptr : found;
}

std::optional<BrokenRule> RuleOf(const Ran& trace, const Failure& failure, const Capture* capture) {
  const CaptureRule* rule = CaptureRuleOf(failure.error);
  if (rule == nullptr) return std::nullopt;
  if (failure.error != kErrorUnsupported) return BrokenRule{rule->broken, rule->advice};
  for (const UncapturedCall& call : kUncaptured) {
    if (trace[failure.call].find(call.call) != std::string_view::npos)
      return BrokenRule{call.broken, call.advice};
  }
  return BrokenRule{rule->broken, UnsafeAdvice(trace, failure, capture)};
}

std::optional<BrokenRule> RuleInWholeCapture(const Ran& trace, const Failure& failure,
                                             const Capture* capture) {
  constexpr std::string_view kMakesNodes[] = {
      "Launch", "Memcpy", "Memset", "MallocAsync", "MallocFromPoolAsync", "FreeAsync"};
  if (failure.error == kErrorInvalidated) return std::nullopt;
  const std::optional<BrokenRule> rule = RuleOf(trace, failure, capture);
  const auto makes = [&](std::string_view part) {
    return trace[failure.call].find(part) != std::string_view::npos;
  };
  if (rule || std::ranges::none_of(kMakesNodes, makes)) return rule;
  return BrokenRule{"the graph lacks what it was to do", "check what the call returns"};
}

}  // namespace graphkit
