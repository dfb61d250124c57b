#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/common_subsequence.h"
#include "libgraphkit/compare/diff.h"

namespace graphkit {

namespace {

constexpr uint32_t kNone = NodeMatching::kNone;

// "writes 4 KiB at 512 of 1 MiB": what is accessed, whichever block it is.
std::string AccessText(const Trace& trace, const Access& access) {
  static constexpr std::array kModes = {"touches", "reads", "writes", "reads and writes"};
  std::string text = kModes[static_cast<size_t>(access.mode)];
  if (access.length != kLengthUnknown) text += " " + FormatBytes(access.length);
  if (access.rows.width != 0) {
    text += " in rows of " + std::to_string(access.rows.width) + " every " +
            std::to_string(access.rows.pitch);
  }
  if (access.offset != 0) text += " at " + std::to_string(access.offset);
  if (access.block) text += " of " + FormatBytes(trace[access.block].size);
  return text;
}

bool SameAccess(const Trace& a, const Access& x, const Trace& b, const Access& y) {
  const auto size = [](const Trace& trace, const Access& access) {
    return access.block ? trace[access.block].size : kLengthUnknown;
  };
  return x.mode == y.mode && x.offset == y.offset && x.length == y.length && x.rows == y.rows &&
         size(a, x) == size(b, y);
}

class ParameterDiff {
 public:
  ParameterDiff(const ComparedSide& before, const ComparedSide& after,
                std::vector<ParameterChange>& found)
      : before_(before.trace),
        after_(after.trace),
        later_before_(before.changes),
        later_after_(after.changes),
        changes_(found) {}

  void Compare(NodePair pair) {
    pair_ = pair;
    const Node &a = before_[pair.before], &b = after_[pair.after];
    CompareShapes(a, b);
    if (a.block && b.block) {
      Note("size", FormatCount(before_[a.block].size) + " B",
           FormatCount(after_[b.block].size) + " B");
    }
    CompareAccesses(a, b);
    if (later_before_.empty() && later_after_.empty()) return;
    const auto said = [](std::string text) { return text.empty() ? "as made" : text; };
    Note("launches", said(later_before_.Text(pair.before)), said(later_after_.Text(pair.after)));
  }

 private:
  void Note(const char* what, std::string before, std::string after) {
    if (before == after) return;
    changes_.push_back({pair_, what, std::move(before), std::move(after)});
  }

  void CompareShapes(const Node& a, const Node& b) {
    if (a.shape >= before_.shapes.size() || b.shape >= after_.shapes.size()) return;
    const LaunchShape &x = before_.shapes[a.shape], &y = after_.shapes[b.shape];
    Note("grid", SizesText(x.grid), SizesText(y.grid));
    Note("block", SizesText(x.block), SizesText(y.block));
    Note("shared bytes", std::to_string(x.shared_bytes), std::to_string(y.shared_bytes));
  }

  void CompareAccesses(const Node& a, const Node& b) {
    if (a.accesses.count != b.accesses.count) {
      return Note("accesses", std::to_string(a.accesses.count), std::to_string(b.accesses.count));
    }
    for (uint32_t i = 0; i < a.accesses.count; ++i) {
      const Access& x = before_.accesses[a.accesses.first + i];
      const Access& y = after_.accesses[b.accesses.first + i];
      if (SameAccess(before_, x, after_, y)) continue;
      changes_.push_back(
          {pair_, "access " + std::to_string(i), AccessText(before_, x), AccessText(after_, y)});
    }
  }

  const Trace& before_;
  const Trace& after_;
  const NodeChanges& later_before_;
  const NodeChanges& later_after_;
  std::vector<ParameterChange>& changes_;
  NodePair pair_;
};

// An edge by its ends in the graph after, so that edges of both sides can be compared.
struct EdgeEnds {
  uint32_t from, to, data;
  EdgeId edge;
  auto Ends() const { return std::tuple(from, to); }
  auto All() const { return std::tuple(from, to, data); }
};

// Edges between matched nodes.
std::vector<EdgeEnds> EdgesOf(const GraphView& view, const std::vector<uint32_t>* to_after,
                              const std::vector<uint32_t>* to_before) {
  std::vector<EdgeEnds> edges;
  const auto translate = [&](uint32_t node) {
    if (to_after != nullptr) return (*to_after)[node];
    return (*to_before)[node] == kNone ? kNone : node;
  };
  for (uint32_t node = 0; node < view.size(); ++node) {
    for (const Neighbour& out : view.Out(node)) {
      const uint32_t from = translate(node), to = translate(out.node);
      if (from != kNone && to != kNone) edges.push_back({from, to, out.data, out.edge});
    }
  }
  std::ranges::sort(edges, {}, [](const EdgeEnds& edge) {
    return std::tuple(edge.from, edge.to, edge.data, edge.edge);
  });
  return edges;
}

void DiffEdges(const GraphView& before, const GraphView& after, const NodeMatching& matching,
               GraphDiff& diff) {
  std::vector<EdgeEnds> lost, gained;
  WalkSorted(
      EdgesOf(before, &matching.after, nullptr), EdgesOf(after, nullptr, &matching.before),
      [](const EdgeEnds& edge) { return edge.All(); },
      [&](const EdgeEnds& edge) { lost.push_back(edge); },
      [&](const EdgeEnds& edge) { gained.push_back(edge); },
      [](const EdgeEnds&, const EdgeEnds&) {});
  // An edge that is lost and gained between the same nodes is one that changed.
  WalkSorted(
      lost, gained, [](const EdgeEnds& edge) { return edge.Ends(); },
      [&](const EdgeEnds& edge) { diff.lost_edges.push_back(edge.edge); },
      [&](const EdgeEnds& edge) { diff.gained_edges.push_back(edge.edge); },
      [&](const EdgeEnds& a, const EdgeEnds& b) {
        diff.changed_edges.push_back({a.edge, b.edge});
      });
  std::ranges::sort(diff.lost_edges);
  std::ranges::sort(diff.gained_edges);
  std::ranges::sort(diff.changed_edges, {}, &EdgePair::before);
}

bool Moved(StreamId before, StreamId after, const StreamVotes::Partners& partners) {
  const size_t index = before ? before.index() : partners.known.size() - 1;
  return !partners.known[index] || partners.streams[index] != after;
}

}  // namespace

GraphDiff DiffGraph(const ComparedSide& before_side, const ComparedSide& after_side,
                    const NodeMatching& matching) {
  const GraphView &before = before_side.view, &after = after_side.view;
  GraphDiff diff{.before = before.graph, .after = after.graph};
  ParameterDiff parameters(before_side, after_side, diff.parameters);
  for (uint32_t node = 0; node < before.size(); ++node) {
    const uint32_t partner = matching.after[node];
    if (partner == kNone) {
      diff.removed_nodes.push_back(before.nodes[node]);
      continue;
    }
    ++diff.matched_nodes;
    const NodePair pair{before.nodes[node], after.nodes[partner]};
    if (Moved(before.streams[node], after.streams[partner], matching.streams)) {
      diff.moved_nodes.push_back(pair);
    }
    parameters.Compare(pair);
  }
  for (uint32_t node = 0; node < after.size(); ++node) {
    if (matching.before[node] == kNone) diff.added_nodes.push_back(after.nodes[node]);
  }
  DiffEdges(before, after, matching, diff);
  return diff;
}

}  // namespace graphkit
