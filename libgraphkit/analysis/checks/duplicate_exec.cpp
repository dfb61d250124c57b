// duplicate-exec: execs alive at once that differ only in what an update can set.
#include <queue>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches/launch_order.h"
#include "libgraphkit/analysis/order/graph_difference.h"
#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

constexpr size_t kAlike = 3;  // execs from which on it is worth a word

// The parts that an update can't change, as a number: graphs with the same one have the same nodes
// and edges.
class Shapes {
 public:
  explicit Shapes(const Facts& facts) : trace_(facts.trace), places_(trace_), edges_(trace_) {
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
  static void Mix(uint64_t value, uint64_t* hash) {
    *hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
    *hash ^= *hash >> 29;
  }

  void Add(GraphId graph, Seq at, size_t depth, Shape* shape) {
    constexpr size_t kDeepest = 100;  // of graphs in graphs; more: a damaged file
    std::vector<NodeId> live;
    const std::span<const NodeId> seen = places_.NodesAt(graph, at, &live);
    const std::vector<NodeId> nodes(seen.begin(), seen.end());
    if (depth > kDeepest) shape->can_update = false;
    Mix(nodes.size(), &shape->hash);
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

  void AddNode(const std::vector<NodeId>& nodes, NodeId id, Seq at, Shape* shape) {
    const Node& node = trace_[id];
    Mix(static_cast<uint64_t>(node.kind), &shape->hash);
    if (node.stream.valid()) Mix(static_cast<uint64_t>(trace_[node.stream].device), &shape->hash);
    for (const InEdge& edge : edges_.Into(id, at)) {
      const auto place = std::ranges::lower_bound(nodes, edge.from) - nodes.begin();
      Mix(static_cast<uint64_t>(place) << 16 | uint64_t{edge.from_port} << 1 |
              (edge.full ? 1u : 0u),
          &shape->hash);
    }
    switch (node.kind) {
      case NodeKind::kMemcpy:
        Mix(std::hash<std::string>()(CopyText(trace_, id)), &shape->hash);
        break;
      case NodeKind::kConditional:
        Mix(static_cast<uint64_t>(node.conditional), &shape->hash);
        break;
      case NodeKind::kKernel:
        if (std::ranges::binary_search(updatable_, id)) shape->can_update = false;
        break;
      case NodeKind::kMemset:
      case NodeKind::kHost:
      case NodeKind::kChildGraph:
      case NodeKind::kEmpty:
      case NodeKind::kEventWait:
      case NodeKind::kEventRecord:
        break;
      default:  // memory nodes belong to one exec; of the others what counts isn't recorded
        shape->can_update = false;
    }
  }

  const Trace& trace_;
  GraphPlaces places_;
  EdgesAt edges_;
  std::map<std::pair<GraphId, Seq>, Shape> shapes_;  // by when, where a graph has several versions
  std::vector<NodeId> updatable_;
};

// Of execs in the order in which they were made, those that are there when the most are.
std::vector<ExecId> MostAtOnce(const Trace& trace, const std::vector<ExecId>& execs) {
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
std::vector<ExecId> OneAfterAnother(const Trace& trace, const LaunchOrder& order,
                                    const Grouped& launches, const std::vector<ExecId>& execs,
                                    size_t* switches) {
  std::vector<uint32_t> all;
  for (const ExecId exec : execs) {
    const auto own = launches.Of(exec.index());
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  std::vector<ExecId> kept = execs;
  std::optional<uint32_t> before;
  for (const uint32_t launch : all) {
    const ExecId exec = trace.launches[launch].exec;
    if (std::ranges::find(kept, exec) == kept.end()) continue;
    const bool other = before && trace.launches[*before].exec != exec;
    if (other && !order.Before(*before, launch)) {
      std::erase(kept, exec);
      continue;
    }
    *switches += other;
    before = launch;
  }
  return kept;
}

// Launched execs by their shape and flags: one could stand in for another.
std::map<std::pair<uint64_t, uint64_t>, std::vector<ExecId>> AlikeExecs(const Trace& trace,
                                                                        const Grouped& launches,
                                                                        Shapes* shapes) {
  constexpr uint64_t kDeviceLaunch = 4;  // such an exec can't be updated by the host's launches
  std::map<std::pair<uint64_t, uint64_t>, std::vector<ExecId>> alike;
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    const Exec& exec = trace.execs[i];
    const bool updatable = exec.graph.valid() && (exec.flags & kDeviceLaunch) == 0;
    if (!updatable || launches.Of(i).empty()) continue;
    const Shapes::Shape& shape = shapes->Of(exec);
    if (shape.can_update && shape.nodes > 0) alike[{shape.hash, exec.flags}].emplace_back(i);
  }
  return alike;
}

Finding Describe(const Facts& facts, const std::vector<ExecId>& execs, uint64_t nodes,
                 size_t switches) {
  const Trace& trace = facts.trace;
  Finding finding{.severity = Severity::kNote, .graph = trace[execs.front()].graph};
  finding.message = Count(execs.size(), "exec") +
                    " alive at once differ only in what an update can set (" +
                    Count(nodes, "node") + " each), " + NameOf(trace, finding.graph) +
                    " first: one exec would do";
  if (facts.exec_memory()) {
    const ByteRange saved = SavedBy(*facts.exec_memory(), execs);
    finding.bytes = saved.bytes;
    finding.message += ", and take " + FormatBytes(saved.bytes) + " less (" +
                       FormatBytes(saved.low) + " to " + FormatBytes(saved.high) + ", " +
                       std::string(NameOf(facts.exec_memory()->source)) + ")";
  }
  finding.advice =
      "where memory matters more than time: keep one exec, and call cudaGraphExecUpdate with the "
      "graph that is to run next; drivers 580 to 610 take about 0.37 ms for it, and replay an "
      "updated exec 0.1 us slower for each changed node above 128";
  finding.evidence.push_back({.text = "their launches come one after the other, and change from "
                                      "one to another " +
                                      Count(switches, "time") + ": an update each"});
  for (const ExecId exec : execs) {
    if (finding.evidence.size() > kShownEvidence) break;
    finding.evidence.push_back({.text = "exec " + std::to_string(exec.value) + " is of " +
                                        NameOf(trace, trace[exec].graph),
                                .stack = trace[exec].stack});
  }
  return finding;
}

}  // namespace

std::vector<Finding> FindDuplicateExecs(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.execs.size() < kAlike) return {};
  const Grouped launches =
      Group(trace.launches, trace.execs.size(), [](const Launch& launch) { return launch.exec; });
  Shapes shapes(facts);
  std::vector<Finding> findings;
  for (const auto& [key, all] : AlikeExecs(trace, launches, &shapes)) {
    std::vector<ExecId> execs = MostAtOnce(trace, all);
    if (execs.size() < kAlike) continue;
    size_t switches = 0;
    execs = OneAfterAnother(trace, facts.launch_order(), launches, execs, &switches);
    if (execs.size() < kAlike) continue;
    const uint64_t nodes = shapes.Of(trace[execs.front()]).nodes;
    findings.push_back(Describe(facts, execs, nodes, switches));
  }
  std::ranges::stable_sort(findings, {}, &Finding::graph);
  return findings;
}

}  // namespace graphkit
