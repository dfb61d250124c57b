// Checks of programs that could be simpler or faster: the shape of their graphs, and the time that
// captures take on the host.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/interval.h"

namespace graphkit {
namespace {

// The longest path of a graph if its nodes were ordered by what they touch and nothing else.
struct DataPaths {
  struct Path {
    uint64_t nodes = 0;    // of the graph
    uint64_t longest = 0;  // by data
    bool known = true;     // what its nodes touch
    StreamId stream;       // of all its nodes, if they have one in common
    bool one_stream = true;
  };

  std::vector<Path> FindPaths() {
    for (size_t i = 0; i < facts.trace.nodes.size(); ++i) {
      const Node& node = facts.trace.nodes[i];
      if (InGraph(facts.trace, node)) Add(node);
    }
    return std::move(graphs);
  }

  // The longest path to the last writer of a block, and to any reader since.
  struct Ends {
    GraphId graph;
    uint64_t written = 0;
    uint64_t read = 0;
  };

  void Add(const Node& node) {
    Path& graph = graphs[node.graph.index()];
    if (graph.nodes++ == 0) graph.stream = node.stream;
    graph.one_stream = graph.one_stream && node.stream.valid() && node.stream == graph.stream;
    const bool work = node.kind == NodeKind::kKernel || node.kind == NodeKind::kMemcpy ||
                      node.kind == NodeKind::kMemset;
    graph.known = graph.known && work && node.accesses_complete && node.accesses.count > 0;
    if (!graph.known) return;
    uint64_t start = 0;
    const AccessColumn::Range accesses = facts.trace.accesses.Of(node.accesses);
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
    Ends& ends = blocks[access.block];
    if (ends.graph != graph) ends = {.graph = graph};
    return ends;
  }

  const Facts& facts;
  std::vector<Path> graphs = std::vector<Path>(facts.trace.graphs.size());
  std::unordered_map<BlockId, Ends> blocks = {};
};

void AddEdge(const Trace& trace, EdgeId id, std::string text, Finding* finding) {
  const Edge& edge = trace[id];
  AddEvidence(finding, std::move(text), trace[edge.to].stack, {edge.from, edge.to});
  finding->evidence.back().edges = {id};
}

constexpr std::string_view kRange = "garbage collection";  // as the hook for Python names them

// The blocks whose free was requested inside [begin, end), by the place of their free.
std::vector<BlockId> FreedIn(const Trace& trace, const std::vector<uint32_t>& by_free, Seq begin,
                             Seq end) {
  const auto free_of = [&](uint32_t block) { return trace.blocks[block].free_requested; };
  const auto first = std::ranges::lower_bound(by_free, begin, {}, free_of);
  return {first, std::ranges::lower_bound(by_free, end, {}, free_of)};
}

void DescribePauses(const Facts& facts, uint64_t pauses, Nanoseconds time, Finding* described) {
  const Trace& trace = facts.trace;
  Finding& finding = *described;
  // A pause costs time once; what is freed inside differs from run to run, and can break a capture.
  finding.severity = finding.blocks.empty() ? Severity::kNote : Severity::kWarning;
  finding.message =
      Say(trace, "{} paused the capture of {}", Count(pauses, "garbage collection"), finding.graph);
  if (time > 0) finding.message += " for " + FormatNanoseconds(time);
  if (!finding.blocks.empty()) {
    finding.message += Say(trace, " and freed {} in {} inside of it", FormatBytes(finding.bytes),
                           ListOf(finding.blocks));
  }
  for (const BlockId block : finding.blocks) {
    if (finding.evidence.size() == kShownEvidence) break;
    if (trace[block].stack.valid()) finding.evidence.push_back(AllocatedThere(facts, block));
  }
  finding.advice =
      "collect before the capture and switch collection off in it: gc.collect(); gc.disable()";
}

constexpr Nanoseconds kSlowCall = 200'000;       // on average
constexpr Nanoseconds kLongPause = 100'000'000;  // before one node

}  // namespace

// empty-node: empty nodes that save no edges.
// An empty node with several edges on both sides saves edges; with one or none it does nothing.
std::vector<Finding> FindEmptyNodes(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<uint32_t> out(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges().edges) ++out[edge.from.index()];
  std::vector<std::vector<NodeId>> empty(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.kind != NodeKind::kEmpty || !InGraph(trace, node)) continue;
    if (facts.in_edges().Of(i).size() <= 1 || out[i] <= 1)
      empty[node.graph.index()].emplace_back(i);
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    finding->nodes = std::move(empty[graph.index()]);
    if (finding->nodes.empty()) return;
    for (size_t i = 0; i < std::min(finding->nodes.size(), kShownEvidence); ++i)
      finding->evidence.push_back(CapturedThere(trace, finding->nodes[i]));
    finding->message = Say(trace, "{} of {} could be left out without more edges",
                           Count(finding->nodes.size(), "empty node"), graph);
    finding->advice = "connect the node before it with the nodes after it";
  });
}

// redundant-edge: edges that others imply.
std::vector<Finding> FindRedundantEdges(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<EdgeId>> by_graph(trace.graphs.size());
  for (const EdgeId edge : RedundantEdges(trace, facts.order(), facts.in_edges())) {
    const Node& to = trace[trace[edge].to];
    // A stream's own order isn't the program's to leave out.
    const bool own = to.stream.valid() && trace[trace[edge].from].stream == to.stream;
    if (trace[edge].full() && !own) by_graph[to.graph.index()].push_back(edge);
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<EdgeId>& edges = by_graph[graph.index()];
    if (edges.empty()) return;
    finding->message = Say(trace, "{} of {} {} implied by others", Count(edges.size(), "edge"),
                           graph, Is(edges.size()));
    finding->advice =
        "leave out the wait that makes the edge: the stream is after that work already";
    for (size_t i = 0; i < std::min(edges.size(), kShownEvidence); ++i) {
      const Edge& edge = trace[edges[i]];
      AddEdge(trace, edges[i],
              Say(trace, "{} is before {} without edge {}", edge.from, edge.to, edges[i].value),
              finding);
    }
  });
}

// serialized-branches: independent work captured on one stream.
std::vector<Finding> FindSerializedBranches(const Facts& facts) {
  constexpr uint64_t kFewest = 8;  // nodes that a graph must have for its shape to matter
  const std::vector<DataPaths::Path> paths = DataPaths{facts}.FindPaths();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const DataPaths::Path& path = paths[graph.index()];
    if (!path.known || !path.one_stream || path.nodes < kFewest) return;
    if (2 * path.longest > path.nodes) return;
    finding->streams = {path.stream};
    finding->message = Say(facts.trace,
                           "all {} of {} run one after another on {}; data dependencies need a "
                           "chain of only {}",
                           Count(path.nodes, "node"), graph, path.stream, path.longest);
    finding->advice = "capture independent branches on streams of their own, joined by events";
    finding->assumes = Assumption::kArguments;
  });
}

// collection-in-capture: garbage collections that paused a capture, and what they freed inside.
std::vector<Finding> FindCollectionsInCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Interval<Seq>> collections;
  for (const NvtxRange& range : trace.nvtx_ranges) {
    if (trace[range.name].starts_with(kRange)) collections.push_back({range.begin, range.end});
  }
  std::vector<Finding> findings;
  if (collections.empty()) return findings;
  std::vector<Interval<Seq>> captures;
  for (const Capture& capture : trace.captures) captures.push_back({capture.begin, capture.end});
  const std::vector<uint32_t> by_free = BlocksBySeq(trace, &Block::free_requested);
  const std::vector<OverlapPair> overlaps = FindOverlaps<Seq>(captures, collections);
  for (auto at = overlaps.begin(); at != overlaps.end();) {
    const Capture& capture = trace.captures[at->a];
    Finding& finding = findings.emplace_back(Finding{.graph = capture.graph});
    uint64_t pauses = 0;
    Nanoseconds time = 0;
    for (const size_t own = at->a; at != overlaps.end() && at->a == own; ++at) {
      const Seq begin = std::max(collections[at->b].begin, capture.begin);
      const Seq end = std::min(collections[at->b].end, capture.end);
      ++pauses;
      const Nanoseconds from = TimeAt(trace, begin), to = TimeAt(trace, end);
      if (from != 0 && to > from) time += to - from;
      for (const BlockId block : FreedIn(trace, by_free, begin, end))
        AddBlock(trace, block, &finding);
    }
    DescribePauses(facts, pauses, time, &finding);
  }
  return findings;
}

// slow-capture: captures whose calls take long on the host, or that something held up.
// Times of the software device are those of a simulation.
std::vector<Finding> FindSlowCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.process.device == DeviceKind::kSoft) return {};
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const HostTime& time = facts.host_times()[graph.index()];
    if (time.calls == 0) return;
    if (time.per_call() < kSlowCall && time.longest < kLongPause) return;
    finding->message = Say(trace, "capturing {} took the host {}: {} for each of {}", graph,
                           FormatNanoseconds(time.total), FormatNanoseconds(time.per_call()),
                           Count(time.calls, "call"));
    finding->advice =
        "warm up what runs for the first time before the capture, and collect garbage before it";
    if (!time.longest_before.valid()) return;
    finding->nodes = {time.longest_before};
    AddEvidence(finding,
                Say(trace, "the longest pause was {}, before {}", FormatNanoseconds(time.longest),
                    time.longest_before),
                trace[time.longest_before].stack, {time.longest_before});
  });
}

}  // namespace graphkit
