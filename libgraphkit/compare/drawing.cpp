#include "libgraphkit/compare/diff.h"

#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/match_graphs.h"

namespace graphkit {

namespace {

constexpr size_t kMostBoxes = 400;  // a person can read

// Two graphs put together: boxes 0 … after.size() - 1 are the nodes after, the others those that
// were removed.
struct Merger {
  const GraphDiff& diff;
  const GraphView &before, &after;
  const Ran &before_trace, &after_trace;
  NodeMatching matching = MatchNodes(before, before_trace, after, after_trace);
  std::vector<DiffBox> boxes = {};
  // By box: among the nodes after, and before.
  std::vector<std::pair<uint32_t, uint32_t>> place = {};
  std::vector<uint32_t> box_of_before = {};
  std::map<NodeId, uint32_t> by_before = {};
  std::vector<DiffArrow> arrows = {};

  DiffDrawing Merge() {
    AddBoxes();
    MarkChanges();
    AddArrows();
    return Cut();
  }

  void AddBoxes() {
    box_of_before.assign(before.size(), NodeMatching::kNone);
    for (uint32_t node = 0; node < after.size(); ++node) {
      const uint32_t partner = matching.before[node];
      DiffBox box{.before = {}, .after = after.nodes[node], .change = Change::kAdded};
      if (partner != NodeMatching::kNone) {
        box.before = before.nodes[partner];
        box.change = Change::kSame;
        box_of_before[partner] = node;
      }
      boxes.push_back(std::move(box));
      place.push_back({node + 1, 0});
    }
    uint32_t behind = 0;  // where the last matched node before it is
    for (uint32_t node = 0; node < before.size(); ++node) {
      if (box_of_before[node] != NodeMatching::kNone) {
        behind = box_of_before[node] + 1;
        continue;
      }
      box_of_before[node] = static_cast<uint32_t>(boxes.size());
      boxes.push_back({.before = before.nodes[node], .after = {}, .change = Change::kRemoved});
      place.push_back({behind, node + 1});
    }
    for (uint32_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].before) by_before[boxes[i].before] = i;
    }
  }

  void Mark(NodeId node, Change change, std::string what) {
    DiffBox& box = boxes[by_before.at(node)];
    box.change = change;
    box.what.push_back(std::move(what));
  }

  void MarkChanges() {
    for (const ParameterChange& change : diff.parameters) {
      Mark(change.node.before, Change::kChanged,
           change.what + " " + change.before + " → " + change.after);
    }
    for (const NodePair& pair : diff.moved_nodes) {
      Mark(pair.before, Change::kMoved,
           StreamTitle(before_trace, before_trace[pair.before].stream) + " → " +
               StreamTitle(after_trace, after_trace[pair.after].stream));
    }
  }

  // Edges after; and those before that are lost, or that went with a removed node.
  void AddArrows() {
    std::map<EdgeId, EdgeId> changed;  // by the edge after
    for (const EdgePair& pair : diff.changed_edges) changed[pair.after] = pair.before;
    for (uint32_t node = 0; node < after.size(); ++node) {
      for (const Neighbour& out : after.Out(node)) {
        DiffArrow arrow{node, out.node, {}, out.edge, Change::kSame};
        const bool gained = std::ranges::binary_search(diff.gained_edges, out.edge);
        const bool fresh = !boxes[node].before || !boxes[out.node].before;
        if (gained || fresh) arrow.change = Change::kAdded;
        if (const auto found = changed.find(out.edge); found != changed.end()) {
          arrow.change = Change::kChanged;
          arrow.before = found->second;
        }
        arrows.push_back(arrow);
      }
    }
    for (uint32_t node = 0; node < before.size(); ++node) {
      for (const Neighbour& out : before.Out(node)) {
        const uint32_t from = box_of_before[node], to = box_of_before[out.node];
        const bool gone = !boxes[from].after || !boxes[to].after;
        if (!gone && !std::ranges::binary_search(diff.lost_edges, out.edge)) continue;
        arrows.push_back({from, to, out.edge, {}, Change::kRemoved});
      }
    }
  }

  // Changed nodes and those that an edge joins to them, in capture order.
  DiffDrawing Cut() {
    std::vector<bool> changed(boxes.size()), shown(boxes.size());
    for (size_t i = 0; i < boxes.size(); ++i) changed[i] = boxes[i].change != Change::kSame;
    for (const DiffArrow& arrow : arrows) {
      if (arrow.change != Change::kSame) changed[arrow.from] = changed[arrow.to] = true;
    }
    shown = changed;
    for (const DiffArrow& arrow : arrows) {
      if (changed[arrow.from]) shown[arrow.to] = true;
      if (changed[arrow.to]) shown[arrow.from] = true;
    }
    return Numbered(shown);
  }

  DiffDrawing Numbered(const std::vector<bool>& shown) {
    std::vector<uint32_t> order, number(boxes.size(), NodeMatching::kNone);
    for (uint32_t i = 0; i < boxes.size(); ++i) {
      if (shown[i]) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](uint32_t i) { return place[i]; });
    DiffDrawing drawing;
    for (const uint32_t i : order) {
      if (drawing.boxes.size() == kMostBoxes) {
        if (boxes[i].change != Change::kSame) ++drawing.left_out;
        continue;
      }
      number[i] = static_cast<uint32_t>(drawing.boxes.size());
      drawing.boxes.push_back(std::move(boxes[i]));
    }
    for (DiffArrow arrow : arrows) {
      arrow.from = number[arrow.from];
      arrow.to = number[arrow.to];
      if (arrow.from != NodeMatching::kNone && arrow.to != NodeMatching::kNone)
        drawing.arrows.push_back(arrow);
    }
    return drawing;
  }
};

}  // namespace

std::vector<DiffDrawing> DrawDiff(const TraceDiff& diff, const Ran& before, const Ran& after) {
  std::vector<DiffDrawing> drawings;
  const auto different = [](const GraphDiff& graph) { return !graph.equal(); };
  if (std::ranges::none_of(diff.graphs, different)) return drawings;
  const std::vector<GraphView> views = ViewGraphs(before), after_views = ViewGraphs(after);
  for (const GraphDiff& graph : diff.graphs) {
    if (graph.equal()) continue;
    Merger merger{graph, views[graph.before.index()], after_views[graph.after.index()], before,
                  after};
    drawings.push_back(merger.Merge());
  }
  return drawings;
}

}  // namespace graphkit
