#include "libgraphkit/compare/drawing.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/compare/match_nodes.h"

namespace graphkit {

namespace {

constexpr size_t kMostBoxes = 400;  // a person can read

// Two graphs put together: boxes 0 … after.size() - 1 are the nodes after, the others those that
// were removed.
class Merger {
 public:
  Merger(const GraphDiff& diff, const GraphView& before, const GraphView& after,
         const Trace& before_trace, const Trace& after_trace)
      : diff_(diff),
        before_(before),
        after_(after),
        matching_(MatchNodes(before, before_trace, after, after_trace)),
        before_trace_(before_trace),
        after_trace_(after_trace) {}

  DiffDrawing Merge() {
    AddBoxes();
    MarkChanges();
    AddArrows();
    return Cut();
  }

 private:
  void AddBoxes() {
    box_of_before_.assign(before_.size(), NodeMatching::kNone);
    for (uint32_t node = 0; node < after_.size(); ++node) {
      const uint32_t partner = matching_.before[node];
      DiffBox box{.before = {}, .after = after_.nodes[node], .change = Change::kAdded};
      if (partner != NodeMatching::kNone) {
        box.before = before_.nodes[partner];
        box.change = Change::kSame;
        box_of_before_[partner] = node;
      }
      boxes_.push_back(std::move(box));
      place_.push_back({node + 1, 0});
    }
    uint32_t behind = 0;  // where the last matched node before it is
    for (uint32_t node = 0; node < before_.size(); ++node) {
      if (box_of_before_[node] != NodeMatching::kNone) {
        behind = box_of_before_[node] + 1;
        continue;
      }
      box_of_before_[node] = static_cast<uint32_t>(boxes_.size());
      boxes_.push_back({.before = before_.nodes[node], .after = {}, .change = Change::kRemoved});
      place_.push_back({behind, node + 1});
    }
    for (uint32_t i = 0; i < boxes_.size(); ++i) {
      if (boxes_[i].before) by_before_[boxes_[i].before] = i;
    }
  }

  void Mark(NodeId before, Change change, std::string what) {
    DiffBox& box = boxes_[by_before_.at(before)];
    box.change = change;
    box.what.push_back(std::move(what));
  }

  void MarkChanges() {
    for (const ParameterChange& change : diff_.parameters) {
      Mark(change.node.before, Change::kChanged,
           change.what + " " + change.before + " → " + change.after);
    }
    for (const NodePair& pair : diff_.moved_nodes) {
      Mark(pair.before, Change::kMoved,
           StreamTitle(before_trace_, before_trace_[pair.before].stream) + " → " +
               StreamTitle(after_trace_, after_trace_[pair.after].stream));
    }
  }

  // Edges after; and those before that are lost, or that went with a removed node.
  void AddArrows() {
    std::map<EdgeId, EdgeId> changed;  // by the edge after
    for (const EdgePair& pair : diff_.changed_edges) changed[pair.after] = pair.before;
    for (uint32_t node = 0; node < after_.size(); ++node) {
      for (const Neighbour& out : after_.Out(node)) {
        DiffArrow arrow{node, out.node, {}, out.edge, Change::kSame};
        const bool gained = std::ranges::binary_search(diff_.gained_edges, out.edge);
        const bool fresh = !boxes_[node].before || !boxes_[out.node].before;
        if (gained || fresh) arrow.change = Change::kAdded;
        if (const auto found = changed.find(out.edge); found != changed.end()) {
          arrow.change = Change::kChanged;
          arrow.before = found->second;
        }
        arrows_.push_back(arrow);
      }
    }
    for (uint32_t node = 0; node < before_.size(); ++node) {
      for (const Neighbour& out : before_.Out(node)) {
        const uint32_t from = box_of_before_[node], to = box_of_before_[out.node];
        const bool gone = !boxes_[from].after || !boxes_[to].after;
        if (!gone && !std::ranges::binary_search(diff_.lost_edges, out.edge)) continue;
        arrows_.push_back({from, to, out.edge, {}, Change::kRemoved});
      }
    }
  }

  // Changed nodes and those that an edge joins to them, in capture order.
  DiffDrawing Cut() {
    std::vector<bool> changed(boxes_.size()), shown(boxes_.size());
    for (size_t i = 0; i < boxes_.size(); ++i) changed[i] = boxes_[i].change != Change::kSame;
    for (const DiffArrow& arrow : arrows_) {
      if (arrow.change != Change::kSame) changed[arrow.from] = changed[arrow.to] = true;
    }
    shown = changed;
    for (const DiffArrow& arrow : arrows_) {
      if (changed[arrow.from]) shown[arrow.to] = true;
      if (changed[arrow.to]) shown[arrow.from] = true;
    }
    return Numbered(shown);
  }

  DiffDrawing Numbered(const std::vector<bool>& shown) {
    std::vector<uint32_t> order, number(boxes_.size(), NodeMatching::kNone);
    for (uint32_t i = 0; i < boxes_.size(); ++i) {
      if (shown[i]) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](uint32_t i) { return place_[i]; });
    DiffDrawing drawing;
    for (const uint32_t i : order) {
      if (drawing.boxes.size() == kMostBoxes) {
        if (boxes_[i].change != Change::kSame) ++drawing.left_out;
        continue;
      }
      number[i] = static_cast<uint32_t>(drawing.boxes.size());
      drawing.boxes.push_back(std::move(boxes_[i]));
    }
    for (DiffArrow arrow : arrows_) {
      arrow.from = number[arrow.from];
      arrow.to = number[arrow.to];
      if (arrow.from != NodeMatching::kNone && arrow.to != NodeMatching::kNone)
        drawing.arrows.push_back(arrow);
    }
    return drawing;
  }

  const GraphDiff& diff_;
  const GraphView& before_;
  const GraphView& after_;
  NodeMatching matching_;
  const Trace& before_trace_;
  const Trace& after_trace_;
  std::vector<DiffBox> boxes_;
  std::vector<std::pair<uint32_t, uint32_t>> place_;  // by box: among the nodes after, and before
  std::vector<uint32_t> box_of_before_;
  std::map<NodeId, uint32_t> by_before_;
  std::vector<DiffArrow> arrows_;
};

}  // namespace

const char* ChangeName(Change change) {
  static constexpr const char* kNames[] = {"same", "removed", "added", "changed", "moved"};
  return kNames[static_cast<size_t>(change)];
}

std::vector<DiffDrawing> DrawDiff(const TraceDiff& diff, const Trace& before, const Trace& after) {
  std::vector<DiffDrawing> drawings;
  const auto different = [](const GraphDiff& graph) { return !graph.equal(); };
  if (std::ranges::none_of(diff.graphs, different)) return drawings;
  const std::vector<GraphView> views = ViewGraphs(before), after_views = ViewGraphs(after);
  for (const GraphDiff& graph : diff.graphs) {
    if (graph.equal()) continue;
    drawings.push_back(
        Merger(graph, views[graph.before.index()], after_views[graph.after.index()], before, after)
            .Merge());
  }
  return drawings;
}

}  // namespace graphkit
