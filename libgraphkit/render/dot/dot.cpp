#include "libgraphkit/render/dot/dot.h"

#include <map>
#include <set>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/render/dot/drawing.h"
#include "libgraphkit/render/dot/style.h"
#include "libgraphkit/render/dot/writer.h"

namespace graphkit {
namespace {

const char* FoldText(Fold fold) {
  if (fold == Fold::kNvtx) return ", NVTX ranges";
  return fold == Fold::kStreams ? ", stretches of streams" : ", straight chains";
}

std::vector<std::string> Notes(const Ran& trace, const DotOptions& options,
                               const Selection& selection, const FoldedGraphs& folded) {
  std::vector<std::string> notes;
  if (trace.process.device == DeviceKind::kSoft) notes.push_back(DeviceTitle(trace.process.device));
  AddMissingEdgeData(trace.process, notes);
  if (!IsComplete(trace)) notes.push_back("the trace is incomplete");
  if (selection.graphs_left_out > 0) {
    const uint64_t most = options.select.most_graphs;
    notes.push_back("the " + Counted(most, "graph") + " with the most nodes, of " +
                    FormatCount(most + selection.graphs_left_out));
  }
  if (options.select.focus) {
    notes.push_back("what lies at most " + Counted(options.select.depth, "edge") + " from node " +
                    std::to_string(options.select.focus.value));
  }
  if (!options.path.empty()) {
    notes.push_back("thick: the longest path, " + Counted(options.path.size(), "node"));
  }
  if (options.rank == RankBy::kCapture && folded.fold != Fold::kStreams) {
    notes.push_back("from top to bottom: the order of the calls");
  }
  if (folded.boxes.size() < folded.nodes) {
    notes.push_back(FormatCount(folded.nodes) + " nodes folded into " +
                    Counted(folded.boxes.size(), "group") + FoldText(folded.fold));
  }
  return notes;
}

constexpr uint64_t kReadable = 300;     // boxes; up to here nothing is folded unasked
constexpr uint64_t kChainsUpTo = 1500;  // boxes; more than that fold into stretches of streams
constexpr uint64_t kStretches = 160;    // boxes, when streams are cut into stretches
constexpr size_t kShortestChain = 3;    // nodes; shorter ones stay as they are

struct Drawn {
  const std::vector<bool>& nodes;
  std::vector<EdgeId> edges = {};
};

std::vector<EdgeId> DrawnEdges(const Ran& trace, const std::vector<bool>& nodes) {
  std::vector<EdgeId> edges;
  for (const EdgeId id : trace.graph_edges) {
    if (nodes[trace[id].from.index()] && nodes[trace[id].to.index()]) edges.push_back(id);
  }
  return edges;
}

bool HoldsGraphs(NodeKind kind) {
  return kind == NodeKind::kChildGraph || kind == NodeKind::kConditional;
}

// By node: the one that follows it in its chain; none at the end of one.
std::vector<NodeId> ChainLinks(const Ran& trace, const Drawn& drawn) {
  std::vector<uint32_t> in(trace.nodes.size()), out(trace.nodes.size());
  for (const EdgeId id : drawn.edges) {
    ++out[trace[id].from.index()];
    ++in[trace[id].to.index()];
  }
  std::vector<NodeId> next(trace.nodes.size());
  for (const EdgeId id : drawn.edges) {
    const Edge& edge = trace[id];
    const Node &from = trace[edge.from], &to = trace[edge.to];
    const bool alone = out[edge.from.index()] == 1 && in[edge.to.index()] == 1;
    const bool alike = from.stream == to.stream && from.graph == to.graph;
    const bool plain = edge.full() && !HoldsGraphs(from.kind) && !HoldsGraphs(to.kind);
    if (alone && alike && plain) next[edge.from.index()] = edge.to;
  }
  return next;
}

void AddBox(const Ran& trace, std::vector<NodeId> nodes, FoldedGraphs& folded) {
  const auto index = static_cast<uint32_t>(folded.boxes.size());
  for (const NodeId id : nodes) folded.box_of[id.index()] = index;
  const Node& first = trace[nodes.front()];
  folded.boxes.push_back({first.graph, first.stream, std::move(nodes)});
}

void BoxChains(const Ran& trace, const Drawn& drawn, FoldedGraphs& folded) {
  const std::vector<NodeId> next = ChainLinks(trace, drawn);
  std::vector<bool> followed(trace.nodes.size());
  for (const NodeId id : next) {
    if (id) followed[id.index()] = true;
  }
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!drawn.nodes[i] || followed[i]) continue;
    std::vector<NodeId> chain;
    for (NodeId at{i}; at; at = next[at.index()]) chain.push_back(at);
    if (chain.size() >= kShortestChain) {
      AddBox(trace, std::move(chain), folded);
      continue;
    }
    for (const NodeId id : chain) AddBox(trace, {id}, folded);
  }
}

// Drawn nodes of one graph and stream with the same part are one box. Those that hold graphs, and
// those of no range, stay by themselves; what comes after one that holds a graph is another box.
template <typename PartOf>
void BoxParts(const Ran& trace, const Drawn& drawn, uint32_t Box::*of_box, PartOf part_of,
              FoldedGraphs& folded) {
  std::map<std::tuple<GraphId, StreamId, uint32_t, uint32_t>, std::vector<NodeId>> together;
  std::map<std::pair<GraphId, StreamId>, uint32_t> holders;  // so far
  std::vector<std::pair<std::vector<NodeId>, uint32_t>> boxes;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!drawn.nodes[i]) continue;
    const Node& node = trace.nodes[i];
    const uint32_t part = part_of(NodeId(i));
    uint32_t& held = holders[{node.graph, node.stream}];
    if (part == kNoRange || HoldsGraphs(node.kind)) {
      boxes.push_back({{NodeId(i)}, part});
      held += HoldsGraphs(node.kind);
    } else {
      together[{node.graph, node.stream, part, held}].push_back(NodeId(i));
    }
  }
  for (auto& [key, nodes] : together) boxes.push_back({std::move(nodes), std::get<2>(key)});
  std::ranges::sort(boxes, {}, [](const auto& box) { return box.first.front(); });
  for (auto& [nodes, part] : boxes) {
    AddBox(trace, std::move(nodes), folded);
    folded.boxes.back().*of_box = part;
  }
}

// Stretches of equal parts of each graph: at most kStretches in all, if one per stream and graph
// allows.
void BoxStreams(const Ran& trace, const Drawn& drawn, FoldedGraphs& folded) {
  std::set<std::pair<GraphId, StreamId>> lanes;
  std::vector<std::pair<size_t, size_t>> spans(trace.graphs.size());  // of each graph's nodes
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!drawn.nodes[i]) continue;
    const GraphId graph = trace.nodes[i].graph;
    lanes.emplace(graph, trace.nodes[i].stream);
    auto& [begin, end] = spans[graph.index()];
    if (end == 0) begin = i;
    end = i + 1;
  }
  const uint64_t windows = std::max<uint64_t>(1, kStretches / std::max<size_t>(1, lanes.size()));
  const auto stretch_of = [&](NodeId id) {
    const auto [begin, end] = spans[trace[id].graph.index()];
    return static_cast<uint32_t>((id.index() - begin) * windows / (end - begin));
  };
  BoxParts(trace, drawn, &Box::stretch, stretch_of, folded);
}

void JoinBoxes(const Ran& trace, const Drawn& drawn, FoldedGraphs& folded) {
  for (const EdgeId id : drawn.edges) {
    const Edge& edge = trace[id];
    const uint32_t from = folded.box_of[edge.from.index()], to = folded.box_of[edge.to.index()];
    if (from != to) folded.edges.push_back({from, to, edge.from_port, edge.type, id});
  }
  const auto key = [](const BoxEdge& e) { return std::tuple(e.from, e.to, e.from_port, e.type); };
  std::ranges::stable_sort(folded.edges, {}, key);
  std::vector<BoxEdge> joined;
  for (const BoxEdge& edge : folded.edges) {
    if (!joined.empty() && key(joined.back()) == key(edge)) {
      ++joined.back().count;
    } else {
      joined.push_back(edge);
    }
  }
  folded.edges = std::move(joined);
}

// By node: of the ranges that were open on its thread, the one opened last; kNoRange (dot.h): none
// was, or the thread isn't known. One sweep over the nodes in capture order; ranges needn't be
// nested.
std::vector<uint32_t> InnermostRanges(const Ran& trace) {
  std::vector<uint32_t> range_of(trace.nodes.size(), kNoRange);
  std::vector<std::vector<uint32_t>> open(trace.threads.size());  // by thread
  const std::vector<uint32_t> order =
      IndicesBy(trace.nvtx_ranges.size(), [&](uint32_t i) { return trace.nvtx_ranges[i].begin; });
  auto next = order.begin();
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    for (; next != order.end() && trace.nvtx_ranges[*next].begin < node.seq; ++next) {
      const ThreadId thread = trace.nvtx_ranges[*next].thread;
      if (thread.index() < open.size()) open[thread.index()].push_back(*next);
    }
    if (node.thread.index() >= open.size()) continue;
    std::vector<uint32_t>& of_thread = open[node.thread.index()];
    std::erase_if(of_thread, [&](uint32_t r) { return trace.nvtx_ranges[r].end <= node.seq; });
    if (!of_thread.empty()) range_of[i] = of_thread.back();
  }
  return range_of;
}

}  // namespace

FoldedGraphs FoldGraphs(const Ran& trace, const std::vector<bool>& nodes, Fold fold) {
  const Drawn drawn{nodes, DrawnEdges(trace, nodes)};
  FoldedGraphs folded;
  folded.nodes = static_cast<uint64_t>(std::ranges::count(nodes, true));
  const bool automatic = fold == Fold::kAuto;
  if (automatic) fold = folded.nodes <= kReadable ? Fold::kNone : Fold::kChains;
  const auto box = [&](Fold how) {
    folded.fold = how;
    folded.boxes.clear();
    folded.box_of.assign(trace.nodes.size(), kNoBox);
    if (how == Fold::kChains) return BoxChains(trace, drawn, folded);
    if (how == Fold::kStreams) return BoxStreams(trace, drawn, folded);
    std::vector<uint32_t> ranges;
    if (how == Fold::kNvtx) ranges = InnermostRanges(trace);
    const auto range_of = [&](NodeId id) { return ranges.empty() ? kNoRange : ranges[id.index()]; };
    BoxParts(trace, drawn, &Box::range, range_of, folded);
  };
  box(fold);
  if (automatic && folded.boxes.size() > kChainsUpTo) box(Fold::kStreams);
  JoinBoxes(trace, drawn, folded);
  return folded;
}

DotSummary RenderDot(const Ran& trace, const DotOptions& options, std::ostream& out) {
  const Selection selection = Select(trace, options.select);
  const FoldedGraphs folded = FoldGraphs(trace, selection.nodes, options.fold);
  const DotSummary summary{folded.nodes, folded.boxes.size(), folded.fold,
                           Notes(trace, options, selection, folded), selection.graphs_left_out};
  const Drawing drawing{trace, folded, selection.graphs, options, ColourNodes(trace, options)};
  WriteDot(drawing, DotLegend(drawing, summary.notes), out);
  return summary;
}

}  // namespace graphkit
