#include "libgraphkit/analysis/checks/capture_rules.h"

#include <iterator>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr CaptureRule kRules[] = {
    {401, "cudaErrorIllegalState", "the stream isn't in a state that allows the call",
     "end the capture that the stream is in before"},
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
     "end it in the thread that began it, or begin it in relaxed mode"},
};

bool OneOf(std::string_view call, std::span<const std::string_view> calls) {
  return std::ranges::find(calls, call) != calls.end();
}

constexpr std::string_view kCallbacks[] = {"cudaStreamAddCallback", "cuStreamAddCallback"};

// Never allowed on what a capture holds up, in no mode.
constexpr std::string_view kWaits[] = {
    "cudaStreamSynchronize", "cudaStreamQuery",  "cudaDeviceSynchronize", "cuStreamSynchronize",
    "cuStreamQuery",         "cuCtxSynchronize", "cuCtxRecordEvent",      "cuCtxWaitEvent"};

// Of a call that may wait for the device.
std::string UnsafeAdvice(const Trace& trace, const Failure& failure, const Capture* capture) {
  const std::string outside = CaptureRuleOf(kErrorUnsupported)->advice;
  if (capture == nullptr || capture->mode == CaptureMode::kRelaxed) return outside;
  if (OneOf(trace[failure.call], kWaits)) return outside;
  if (failure.thread == capture->thread) return outside + ", or capture in relaxed mode";
  return outside + ", capture in thread-local mode, or let " + NameOf(trace, failure.thread) +
         " call cudaThreadExchangeStreamCaptureMode first";
}

// Errors that leave a capture broken: unsupported, merge, unmatched, isolation, implicit, captured
// event.
bool Breaks(int32_t error) {
  constexpr int32_t kBreaking[] = {kErrorUnsupported, 902, 903, 905, 906, 907};
  return std::ranges::find(kBreaking, error) != std::end(kBreaking);
}

NodeId LastNodeBefore(const Trace& trace, GraphId graph, Seq seq) {
  NodeId last;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.graph != graph || node.seq > seq) continue;
    if (!last.valid() || trace[last].seq < node.seq) last = NodeId(i);
  }
  return last;
}

// The first failed call between two places that breaks captures; rather one that is said to have
// hit this one.
const Failure* FailureBetween(const Trace& trace, GraphId graph, Seq begin, Seq end) {
  const Failure* found = nullptr;
  for (const Failure& failure : trace.failures) {
    if (failure.seq < begin || failure.seq > end || !Breaks(failure.error)) continue;
    if (failure.graph == graph) return &failure;
    if (found == nullptr) found = &failure;
  }
  return found;
}

bool Captured(const Trace& trace, GraphId graph, StreamId stream) {
  return std::ranges::any_of(
      trace.nodes, [&](const Node& node) { return node.graph == graph && node.stream == stream; });
}

StreamId DestroyedBetween(const Trace& trace, GraphId graph, Seq begin, Seq end) {
  for (size_t i = 0; i < trace.streams.size(); ++i) {
    const Seq destroyed = trace.streams[i].destroyed;
    if (destroyed < begin || destroyed > end) continue;
    if (Captured(trace, graph, StreamId(i))) return StreamId(i);
  }
  return {};
}

GraphId HolderLostBetween(const Trace& trace, GraphId graph, Seq begin, Seq end) {
  for (NodeId holder = trace[graph].parent; holder.valid();) {
    const GraphId outer = trace[holder].graph;
    if (trace[outer].destroyed >= begin && trace[outer].destroyed <= end) return outer;
    holder = trace[outer].parent;
  }
  return {};
}

}  // namespace

std::optional<BrokenRule> RuleOf(const Trace& trace, const Failure& failure,
                                 const Capture* capture) {
  const CaptureRule* rule = CaptureRuleOf(failure.error);
  if (rule == nullptr) return std::nullopt;
  if (failure.error != kErrorUnsupported) return BrokenRule{rule->broken, rule->advice};
  if (OneOf(trace[failure.call], kCallbacks)) {
    return BrokenRule{"a stream callback can't be captured",
                      "use cudaLaunchHostFunc, which becomes a node of the graph"};
  }
  return BrokenRule{rule->broken, UnsafeAdvice(trace, failure, capture)};
}

CaptureBreak BreakOf(const Trace& trace, const Capture& capture) {
  CaptureBreak found;
  const Failure* told =
      capture.failure < trace.failures.size() ? &trace.failures[capture.failure] : nullptr;
  if (told != nullptr && told->error != kErrorInvalidated) return {.failure = told};
  for (const Failure& failure : trace.failures) {
    const bool inside = failure.seq >= capture.begin && failure.seq <= capture.end;
    if (!inside || failure.error != kErrorInvalidated || failure.graph != capture.graph) continue;
    found.noticed = &failure;
    break;
  }
  const Seq end = found.noticed != nullptr ? found.noticed->seq : capture.end;
  found.last = LastNodeBefore(trace, capture.graph, end);
  const Seq begin = found.last.valid() ? trace[found.last].seq : capture.begin;
  found.failure = FailureBetween(trace, capture.graph, begin, end);
  if (found.failure != nullptr) return found;
  found.lost = HolderLostBetween(trace, capture.graph, begin, end);
  if (!found.lost.valid()) found.destroyed = DestroyedBetween(trace, capture.graph, begin, end);
  return found;
}

const CaptureRule* CaptureRuleOf(int32_t error) {
  const auto* found = std::ranges::find(kRules, error, &CaptureRule::error);
  return found == std::end(kRules) ? nullptr : found;
}

std::string CallText(const Trace& trace, const Failure& failure) {
  const CaptureRule* rule = CaptureRuleOf(failure.error);
  std::string text = std::string(trace[failure.call]) + " (" + std::to_string(failure.error);
  if (rule != nullptr) text += std::string(", ") + rule->name;
  text += ") of " + NameOf(trace, failure.thread);
  if (failure.stream.valid()) text += " on " + NameOf(trace, failure.stream);
  return text;
}

std::string CalledText(const Facts& facts, const Failure& failure) {
  const Trace& trace = facts.trace;
  std::string text =
      std::string(trace[failure.call]) + " was called " + facts.places().Of(failure.seq);
  if (!trace[failure.arguments].empty()) text += " with " + std::string(trace[failure.arguments]);
  return text;
}

void AddStuckMemory(const Facts& facts, Finding* finding) {
  for (const BlockId id : facts.blocks()[finding->graph.index()]) {
    if (facts.trace[id].freed() || facts.trace[id].alloc_node.valid()) continue;
    AddBlock(facts.trace, id, finding);
  }
  if (finding->blocks.empty()) return;
  finding->evidence.push_back(
      {.text = ListOf(finding->blocks) + " of it (" + FormatBytes(finding->bytes) + ") " +
               (finding->blocks.size() == 1 ? "was" : "were") + " not freed",
       .blocks = finding->blocks});
}

}  // namespace graphkit
