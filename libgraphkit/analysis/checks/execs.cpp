// Checks of execs: those that are kept, alike, or made anew for each launch.
#include <queue>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/library_pool.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

constexpr size_t kManyReplaced = 3;
constexpr size_t kManyOnce = 8;
constexpr size_t kAlike = 3;  // execs from which on it is worth a word

// None: never.
std::optional<Seq> LastLaunch(const Facts& facts, size_t exec) {
  const std::span<const uint32_t> launches = facts.exec_launches().Of(exec);
  if (launches.empty()) return std::nullopt;
  return facts.trace.launches[launches.back()].seq;
}

// The last launch or capture.
Seq LastWork(const Ran& trace) {
  Seq last = trace.launches.empty() ? 0 : trace.launches.back().seq;
  for (const Capture& capture : trace.captures) last = std::max(last, capture.begin);
  return last;
}

// True if the graph allocates in a private pool: then an allocator's owner (in PyTorch a CUDAGraph)
// holds its execs, and leaves them to the end of the process.
bool HasPrivatePool(const Facts& facts, GraphId graph) {
  return std::ranges::any_of(facts.blocks()[graph.index()], [&](BlockId id) {
    return KindOf(facts.trace, facts.trace[id].pool) == PoolKind::kPrivate;
  });
}

std::vector<Finding> FindUndestroyed(const Facts& facts) {
  const Ran& trace = facts.trace;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    uint64_t leaked = 0;
    for (const uint32_t at : facts.exec_graphs().Of(graph.index())) {
      const auto& [id, of, since, until, shown] = trace.exec_graphs[at];
      const Exec& exec = trace[id];
      if (since != exec.created || exec.destroyed != kNever || ++leaked > 1) continue;
      AddEvidence(finding,
                  Say(trace, "exec {} was instantiated {}", id.value, facts.places().Of(since)),
                  exec.stack);
    }
    if (leaked == 0) return;
    const std::string execs = Counted(leaked, "exec") + " of " + NameOf(trace, graph);
    if (HasPrivatePool(facts, graph)) {
      if (IsPythonProgram(trace)) return;  // its variables hold them until the interpreter ends
      finding->severity = Severity::kNote;
      finding->message = "kept until the end: " + execs;
      return;
    }
    finding->message = Say(trace, "{} {} never destroyed", execs, Was(leaked));
    finding->advice = "call cudaGraphExecDestroy after its last launch";
  });
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
  const Ran& trace = facts.trace;
  const Seq last = LastWork(trace);
  std::map<std::string, std::vector<ExecId>> by_line;
  for (const auto& [i, exec] : Enumerate(trace.execs)) {
    if (exec.destroyed == kNever || exec.destroyed < last) continue;
    const std::string line = OwnPlace(trace, MakerOf(facts, exec));
    if (!line.empty()) by_line[line].emplace_back(i);
  }
  return by_line;
}

// The segments of the private pools of these graphs.
Bytes HeldBy(const Facts& facts, const std::vector<ExecId>& execs) {
  std::vector<PoolId> pools;
  for (const ExecId exec : execs) {
    for (const BlockId id : facts.blocks()[facts.trace[exec].graph.index()])
      AddOnce(facts.trace[id].pool, &pools);
  }
  Bytes bytes = 0;
  for (const Segment& segment : facts.trace.segments) {
    const bool kept = std::ranges::find(pools, segment.pool) != pools.end();
    if (kept && KindOf(facts.trace, segment.pool) == PoolKind::kPrivate) bytes += segment.size;
  }
  return bytes;
}

// By line, execs that ran, and never again once the next of the same line was made.
std::vector<std::vector<ExecId>> ReplacedByLine(const Facts& facts) {
  std::vector<std::vector<ExecId>> by_line;
  for (const auto& [line, execs] : KeptByLine(facts)) {
    std::vector<ExecId> replaced;
    for (size_t i = 0; i + 1 < execs.size(); ++i) {
      const std::optional<Seq> ran = LastLaunch(facts, execs[i].index()),
                               next = LastLaunch(facts, execs[i + 1].index());
      if (ran && next && *ran < facts.trace[execs[i + 1]].created) replaced.push_back(execs[i]);
    }
    if (replaced.size() >= kManyReplaced) by_line.push_back(std::move(replaced));
  }
  return by_line;
}

void FindReplaced(const Facts& facts, std::vector<Finding>* findings) {
  const Ran& trace = facts.trace;
  for (const std::vector<ExecId>& replaced : ReplacedByLine(facts)) {
    Finding& finding = findings->emplace_back(Finding{.graph = trace[replaced.front()].graph});
    finding.bytes = HeldBy(facts, replaced);
    finding.message =
        Say(trace,
            "{} were each replaced by a newer one and never launched again, but not "
            "destroyed, {} first{}",
            Counted(replaced.size(), "exec"), finding.graph,
            finding.bytes > 0 ? "; their pools hold " + FormatBytes(finding.bytes) : "");
    AddEvidence(&finding, "each was captured by the same line",
                MakerOf(facts, trace[replaced.front()]));
    finding.advice =
        "drop a graph when another takes its place (in PyTorch: the CUDAGraph object, or call "
        "reset()), or capture few sizes and launch them again";
  }
}

// How many nodes, and a hash of their kinds, and of kernels or of how many edges lead to them.
using Likeness = std::pair<size_t, uint64_t>;

// Execs of graphs alike, in the order in which they were made.
std::map<Likeness, std::vector<ExecId>> AlikeExecs(const Facts& facts, bool kernels) {
  const Ran& trace = facts.trace;
  const bool edited = !trace.versions.empty();  // an exec's edges may be others than the last ones
  std::vector<NodeId> live;
  std::map<Likeness, std::vector<ExecId>> alike;
  for (const auto& [i, exec] : Enumerate(trace.execs)) {
    if (!exec.graph.valid()) continue;
    const auto nodes = facts.graph_places().NodesAt(exec.graph, exec.created, &live);
    uint64_t hash = 0;
    for (const NodeId id : nodes) {
      const Node& node = trace[id];
      const size_t edges = edited ? 0 : facts.in_edges().Of(id.index()).size();
      hash = HashOf(hash, kernels ? node.kernel.value : edges, static_cast<uint64_t>(node.kind));
    }
    alike[{nodes.size(), hash}].emplace_back(i);
  }
  return alike;
}

// The parts that an update can't change, as a number: graphs with the same one have the same nodes
// and edges.
class Shapes {
 public:
  explicit Shapes(const Facts& facts)
      : trace_(facts.trace), places_(facts.graph_places()), edges_(trace_) {
    for (const NodeChange& change : trace_.node_changes)
      if (change.what == NodeChangeKind::kUpdatable) updatable_.push_back(change.node);
    std::ranges::sort(updatable_);
  }

  struct Shape {
    uint64_t hash = 0;
    size_t nodes = 0;
    bool can_update = true;  // it has no node that an update refuses
  };

  // As it was when the exec was made.
  const Shape& Of(const Exec& exec) {
    const bool one = !HasSeveralVersions(trace_, exec.graph);
    const auto [at, added] = shapes_.try_emplace({exec.graph, one ? 0 : exec.created});
    if (added) Add(exec.graph, exec.created, 0, &at->second);
    return at->second;
  }

 private:
  void Add(GraphId graph, Seq at, size_t depth, Shape* shape) {
    constexpr size_t kDeepest = 100;  // of graphs in graphs; more: a damaged file
    std::vector<NodeId> live;
    const std::span<const NodeId> nodes = places_.NodesAt(graph, at, &live);
    if (depth > kDeepest) shape->can_update = false;
    shape->hash = HashOf(shape->hash, nodes.size());
    shape->nodes += nodes.size();
    for (const NodeId node : nodes) {
      if (!shape->can_update) return;
      AddNode(nodes, node, at, shape);
      for (uint32_t body = 0;; ++body) {
        const GraphId inner = places_.Held(node, body);
        if (!inner.valid()) break;
        Add(inner, at, depth + 1, shape);
      }
    }
  }

  void AddNode(std::span<const NodeId> nodes, NodeId id, Seq at, Shape* shape) {
    const Node& node = trace_[id];
    const auto mix = [shape](uint64_t value) { shape->hash = HashOf(shape->hash, value); };
    mix(static_cast<uint64_t>(node.kind));
    if (node.stream.valid()) mix(static_cast<uint64_t>(trace_[node.stream].device));
    edges_.ForEachInto(id, at, [&](const InEdge& edge) {
      const auto place = std::ranges::lower_bound(nodes, edge.from) - nodes.begin();
      mix(HashOf(static_cast<uint64_t>(place), edge.from_port, edge.full));
    });
    if (node.kind == NodeKind::kMemcpy) mix(std::hash<std::string>()(CopyText(trace_, id)));
    if (node.kind == NodeKind::kConditional) mix(static_cast<uint64_t>(node.conditional));
    // Memory nodes belong to one exec; of the others that aren't here what counts isn't recorded.
    using enum NodeKind;
    constexpr NodeKind kUpdated[] = {kKernel, kMemcpy,     kMemset,    kHost,       kConditional,
                                     kEmpty,  kChildGraph, kEventWait, kEventRecord};
    const bool known = std::ranges::find(kUpdated, node.kind) != std::end(kUpdated);
    if (!known || (node.kind == kKernel && std::ranges::binary_search(updatable_, id)))
      shape->can_update = false;
  }

  const Ran& trace_;
  const GraphPlaces& places_;
  EdgesAt edges_;
  std::map<std::pair<GraphId, Seq>, Shape> shapes_;  // by when, where a graph has several versions
  std::vector<NodeId> updatable_;
};

// Of execs in the order in which they were made, those that are there when the most are.
std::vector<ExecId> MostAtOnce(const Ran& trace, const std::vector<ExecId>& execs) {
  std::priority_queue<Seq, std::vector<Seq>, std::greater<>> ends;
  size_t most = 0;
  Seq when = 0;
  for (const ExecId exec : execs) {
    while (!ends.empty() && ends.top() <= trace[exec].created) ends.pop();
    ends.push(trace[exec].destroyed);
    if (ends.size() <= most) continue;
    most = ends.size();
    when = trace[exec].created;
  }
  std::vector<ExecId> there;
  for (const ExecId exec : execs) {
    if (trace[exec].created <= when && trace[exec].destroyed > when) there.push_back(exec);
  }
  return there;
}

// The sum of all but the one that takes most.
ByteRange SavedBy(const ExecMemory& memory, const std::vector<ExecId>& execs) {
  ByteRange sum, most;
  for (const ExecId exec : execs) {
    const ByteRange& bytes = memory.execs[exec.index()].bytes;
    sum += bytes;
    if (bytes.bytes > most.bytes) most = bytes;
  }
  return {sum.low - most.low, sum.bytes - most.bytes, sum.high - most.high};
}

// The execs that one could stand in for: whose launches come one after the other. `switches`: how
// often another one follows.
std::vector<ExecId> OneAfterAnother(const Facts& facts, const std::vector<ExecId>& execs,
                                    size_t* switches) {
  const Ran& trace = facts.trace;
  std::vector<uint32_t> all;
  for (const ExecId exec : execs) {
    const auto own = facts.exec_launches().Of(exec.index());
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  std::vector<ExecId> kept = execs;
  std::optional<uint32_t> before;
  for (const uint32_t launch : all) {
    const ExecId exec = trace.launches[launch].exec;
    if (std::ranges::find(kept, exec) == kept.end()) continue;
    const bool other = before && trace.launches[*before].exec != exec;
    if (other && !facts.launch_order().Before(*before, launch)) {
      std::erase(kept, exec);
      continue;
    }
    *switches += other;
    before = launch;
  }
  return kept;
}

// Launched execs by their shape and flags: one could stand in for another.
std::map<std::pair<uint64_t, uint64_t>, std::vector<ExecId>> UpdatableExecs(const Facts& facts,
                                                                            Shapes* shapes) {
  std::map<std::pair<uint64_t, uint64_t>, std::vector<ExecId>> alike;
  for (const auto& [likeness, execs] : AlikeExecs(facts, false)) {
    if (execs.size() < kAlike) continue;
    for (const ExecId id : execs) {
      const Exec& exec = facts.trace[id];
      // One for launches on the device can't be updated by the host's.
      if ((exec.flags & kInstantiateDeviceLaunch) != 0 ||
          facts.exec_launches().Of(id.index()).empty())
        continue;
      const Shapes::Shape& shape = shapes->Of(exec);
      if (shape.can_update && shape.nodes > 0) alike[{shape.hash, exec.flags}].push_back(id);
    }
  }
  return alike;
}

Finding Describe(const Facts& facts, const std::vector<ExecId>& execs, uint64_t nodes,
                 size_t switches) {
  const Ran& trace = facts.trace;
  Finding finding{.severity = Severity::kNote, .graph = trace[execs.front()].graph};
  finding.message = Say(trace,
                        "{} alive at once differ only in what an update can set ({} each), {} "
                        "first: one exec would do",
                        Counted(execs.size(), "exec"), Counted(nodes, "node"), finding.graph);
  if (facts.exec_memory()) {
    const ByteRange saved = SavedBy(*facts.exec_memory(), execs);
    finding.bytes = saved.bytes;
    finding.message +=
        Say(trace, ", and take {} less ({} to {}, {})", FormatBytes(saved.bytes),
            FormatBytes(saved.low), FormatBytes(saved.high), NameOf(facts.exec_memory()->source));
  }
  finding.advice =
      "where memory matters more than time: keep one exec, and call cudaGraphExecUpdate with the "
      "graph that is to run next; drivers 580 to 610 take about 0.37 ms for it, and replay an "
      "updated exec 0.1 us slower for each changed node above 128";
  AddEvidence(&finding, Say(trace,
                            "their launches come one after the other, and change from one to "
                            "another {}: an update each",
                            Counted(switches, "time")));
  for (const ExecId exec : execs) {
    if (finding.evidence.size() > kShownEvidence) break;
    AddEvidence(&finding, Say(trace, "exec {} is of {}", exec.value, trace[exec].graph),
                trace[exec].stack);
  }
  return finding;
}

}  // namespace

// exec-leak: instantiated graphs that were never destroyed, or kept although others took their
// place.
std::vector<Finding> FindExecLeaks(const Facts& facts) {
  if (!KnowsWhatWasFreed(facts.trace)) return {};
  std::vector<Finding> findings = FindUndestroyed(facts);
  FindReplaced(facts, &findings);
  return findings;
}

// launched-once: graphs alike that are instantiated anew for each launch.
std::vector<Finding> FindLaunchedOnce(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (trace.execs.size() < kManyOnce) return {};
  std::set<ExecId> replaced;  // of which exec-leak speaks
  if (KnowsWhatWasFreed(trace)) {
    for (const std::vector<ExecId>& of_line : ReplacedByLine(facts))
      replaced.insert(of_line.begin(), of_line.end());
  }
  std::vector<Finding> findings;
  for (const auto& [likeness, execs] : AlikeExecs(facts, true)) {
    std::vector<ExecId> once;  // over before the next one was made
    for (size_t i = 0; i + 1 < execs.size(); ++i) {
      const bool one = facts.exec_launches().Of(execs[i].index()).size() == 1;
      const bool over = LastLaunch(facts, execs[i].index()) < trace[execs[i + 1]].created;
      if (one && over && !replaced.contains(execs[i])) once.push_back(execs[i]);
    }
    if (once.size() < kManyOnce || once.size() * 2 < execs.size()) continue;
    Finding& finding = findings.emplace_back(Finding{.graph = trace[once.front()].graph});
    finding.message =
        Say(trace,
            "{} of graphs alike ({}, {} first) were each launched once, and the next "
            "was instantiated in their place",
            Counted(once.size(), "exec"), Counted(likeness.first, "node"), finding.graph);
    finding.advice =
        "instantiate once and launch that again; where parameters differ, update it "
        "(cudaGraphExecUpdate, or new parameters for its nodes)";
    AddEvidence(&finding, Say(trace, "exec {} was the first of them", once.front().value),
                trace[once.front()].stack);
  }
  return findings;
}

// duplicate-exec: execs alive at once that differ only in what an update can set.
std::vector<Finding> FindDuplicateExecs(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (trace.execs.size() < kAlike) return {};
  Shapes shapes(facts);
  std::vector<Finding> findings;
  for (const auto& [key, all] : UpdatableExecs(facts, &shapes)) {
    std::vector<ExecId> execs = MostAtOnce(trace, all);
    if (execs.size() < kAlike) continue;
    size_t switches = 0;
    execs = OneAfterAnother(facts, execs, &switches);
    if (execs.size() < kAlike) continue;
    findings.push_back(Describe(facts, execs, shapes.Of(trace[execs.front()]).nodes, switches));
  }
  std::ranges::stable_sort(findings, {}, &Finding::graph);
  KeepOneNote("such group", &findings);
  return findings;
}

}  // namespace graphkit
