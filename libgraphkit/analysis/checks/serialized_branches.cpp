// serialized-branches: independent work captured on one stream.
#include <unordered_map>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
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

  std::vector<Path> FindPaths() {
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
    const AccessColumn::Range accesses = facts_.trace.accesses.Of(node.accesses);
    for (const Access& access : accesses) {
      const Ends& ends = EndsOf(access, node.graph);
      start = std::max(start, ends.written);
      if (access.mode != AccessMode::kRead) start = std::max(start, ends.read);
    }
    for (const Access& access : accesses) {
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
  const std::vector<DataPaths::Path> paths = DataPaths(facts).FindPaths();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const DataPaths::Path& path = paths[graph.index()];
    if (!path.known || !path.one_stream || path.nodes < kFewest) return;
    if (2 * path.longest > path.nodes) return;
    finding->streams = {path.stream};
    finding->message = "all " + Count(path.nodes, "node") + " of " + NameOf(facts.trace, graph) +
                       " run one after another on " + NameOf(facts.trace, path.stream) +
                       "; data dependencies need a chain of only " + std::to_string(path.longest);
    finding->advice = "capture independent branches on streams of their own, joined by events";
    finding->assumes = Assumption::kArguments;
  });
}

}  // namespace graphkit
