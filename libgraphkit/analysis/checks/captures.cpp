// Checks of captures: those that failed, never ended, or survived a call that they don't allow.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// cudaError_t (driver_types.h, CUDA 13.0), and the rule behind it.
struct CaptureRule {
  int32_t error;
  const char* name;
  const char* broken;
  const char* advice;
  bool breaks = true;  // leaves the capture broken
};
constexpr int32_t kErrorLossyQuery = 402;
constexpr int32_t kErrorUnsupported = 900;
constexpr int32_t kErrorInvalidated = 901;
constexpr int32_t kErrorUnjoined = 904;

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

// Null: the error isn't about captures.
const CaptureRule* CaptureRuleOf(int32_t error) {
  const auto* found = std::ranges::find(kCaptureRules, error, &CaptureRule::error);
  return found == std::end(kCaptureRules) ? nullptr : found;
}

template <typename Item, size_t kItems>
bool OneOf(const Item& item, const Item (&items)[kItems]) {
  return std::ranges::find(items, item) != std::end(items);
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
  return Say(trace,
             "{}, capture in thread-local mode, or let {} call cudaThreadExchangeStreamCaptureMode "
             "first",
             outside, failure.thread);
}

// The rule behind a failed call, in the words that fit the call and the capture's mode.
struct BrokenRule {
  std::string broken;
  std::string advice;
};

// `capture` is the one that the call hit; null: unknown. Nothing: the error isn't about captures.
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

NodeId LastNodeBefore(const Trace& trace, GraphId graph, Seq seq) {
  NodeId last;
  for (const auto& [i, node] : Enumerate(trace.nodes)) {
    if (node.graph == graph && node.seq <= seq) last = NodeId(i);
  }
  return last;
}

// The first failed call between two places that breaks captures; rather one that is said to have
// hit this one.
const Failure* FailureBetween(const Trace& trace, GraphId graph, Seq begin, Seq end) {
  const Failure* found = nullptr;
  for (const Failure& failure : trace.failures) {
    const CaptureRule* rule = CaptureRuleOf(failure.error);
    if (failure.seq < begin || failure.seq > end || rule == nullptr || !rule->breaks) continue;
    if (failure.graph == graph) return &failure;
    if (found == nullptr) found = &failure;
  }
  return found;
}

StreamId DestroyedBetween(const Trace& trace, GraphId graph, Seq begin, Seq end) {
  for (size_t i = 0; i < trace.streams.size(); ++i) {
    const Seq destroyed = trace.streams[i].destroyed;
    const auto captured = [&](const Node& node) {
      return node.graph == graph && node.stream == StreamId(i);
    };
    if (destroyed < begin || destroyed > end) continue;
    if (std::ranges::any_of(trace.nodes, captured)) return StreamId(i);
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

// Why a capture failed. What is told of a failed call is taken for it, unless it only noticed that
// the capture was broken (901). Otherwise what happened between the capture's last node and the
// first call that noticed:
//
//     node 4 ── cudaMalloc of another thread (900) ── cudaLaunchKernel (901) ── end (901)
//     node 4 ── cudaStreamDestroy of a joined stream ─────────────────────────── end (901)
struct CaptureBreak {
  const Failure* failure = nullptr;  // the call that failed and broke it
  StreamId destroyed;                // of no failure: a stream of the capture, destroyed meanwhile
  GraphId lost;                      // or the graph that holds the capture's, which went away
  NodeId last;                       // the last node that was captured; may be none
  const Failure* noticed = nullptr;  // the first call that noticed; null: none
};

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

// "cudaMalloc (900, cudaErrorStreamCaptureUnsupported) of thread 0 'main' on stream 1".
std::string CallText(const Trace& trace, const Failure& failure) {
  const CaptureRule* rule = CaptureRuleOf(failure.error);
  const std::string name = rule == nullptr ? "" : std::string(", ") + rule->name;
  std::string text =
      Say(trace, "{} ({}{}) of {}", trace[failure.call], failure.error, name, failure.thread);
  if (failure.stream.valid()) text += " on " + NameOf(trace, failure.stream);
  return text;
}

// "cudaMalloc was called after node 3, with bytesize=4096"; `more` follows.
void AddCall(const Facts& facts, const Failure& failure, Finding* finding, const char* more = "") {
  const std::string_view arguments = facts.trace[failure.arguments];
  AddEvidence(
      finding,
      Say(facts.trace, "{} was called {}{}{}{}", facts.trace[failure.call],
          facts.places().Of(failure.seq), arguments.empty() ? "" : " with ", arguments, more),
      failure.stack);
}

// A finding for each capture of a graph that came to this, if `judge` says something of it.
template <typename Judge>
std::vector<Finding> FindByCapture(const Trace& trace, CaptureStatus status, Judge judge) {
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (capture.status != status || !capture.graph.valid()) continue;
    Finding finding{.graph = capture.graph};
    if (capture.origin.valid()) finding.streams = {capture.origin};
    judge(capture, &finding);
    if (!finding.message.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

// Adds what was allocated in the finding's graph and not freed.
void AddStuckMemory(const Facts& facts, Finding* finding) {
  for (const BlockId id : facts.blocks()[finding->graph.index()]) {
    if (facts.trace[id].freed() || facts.trace[id].alloc_node.valid()) continue;
    AddBlock(facts.trace, id, finding);
  }
  if (finding->blocks.empty()) return;
  AddEvidence(finding,
              Say(facts.trace, "{} of it ({}) {} not freed", ListOf(finding->blocks),
                  FormatBytes(finding->bytes), Was(finding->blocks.size())),
              {}, {}, finding->blocks);
}

// Of a capture of which no call is known that failed: what else happened to it, and when.
std::string BrokenBy(const Trace& trace, const CaptureBreak& broken) {
  if (broken.lost.valid()) {
    return Say(
        trace,
        ": {}, which holds it, was destroyed while it was captured, by a call that succeeded",
        broken.lost);
  }
  if (broken.destroyed.valid()) {
    return Say(
        trace,
        " after cudaStreamDestroy of {}, which succeeded: the stream was part of the capture",
        broken.destroyed);
  }
  std::string text = ", and which call broke it was not recorded: a call that succeeded, ";
  text += broken.last.valid() ? "after " + NameOf(trace, broken.last) : "after the begin";
  if (broken.noticed != nullptr) text += " and before " + CallText(trace, *broken.noticed);
  return text;
}

std::string AdviceFor(const Trace& trace, const CaptureBreak& broken) {
  if (broken.lost.valid())
    return Say(trace, "end the captures into the bodies of {} before it goes", broken.lost);
  if (broken.destroyed.valid())
    return Say(trace, "join {}, and destroy it after the capture has ended", broken.destroyed);
  return "ask cudaStreamIsCapturing after each call in between, to see which one it is";
}

// The first use of a graph after a place, in words; empty: there is none.
std::string UseAfter(const Trace& trace, GraphId graph, Seq seq) {
  const auto after = [&](GraphId of, Seq at) { return of == graph && at > seq; };
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    if (after(trace.execs[i].graph, trace.execs[i].created))
      return "exec " + std::to_string(i) + " was instantiated from it";
  }
  for (const ExecUpdate& update : trace.exec_updates) {
    if (after(update.graph, update.seq))
      return "exec " + std::to_string(update.exec.value) + " was updated from it";
  }
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (after(trace.graphs[i].original, trace.graphs[i].created))
      return NameOf(trace, GraphId(i)) + " was made of it";
  }
  return {};
}

}  // namespace

// capture-invalidated: calls that broke a capture.
std::vector<Finding> FindInvalidatedCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  return FindByCapture(
      trace, CaptureStatus::kInvalidated, [&](const Capture& capture, Finding* finding) {
        if (capture.error == kErrorUnjoined) return;
        const CaptureBreak broken = BreakOf(trace, capture);
        const Failure* cause = broken.failure;
        if (cause != nullptr && cause->error == kErrorUnjoined) return;
        const std::string captured =
            Say(trace, "the capture of {} on {}", capture.graph, capture.origin);
        if (cause == nullptr) {
          finding->message =
              Say(trace, "{} failed ({}){}", captured, capture.error, BrokenBy(trace, broken));
          finding->advice = AdviceFor(trace, broken);
          if (broken.noticed != nullptr) AddCall(facts, *broken.noticed, finding, ", and noticed");
        } else {
          finding->message = CallText(trace, *cause) + " broke " + captured;
          if (const std::optional<BrokenRule> rule = RuleOf(trace, *cause, &capture)) {
            finding->message += ": " + rule->broken;
            finding->advice = rule->advice;
          }
          AddCall(facts, *cause, finding);
        }
        AddStuckMemory(facts, finding);
      });
}

// unjoined-stream: forked streams that never joined their capture.
std::vector<Finding> FindUnjoinedStreams(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> followed(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges().edges) followed[edge.from.index()] = true;
  return FindByCapture(
      trace, CaptureStatus::kInvalidated, [&](const Capture& capture, Finding* finding) {
        const Failure* cause = BreakOf(trace, capture).failure;
        const bool told = cause != nullptr && cause->error == kErrorUnjoined;
        if (!told && capture.error != kErrorUnjoined) return;
        finding->streams.clear();
        for (const auto& [i, node] : Enumerate(trace.nodes)) {
          if (node.graph != capture.graph || followed[i] || node.stream == capture.origin) continue;
          finding->nodes.emplace_back(i);
          if (node.stream.valid()) finding->streams.push_back(node.stream);
          finding->evidence.push_back(CapturedThere(trace, NodeId(i)));
          finding->evidence.back().text += ", and nothing waits for it";
        }
        finding->message =
            Say(trace,
                "{} never joined {} before the capture of {} ended, which failed (904, "
                "cudaErrorStreamCaptureUnjoined)",
                finding->streams.empty() ? "a forked stream" : ListOf(trace, finding->streams),
                capture.origin, capture.graph);
        finding->advice =
            Say(trace,
                "record an event on the forked stream after its last work, and let {} "
                "wait for it before cudaStreamEndCapture",
                capture.origin);
        AddStuckMemory(facts, finding);
      });
}

// open-capture: captures that never ended. A cut trace may have lost the end.
std::vector<Finding> FindOpenCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  const bool cut = trace.completeness.truncated;
  return FindByCapture(trace, CaptureStatus::kOpen, [&](const Capture& capture, Finding* finding) {
    finding->severity = cut ? Severity::kNote : Severity::kError;
    finding->message =
        Say(trace, "the capture of {} on {} was open when the {}: its graph isn't whole{}",
            capture.graph, capture.origin, cut ? "trace was cut off" : "program ended",
            cut ? "" : ", and was never run");
    finding->advice = cut ? "trace the program up to its end"
                          : Say(trace,
                                "call cudaStreamEndCapture on {} on every way out of the capture, "
                                "errors included",
                                capture.origin);
    if (capture.thread.valid()) AddEvidence(finding, Say(trace, "{} began it", capture.thread));
    AddStuckMemory(facts, finding);
  });
}

// unsafe-call-in-capture: calls that a capture doesn't allow, and that it survived.
std::vector<Finding> FindUnsafeCalls(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::set<const Failure*> broke;
  std::vector<const Capture*> of_graph(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (!capture.graph.valid()) continue;
    of_graph[capture.graph.index()] = &capture;
    if (capture.status == CaptureStatus::kInvalidated)
      broke.insert(BreakOf(trace, capture).failure);
  }
  std::vector<Finding> findings;
  for (const Failure& failure : trace.failures) {
    if (broke.contains(&failure) || failure.error == kErrorInvalidated) continue;
    if (!failure.graph.valid()) continue;
    const std::optional<BrokenRule> rule = RuleOf(trace, failure, of_graph[failure.graph.index()]);
    if (!rule) continue;
    Finding& finding = findings.emplace_back(Finding{.graph = failure.graph});
    if (failure.stream.valid()) finding.streams = {failure.stream};
    finding.message = Say(trace, "{} failed in the capture of {}, which survived it: {}",
                          CallText(trace, failure), failure.graph, rule->broken);
    finding.advice = rule->advice;
    AddCall(facts, failure, &finding);
  }
  return findings;
}

// lossy-edge-query: queries of edges that can't say what edges they are.
std::vector<Finding> FindLossyEdgeQueries(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Failure& failure : trace.failures) {
    if (failure.error != kErrorLossyQuery) continue;
    Finding& finding = findings.emplace_back(Finding{.graph = failure.graph});
    finding.message = Say(trace,
                          "{} of {} failed (402, cudaErrorLossyQuery): it was asked for edges "
                          "without a place for what sort of edges they are",
                          trace[failure.call], failure.thread);
    finding.advice = "pass an array of cudaGraphEdgeData";
    AddEvidence(&finding,
                Say(trace, "{} was called {}", trace[failure.call], facts.places().Of(failure.seq)),
                failure.stack);
  }
  return findings;
}

// recapture-mismatch: captures over the nodes of a graph that failed, and graphs that were used
// after that.
std::vector<Finding> FindRecaptureMismatches(const Facts& facts) {
  const Trace& trace = facts.trace;
  return FindByCapture(
      trace, CaptureStatus::kInvalidated, [&](const Capture& capture, Finding* finding) {
        if (!capture.recapture) return;
        finding->message =
            Say(trace, "{} was captured again over its own nodes, and what was captured differs",
                capture.graph);
        const CaptureBreak broken = BreakOf(trace, capture);
        if (broken.failure != nullptr) AddCall(facts, *broken.failure, finding);
        finding->advice =
            "capture the same calls in the same order, with the same allocations; where other "
            "parameters are meant, have the callback of cuStreamBeginRecaptureToGraph return "
            "CUDA_SUCCESS; destroy the graph";
        const std::string use = UseAfter(trace, capture.graph, capture.end);
        if (use.empty()) return;
        finding->severity = Severity::kError;
        finding->message += "; the graph is undefined since then, and " + use;
      });
}

// aborted-capture-pool: pools that a failed capture left behind.
std::vector<Finding> FindAbortedCapturePools(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool>& aborted = facts.invalidated();
  if (std::ranges::find(aborted, true) == aborted.end()) return {};
  std::vector<Finding> findings;
  for (const auto& [i, pool] : Enumerate(trace.pools)) {
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
    finding.message = Say(trace, "the capture of {} failed, and its private pool keeps {}",
                          finding.graph, FormatBytes(finding.bytes));
    finding.advice = "destroy the pool of a capture that failed; in PyTorch, reset() the graph";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
