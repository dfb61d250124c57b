// redundant-edge, empty-node, serialized-branches: parts of a graph that do nothing, and order that
// nothing needs.
#include "libgraphkit/analysis/checks/shape_rules.h"

#include <algorithm>
#include <unordered_map>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

constexpr size_t kShown = 3;

}  // namespace

std::vector<Finding> FindRedundantEdges(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<EdgeId>> by_graph(trace.graphs.size());
  for (const EdgeId edge : RedundantEdges(trace, facts.order, facts.in_edges)) {
    const Node& to = trace[trace[edge].to];
    // A stream's own order isn't the program's to leave out.
    const bool own = to.stream.valid() && trace[trace[edge].from].stream == to.stream;
    if (trace[edge].full() && !own) by_graph[to.graph.index()].push_back(edge);
  }
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < by_graph.size(); ++graph) {
    const std::vector<EdgeId>& edges = by_graph[graph];
    if (edges.empty()) continue;
    Finding finding;
    finding.graph = GraphId(graph);
    finding.message = Count(edges.size(), "edge") + " of " + NameOf(trace, finding.graph) +
                      (edges.size() == 1 ? " is" : " are") + " implied by others";
    finding.advice =
        "leave out the wait that makes the edge: the stream is after that work already";
    for (size_t i = 0; i < std::min(edges.size(), kShown); ++i) {
      const Edge& edge = trace[edges[i]];
      finding.evidence.push_back({.text = NameOf(trace, edge.from) + " is before " +
                                          NameOf(trace, edge.to) + " without edge " +
                                          std::to_string(edges[i].value),
                                  .nodes = {edge.from, edge.to},
                                  .edges = {edges[i]},
                                  .stack = trace[edge.to].stack});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

// An empty node with several edges on both sides saves edges; with one or none it does nothing.
std::vector<Finding> FindEmptyNodes(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<uint32_t> out(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges.edges) ++out[edge.from.index()];
  std::vector<Finding> by_graph(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.kind != NodeKind::kEmpty || !InGraph(trace, node)) continue;
    if (facts.in_edges.Of(i).size() > 1 && out[i] > 1) continue;
    Finding& finding = by_graph[node.graph.index()];
    finding.graph = node.graph;
    finding.nodes.emplace_back(i);
    if (finding.evidence.size() < kShown) {
      finding.evidence.push_back(
          {.text = CapturedOn(trace, NodeId(i)), .nodes = {NodeId(i)}, .stack = node.stack});
    }
  }
  std::vector<Finding> findings;
  for (Finding& finding : by_graph) {
    if (finding.nodes.empty()) continue;
    finding.message = Count(finding.nodes.size(), "empty node") + " of " +
                      NameOf(trace, finding.graph) + " could be left out without more edges";
    finding.advice = "connect the node before it with the nodes after it";
    findings.push_back(std::move(finding));
  }
  return findings;
}

namespace {

// The longest path of a graph if its nodes were ordered by what they touch and nothing else.
class DataPaths {
 public:
  explicit DataPaths(const Facts& facts) : facts_(facts), graphs_(facts.trace.graphs.size()) {}

  struct Path {
    uint64_t nodes = 0;    // of the graph
    uint64_t longest = 0;  // by data
    bool known = true;     // what its nodes touch
    StreamId stream;       // of all its nodes, if they have one in common
    bool one_stream = true;
  };

  std::vector<Path> Find() {
    for (size_t i = 0; i < facts_.trace.nodes.size(); ++i) {
      const Node& node = facts_.trace.nodes[i];
      if (InGraph(facts_.trace, node)) Add(node);
    }
    return std::move(graphs_);
  }

 private:
  // The longest path to the last writer of a block, and to any reader since.
  struct Ends {
    GraphId graph;
    uint64_t written = 0;
    uint64_t read = 0;
  };

  void Add(const Node& node) {
    Path& graph = graphs_[node.graph.index()];
    if (graph.nodes++ == 0) graph.stream = node.stream;
    graph.one_stream = graph.one_stream && node.stream.valid() && node.stream == graph.stream;
    const bool work = node.kind == NodeKind::kKernel || node.kind == NodeKind::kMemcpy ||
                      node.kind == NodeKind::kMemset;
    graph.known = graph.known && work && node.accesses_complete && node.accesses.count > 0;
    if (!graph.known) return;
    uint64_t start = 0;
    for (uint32_t i = 0; i < node.accesses.count; ++i) {
      const Access& access = facts_.trace.accesses[node.accesses.first + i];
      const Ends& ends = EndsOf(access, node.graph);
      start = std::max(start, ends.written);
      if (access.mode != AccessMode::kRead) start = std::max(start, ends.read);
    }
    for (uint32_t i = 0; i < node.accesses.count; ++i) {
      const Access& access = facts_.trace.accesses[node.accesses.first + i];
      Ends& ends = EndsOf(access, node.graph);
      uint64_t& end = access.mode == AccessMode::kRead ? ends.read : ends.written;
      end = std::max(end, start + 1);
    }
    graph.longest = std::max(graph.longest, start + 1);
  }

  Ends& EndsOf(const Access& access, GraphId graph) {
    Ends& ends = blocks_[access.block];
    if (ends.graph != graph) ends = {.graph = graph};
    return ends;
  }

  const Facts& facts_;
  std::vector<Path> graphs_;
  std::unordered_map<BlockId, Ends> blocks_;
};

}  // namespace

std::vector<Finding> FindSerializedBranches(const Facts& facts) {
  constexpr uint64_t kFewest = 8;  // nodes that a graph must have for its shape to matter
  std::vector<Finding> findings;
  const std::vector<DataPaths::Path> paths = DataPaths(facts).Find();
  for (size_t i = 0; i < paths.size(); ++i) {
    const DataPaths::Path& path = paths[i];
    if (!path.known || !path.one_stream || path.nodes < kFewest) continue;
    if (2 * path.longest > path.nodes) continue;
    Finding finding;
    finding.graph = GraphId(i);
    finding.streams = {path.stream};
    finding.message =
        "all " + Count(path.nodes, "node") + " of " + NameOf(facts.trace, finding.graph) +
        " run one after another on " + NameOf(facts.trace, path.stream) +
        ", and by what they touch the longest chain has " + Count(path.longest, "node");
    finding.advice = "capture independent branches on streams of their own, joined by events";
    finding.assumes = Assumption::kArguments;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
