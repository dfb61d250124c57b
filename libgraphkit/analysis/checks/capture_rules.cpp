// capture-invalidated, unjoined-stream, unsafe-call-in-capture, lossy-edge-query,
// aborted-capture-pool: calls that captures don't allow, and what they leave behind.
#include "libgraphkit/analysis/checks/capture_rules.h"

#include <algorithm>
#include <iterator>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

// cudaError_t (driver_types.h, CUDA 13.0), and the rule behind each.
struct Rule {
  int32_t error;
  const char* name;
  const char* broken;
  const char* advice;
};
constexpr int32_t kLossyQuery = 402;
constexpr int32_t kInvalidated = 901;
constexpr int32_t kUnjoined = 904;
constexpr Rule kRules[] = {
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

const Rule* RuleOf(int32_t error) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const Rule& rule) { return rule.error == error; });
  return found == std::end(kRules) ? nullptr : found;
}

std::string ThreadName(const Trace& trace, ThreadId thread) {
  std::string name = "thread " + std::to_string(thread.value);
  if (thread.index() >= trace.threads.size()) return "a thread";
  const StringId id = trace.threads[thread.index()].name;
  if (!trace[id].empty()) name += " '" + std::string(trace[id]) + "'";
  return name;
}

// "cudaMalloc (900, cudaErrorStreamCaptureUnsupported) of thread 0 'main' on stream 1".
std::string CallText(const Trace& trace, const Failure& failure) {
  const Rule* rule = RuleOf(failure.error);
  std::string text = std::string(trace[failure.call]) + " (" + std::to_string(failure.error);
  if (rule != nullptr) text += std::string(", ") + rule->name;
  text += ") of " + ThreadName(trace, failure.thread);
  if (failure.stream.valid()) text += " on " + NameOf(trace, failure.stream);
  return text;
}

const Failure* CauseOf(const Trace& trace, const Capture& capture) {
  return capture.failure < trace.failures.size() ? &trace.failures[capture.failure] : nullptr;
}

// What was allocated in a capture that failed and that nobody has freed.
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

}  // namespace

std::vector<Finding> FindInvalidatedCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    const Failure* cause = CauseOf(trace, capture);
    if (cause != nullptr && cause->error == kUnjoined) continue;
    Finding finding;
    finding.graph = capture.graph;
    if (capture.origin.valid()) finding.streams = {capture.origin};
    const std::string captured =
        "the capture of " + NameOf(trace, capture.graph) + " on " + NameOf(trace, capture.origin);
    if (cause == nullptr) {
      finding.message = captured + " failed (" + std::to_string(capture.error) +
                        "), and which call broke it was not recorded";
    } else {
      const Rule* rule = RuleOf(cause->error);
      finding.message = CallText(trace, *cause) + " broke " + captured;
      if (rule != nullptr) finding.message += std::string(": ") + rule->broken;
      if (rule != nullptr) finding.advice = rule->advice;
      finding.evidence.push_back(
          {.text = std::string(trace[cause->call]) + " was called " + PlaceOf(trace, cause->seq),
           .stack = cause->stack});
    }
    AddStuckMemory(facts, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindUnjoinedStreams(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> followed(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges.edges) followed[edge.from.index()] = true;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    const Failure* cause = CauseOf(trace, capture);
    const int32_t error = cause != nullptr ? cause->error : capture.error;
    if (error != kUnjoined || !capture.graph.valid()) continue;
    Finding finding;
    finding.graph = capture.graph;
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      const Node& node = trace.nodes[i];
      if (node.graph != capture.graph || followed[i] || node.stream == capture.origin) continue;
      finding.nodes.emplace_back(i);
      if (node.stream.valid()) finding.streams.push_back(node.stream);
      finding.evidence.push_back(
          {.text = CapturedOn(trace, NodeId(i)) + ", and nothing waits for it",
           .nodes = {NodeId(i)},
           .stack = node.stack});
    }
    finding.message =
        (finding.streams.empty() ? "a forked stream" : ListOf(trace, finding.streams)) +
        " never joined " + NameOf(trace, capture.origin) + " before the capture of " +
        NameOf(trace, capture.graph) + " ended, which failed (904, cudaErrorStreamCaptureUnjoined)";
    finding.advice = "record an event on the forked stream after its last work, and let " +
                     NameOf(trace, capture.origin) + " wait for it before cudaStreamEndCapture";
    AddStuckMemory(facts, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindUnsafeCalls(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> broke(trace.failures.size());
  for (const Capture& capture : trace.captures) {
    if (capture.failure < broke.size()) broke[capture.failure] = true;
  }
  std::vector<Finding> findings;
  for (size_t i = 0; i < trace.failures.size(); ++i) {
    const Failure& failure = trace.failures[i];
    const Rule* rule = RuleOf(failure.error);
    if (broke[i] || rule == nullptr || failure.error == kInvalidated || !failure.graph.valid()) {
      continue;
    }
    Finding finding;
    finding.graph = failure.graph;
    if (failure.stream.valid()) finding.streams = {failure.stream};
    finding.message = CallText(trace, failure) + " failed in the capture of " +
                      NameOf(trace, failure.graph) + ", which survived it: " + rule->broken;
    finding.advice = rule->advice;
    finding.evidence.push_back(
        {.text = std::string(trace[failure.call]) + " was called " + PlaceOf(trace, failure.seq),
         .stack = failure.stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindLossyEdgeQueries(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Failure& failure : trace.failures) {
    if (failure.error != kLossyQuery) continue;
    Finding finding;
    finding.graph = failure.graph;
    finding.message = std::string(trace[failure.call]) + " of " +
                      ThreadName(trace, failure.thread) +
                      " failed (402, cudaErrorLossyQuery): it was asked for edges without a place "
                      "for what sort of edges they are";
    finding.advice = "pass an array of cudaGraphEdgeData";
    finding.evidence.push_back(
        {.text = std::string(trace[failure.call]) + " was called " + PlaceOf(trace, failure.seq),
         .stack = failure.stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindAbortedCapturePools(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> aborted(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    const bool failed = capture.status == CaptureStatus::kInvalidated;
    if (failed && capture.graph.valid()) aborted[capture.graph.index()] = true;
  }
  if (std::find(aborted.begin(), aborted.end(), true) == aborted.end()) return {};
  std::vector<Finding> findings;
  for (size_t i = 0; i < trace.pools.size(); ++i) {
    const Pool& pool = trace.pools[i];
    if (pool.kind != PoolKind::kPrivate || pool.destroyed != kNever) continue;
    Finding finding;
    bool used_well = false;
    for (const Block& block : trace.blocks) {
      if (block.pool != PoolId(i) || !block.graph.valid()) continue;
      if (!aborted[block.graph.index()]) used_well = true;
      finding.graph = block.graph;
    }
    if (used_well || !finding.graph.valid()) continue;
    for (const Segment& segment : trace.segments) {
      if (segment.pool == PoolId(i) && segment.freed == kNever) finding.bytes += segment.size;
    }
    if (finding.bytes == 0) continue;
    finding.message = "the capture of " + NameOf(trace, finding.graph) +
                      " failed, and its private pool keeps " + FormatBytes(finding.bytes);
    finding.advice = "destroy the pool of a capture that failed; in PyTorch, reset() the graph";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
