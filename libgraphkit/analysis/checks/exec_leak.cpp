// exec-leak: instantiated graphs that were never destroyed, or kept although others took their
// place.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {
namespace {

constexpr size_t kManyReplaced = 3;

// By exec; none: never.
std::vector<std::optional<Seq>> LastLaunches(const Trace& trace) {
  std::vector<std::optional<Seq>> last(trace.execs.size());
  for (const Launch& launch : trace.launches) {
    if (launch.exec.index() < last.size()) last[launch.exec.index()] = launch.seq;
  }
  return last;
}

// True if the graph allocates in a private pool: then an allocator's owner (in PyTorch a CUDAGraph)
// holds its execs, and leaves them to the end of the process.
bool HasPrivatePool(const Facts& facts, GraphId graph) {
  return std::ranges::any_of(facts.blocks()[graph.index()], [&](BlockId id) {
    const PoolId pool = facts.trace[id].pool;
    return pool.valid() && facts.trace[pool].kind == PoolKind::kPrivate;
  });
}

std::vector<Finding> FindUndestroyed(const Facts& facts) {
  const Trace& trace = facts.trace;
  const Grouped by_graph =
      Group(trace.execs, trace.graphs.size(), [](const Exec& exec) { return exec.graph; });
  const std::vector<std::optional<Seq>> last_launch = LastLaunches(trace);
  Seq last_capture = 0;
  for (const Capture& capture : trace.captures)
    last_capture = std::max(last_capture, capture.begin);
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    uint64_t leaked = 0;
    bool used = HasPrivatePool(facts, graph);
    for (const uint32_t id : by_graph.Of(graph.index())) {
      const Exec& exec = trace.execs[id];
      if (exec.destroyed != kNever) continue;
      used = used && last_launch[id] && *last_launch[id] > last_capture;
      if (++leaked > 1) continue;
      finding->evidence.push_back({.text = "exec " + std::to_string(id) + " was instantiated " +
                                           facts.places().Of(exec.created),
                                   .stack = exec.stack});
    }
    if (leaked == 0) return;
    const std::string execs = Count(leaked, "exec") + " of " + NameOf(trace, graph);
    if (used) {
      finding->severity = Severity::kNote;
      finding->message = "kept until the end: " + execs + ", launched after the last capture";
      return;
    }
    finding->severity = Severity::kWarning;
    finding->message = execs + (leaked == 1 ? " was" : " were") + " never destroyed";
    finding->advice = "call cudaGraphExecDestroy after its last launch";
  });
}

// True if nothing was destroyed or freed after the last work: the process was killed, or left all
// to the system.
bool EndedWithoutShutdown(const Trace& trace) {
  Seq last = trace.launches.empty() ? 0 : trace.launches.back().seq;
  for (const Capture& capture : trace.captures) last = std::max(last, capture.begin);
  const auto later = [last](Seq seq) { return seq != kNever && seq > last; };
  for (const Block& block : trace.blocks) {
    if (later(block.free_requested)) return false;
  }
  return std::ranges::none_of(trace.execs, later, &Exec::destroyed) &&
         std::ranges::none_of(trace.graphs, later, &Graph::destroyed);
}

// Of a process that shut nothing down, graphs with private pools, whose owner would have destroyed
// them: one note.
std::vector<Finding> Summed(const Facts& facts, std::vector<Finding> findings) {
  constexpr size_t kFew = 3;
  const auto left = [&](const Finding& finding) { return HasPrivatePool(facts, finding.graph); };
  if (!EndedWithoutShutdown(facts.trace) ||
      static_cast<size_t>(std::ranges::count_if(findings, left)) <= kFew) {
    return findings;
  }
  Finding all = *std::ranges::find_if(findings, left);
  all.severity = Severity::kNote;
  all.message = "kept until the end: the execs of " +
                Count(static_cast<uint64_t>(std::ranges::count_if(findings, left)), "graph") +
                ", " + NameOf(facts.trace, all.graph) +
                " first; the process ended without shutting down";
  all.advice = {};
  std::erase_if(findings, left);
  findings.insert(findings.begin(), std::move(all));
  return findings;
}

// The stack by which an exec's maker is known: its own, else that of what its graph allocated.
StackId MakerOf(const Facts& facts, const Exec& exec) {
  if (exec.stack.valid() || !exec.graph.valid()) return exec.stack;
  for (const BlockId block : facts.blocks()[exec.graph.index()]) {
    if (facts.trace[block].stack.valid()) return facts.trace[block].stack;
  }
  return {};
}

// By the line of the program's own code that made them: execs that are there when the last capture
// and the last launch are over, in the order in which they were made.
std::map<std::string, std::vector<ExecId>> KeptByLine(const Facts& facts) {
  const Trace& trace = facts.trace;
  Seq last = trace.launches.empty() ? 0 : trace.launches.back().seq;
  for (const Capture& capture : trace.captures) last = std::max(last, capture.begin);
  std::map<std::string, std::vector<ExecId>> by_line;
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    const Exec& exec = trace.execs[i];
    const CallSite site = CallSiteOf(trace, MakerOf(facts, exec));
    if (!site.own || exec.destroyed == kNever || exec.destroyed < last) continue;
    by_line[PlaceOfFrame(trace, *site.own)].emplace_back(i);
  }
  return by_line;
}

// The segments of the private pools of these graphs.
Bytes HeldBy(const Facts& facts, const std::vector<ExecId>& execs) {
  std::vector<PoolId> pools;
  for (const ExecId exec : execs) {
    for (const BlockId id : facts.blocks()[facts.trace[exec].graph.index()]) {
      AddOnce(facts.trace[id].pool, &pools);
    }
  }
  Bytes bytes = 0;
  for (const Segment& segment : facts.trace.segments) {
    const bool kept = std::ranges::find(pools, segment.pool) != pools.end();
    if (kept && facts.trace[segment.pool].kind == PoolKind::kPrivate) bytes += segment.size;
  }
  return bytes;
}

// By line, execs that ran, and never again once the next of the same line was made.
std::vector<std::vector<ExecId>> ReplacedByLine(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<std::optional<Seq>> last = LastLaunches(trace);
  std::vector<std::vector<ExecId>> by_line;
  for (const auto& [line, execs] : KeptByLine(facts)) {
    std::vector<ExecId> replaced;
    for (size_t i = 0; i + 1 < execs.size(); ++i) {
      const std::optional<Seq> ran = last[execs[i].index()], next = last[execs[i + 1].index()];
      if (ran && next && *ran < trace[execs[i + 1]].created) replaced.push_back(execs[i]);
    }
    if (replaced.size() >= kManyReplaced) by_line.push_back(std::move(replaced));
  }
  return by_line;
}

void FindReplaced(const Facts& facts, std::vector<Finding>* findings) {
  const Trace& trace = facts.trace;
  for (const std::vector<ExecId>& replaced : ReplacedByLine(facts)) {
    Finding finding;
    finding.graph = trace[replaced.front()].graph;
    finding.bytes = HeldBy(facts, replaced);
    finding.message =
        Count(replaced.size(), "exec") +
        " are kept until the end and were never launched again once the next was made in their "
        "place, " +
        NameOf(trace, finding.graph) + " first" +
        (finding.bytes > 0 ? "; their pools hold " + FormatBytes(finding.bytes) : "");
    finding.evidence.push_back({.text = "each was captured by the same line",
                                .stack = MakerOf(facts, trace[replaced.front()])});
    finding.advice =
        "drop a graph when another takes its place (in PyTorch: the CUDAGraph object, or call "
        "reset()), or capture few sizes and launch them again";
    findings->push_back(std::move(finding));
  }
}

}  // namespace

std::vector<ExecId> ReplacedExecs(const Facts& facts) {
  std::vector<ExecId> all;
  if (!KnowsWhatWasFreed(facts.trace)) return all;
  for (const std::vector<ExecId>& replaced : ReplacedByLine(facts))
    all.insert(all.end(), replaced.begin(), replaced.end());
  return all;
}

std::vector<Finding> FindExecLeaks(const Facts& facts) {
  if (!KnowsWhatWasFreed(facts.trace)) return {};
  std::vector<Finding> findings = Summed(facts, FindUndestroyed(facts));
  FindReplaced(facts, &findings);
  return findings;
}

}  // namespace graphkit
