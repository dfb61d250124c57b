#include "libgraphkit/analysis/checks/capture_rules.h"

#include <algorithm>
#include <iterator>

#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

constexpr CaptureRule kRules[] = {
    {401, "cudaErrorIllegalState", "the stream isn't in a state that allows the call",
     "end the capture that the stream is in before"},
    {900, "cudaErrorStreamCaptureUnsupported",
     "while a capture is open, calls that wait for the device or may do so are not allowed",
     "make the call before the capture, or capture in thread-local or relaxed mode"},
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

}  // namespace

const CaptureRule* CaptureRuleOf(int32_t error) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const CaptureRule& rule) { return rule.error == error; });
  return found == std::end(kRules) ? nullptr : found;
}

std::string ThreadName(const Trace& trace, ThreadId thread) {
  std::string name = "thread " + std::to_string(thread.value);
  if (thread.index() >= trace.threads.size()) return "a thread";
  const StringId id = trace.threads[thread.index()].name;
  if (!trace[id].empty()) name += " '" + std::string(trace[id]) + "'";
  return name;
}

std::string CallText(const Trace& trace, const Failure& failure) {
  const CaptureRule* rule = CaptureRuleOf(failure.error);
  std::string text = std::string(trace[failure.call]) + " (" + std::to_string(failure.error);
  if (rule != nullptr) text += std::string(", ") + rule->name;
  text += ") of " + ThreadName(trace, failure.thread);
  if (failure.stream.valid()) text += " on " + NameOf(trace, failure.stream);
  return text;
}

std::string CalledText(const Trace& trace, const Failure& failure) {
  std::string text =
      std::string(trace[failure.call]) + " was called " + PlaceOf(trace, failure.seq);
  if (!trace[failure.arguments].empty()) text += " with " + std::string(trace[failure.arguments]);
  return text;
}

const Failure* CauseOf(const Trace& trace, const Capture& capture) {
  return capture.failure < trace.failures.size() ? &trace.failures[capture.failure] : nullptr;
}

void AddStuckMemory(const Facts& facts, Finding* finding) {
  for (const BlockId id : facts.blocks[finding->graph.index()]) {
    if (facts.trace[id].freed() || facts.trace[id].alloc_node.valid()) continue;
    finding->blocks.push_back(id);
    finding->bytes += RoundedSize(facts.trace[id]);
  }
  if (finding->blocks.empty()) return;
  finding->evidence.push_back(
      {.text = ListOf(finding->blocks) + " of it (" + FormatBytes(finding->bytes) + ") " +
               (finding->blocks.size() == 1 ? "was" : "were") + " not freed",
       .blocks = finding->blocks});
}

}  // namespace graphkit
