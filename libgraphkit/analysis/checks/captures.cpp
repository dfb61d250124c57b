// Checks of captures: those that failed, never ended, or went on after a call that failed.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

NodeId LastNodeBefore(const Ran& trace, GraphId graph, Seq seq) {
  NodeId last;
  for (const auto& [i, node] : Enumerate(trace.nodes)) {
    if (node.graph == graph && node.seq <= seq) last = NodeId(i);
  }
  return last;
}

// The first failed call between two places that breaks captures; rather one that is said to have
// hit this one.
const Failure* FailureBetween(const Ran& trace, GraphId graph, Seq begin, Seq end) {
  const Failure* found = nullptr;
  for (const Failure& failure : trace.failures) {
    const CaptureRule* rule = CaptureRuleOf(failure.error);
    if (failure.seq < begin || failure.seq > end || rule == nullptr || !rule->breaks) continue;
    if (failure.graph == graph) return &failure;
    if (found == nullptr) found = &failure;
  }
  return found;
}

StreamId DestroyedBetween(const Ran& trace, GraphId graph, Seq begin, Seq end) {
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

GraphId HolderLostBetween(const Ran& trace, GraphId graph, Seq begin, Seq end) {
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

CaptureBreak BreakOf(const Ran& trace, const Capture& capture) {
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
std::string CallText(const Ran& trace, const Failure& failure) {
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

// A call that failed in the capture beside the one that the finding is about, and not its end.
bool IsFurther(const Ran& trace, const Capture& capture, const CaptureBreak& broken,
               const Failure& failure) {
  const bool inside = failure.seq >= capture.begin && failure.seq <= capture.end;
  return inside && failure.graph == capture.graph &&
         &failure != (broken.failure != nullptr ? broken.failure : broken.noticed) &&
         trace[failure.call].find("EndCapture") == std::string_view::npos;
}

// Adds the other calls that failed in the capture: because it was broken, and for other reasons.
void AddFurtherFailures(const Facts& facts, const Capture& capture, const CaptureBreak& broken,
                        Finding* finding) {
  const Ran& trace = facts.trace;
  std::vector<std::pair<std::string, size_t>> calls[2];
  for (const Failure& failure : trace.failures) {
    if (!IsFurther(trace, capture, broken, failure)) continue;
    const bool only = failure.error == kErrorInvalidated;
    std::string name(trace[failure.call]);
    if (!only) name += " (" + std::to_string(failure.error) + ")";
    auto& of = calls[only ? 0 : 1];
    const auto known = std::ranges::find(of, name, &std::pair<std::string, size_t>::first);
    if (known != of.end()) ++known->second;
    if (known == of.end()) of.emplace_back(std::move(name), 1);
  }
  for (const bool only : {true, false}) {
    std::vector<std::string> names;
    for (const auto& [name, count] : calls[only ? 0 : 1])
      names.push_back(name + (count > 1 ? " " + Counted(count, "time") : ""));
    if (names.empty()) continue;
    AddEvidence(finding, (only ? "failed only because the capture was broken (901): "
                               : "failed in it too: ") +
                             ListOf(names));
  }
}

// A finding for each capture of a graph that came to this, if `judge` says something of it.
template <typename Judge>
std::vector<Finding> FindByCapture(const Ran& trace, CaptureStatus status, Judge judge) {
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
std::string BrokenBy(const Ran& trace, const CaptureBreak& broken) {
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

std::string AdviceFor(const Ran& trace, const CaptureBreak& broken) {
  if (broken.lost.valid())
    return Say(trace, "end the captures into the bodies of {} before it goes", broken.lost);
  if (broken.destroyed.valid())
    return Say(trace, "join {}, and destroy it after the capture has ended", broken.destroyed);
  return "ask cudaStreamIsCapturing after each call in between, to see which one it is";
}

// The first use of a graph after a place, in words; empty: there is none.
std::string UseAfter(const Ran& trace, GraphId graph, Seq seq) {
  const auto after = [&](GraphId of, Seq at) { return of == graph && at > seq; };
  for (const ExecGraph& of : trace.exec_graphs) {
    if (!after(of.graph, of.since)) continue;
    return "exec " + std::to_string(of.exec.value) +
           (of.since == trace[of.exec].created ? " was instantiated from it"
                                               : " was updated from it");
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
  const Ran& trace = facts.trace;
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
        AddFurtherFailures(facts, capture, broken, finding);
        AddStuckMemory(facts, finding);
      });
}

// unjoined-stream: forked streams that never joined their capture.
std::vector<Finding> FindUnjoinedStreams(const Facts& facts) {
  const Ran& trace = facts.trace;
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
  const Ran& trace = facts.trace;
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

// unsafe-call-in-capture: calls that failed in a capture that went on; one finding for calls alike.
std::vector<Finding> FindUnsafeCalls(const Facts& facts) {
  const Ran& trace = facts.trace;
  const Grouped of_graph = Group(trace.captures, trace.graphs.size(),
                                 [](const Capture& capture) { return capture.graph; });
  std::map<std::tuple<StringId, int32_t, std::string>, size_t> by_call;
  std::vector<std::pair<Finding, size_t>> found;
  for (const Failure& failure : trace.failures) {
    const Capture* capture = nullptr;
    if (!failure.graph.valid()) continue;
    for (const uint32_t at : of_graph.Of(failure.graph.index())) {
      const Capture& open = trace.captures[at];
      if (open.begin <= failure.seq && failure.seq <= open.end) capture = &open;
    }
    if (capture == nullptr || capture->status == CaptureStatus::kInvalidated) continue;
    const std::optional<BrokenRule> rule = RuleInWholeCapture(trace, failure, capture);
    if (!rule) continue;
    const auto [at, is_new] = by_call.try_emplace(
        {failure.call, failure.error, OwnPlace(trace, failure.stack)}, found.size());
    if (is_new) found.emplace_back(Finding{.graph = failure.graph}, 0);
    auto& [finding, count] = found[at->second];
    if (count++ != 0) continue;
    if (failure.stream.valid()) finding.streams = {failure.stream};
    finding.message = Say(trace, "{} failed in the capture of {}, which went on: {}",
                          CallText(trace, failure), failure.graph, rule->broken);
    finding.advice = rule->advice;
    AddCall(facts, failure, &finding);
  }
  std::vector<Finding> findings;
  for (auto& [finding, count] : found) {
    if (count > 1) finding.message += "; so did " + Counted(count - 1, "more call") + " alike";
    findings.push_back(std::move(finding));
  }
  return findings;
}

// lossy-edge-query: queries of edges that can't say what edges they are.
std::vector<Finding> FindLossyEdgeQueries(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Failure& failure : trace.failures) {
    if (failure.error != kErrorLossyQuery) continue;
    Finding& finding = findings.emplace_back(
        Finding{.graph = failure.of.graph ? failure.of.graph : failure.graph});
    if (failure.of.node) finding.nodes.push_back(failure.of.node);
    finding.message = Say(trace,
                          "{} of {} failed (402, cudaErrorLossyQuery): the graph has programmatic "
                          "edges, and the call passed no array of edge data",
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
  const Ran& trace = facts.trace;
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
  const Ran& trace = facts.trace;
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
