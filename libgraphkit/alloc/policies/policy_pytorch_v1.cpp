// The first version of graph_capture_record_stream_reuse (pytorch/pytorch#158352, PyTorch 2.9.0):
// at its free a block gets an empty node at the end of each of its streams, and comes back to a
// malloc of its own stream where each of them is before each node that the stream ends with, which
// after a wait are several. A stream that joined before the free isn't behind its marker; with
// markers that are no nodes (policy_pytorch.cpp) it is behind what it joined.
//
// The policy captures once more, with these nodes: they are numbered behind those of the trace.
#include <algorithm>
#include <optional>

#include "libgraphkit/alloc/policies/policy_defer.h"

namespace graphkit {
namespace {

// A capture with markers.
struct MarkedCapture {
  explicit MarkedCapture(const PolicyView& view)
      : order(EdgeRule::kAllFull), frontiers(view.trace, view.slice) {}
  Order order;
  FrontierReplay frontiers;
};

class PyTorchV1Policy final : private MarkedCapture, public MarkerPolicy {
 public:
  explicit PyTorchV1Policy(const PolicyView& view)
      : MarkedCapture(view),
        MarkerPolicy(view, order, &frontiers),
        numbers_(view.slice.nodes.size()) {
    for (size_t i = 0; i < view.slice.stream_ops.size(); ++i) {
      if (!view.trace.stream_ops[view.slice.stream_ops[i]].has_entries) continue;
      unmarked_.emplace(view.trace, view.slice);
      return;
    }
  }

 private:
  NodeId InOrder(NodeId node) const {
    const size_t nodes = view_.trace.nodes.size();
    if (node.index() >= nodes) return markers_[node.index() - nodes];
    const size_t number = view_.slice.nodes.NumberOf(node.index());
    return number < numbers_.size() ? numbers_[number] : NodeId();
  }

  void AdvanceTo(Seq seq) override {
    const Rows& nodes = view_.slice.nodes;
    for (; node_ < nodes.size() && view_.trace.nodes[nodes[node_]].seq < seq; ++node_) {
      const NodeId id(nodes[node_]);
      const Node& node = view_.trace[id];
      frontiers.AdvanceTo(node.seq);
      if (unmarked_) unmarked_->AdvanceTo(node.seq);
      in_.clear();
      if (frontiers.Of(node.stream).graph == node.graph) {
        AddEnds(node.stream);
      } else {
        AddEdgesInto(id);
      }
      numbers_[node_] = Add(node.graph, node.stream);
    }
    frontiers.AdvanceTo(seq);
  }

  NodeId Add(GraphId graph, StreamId stream) {
    const NodeId number(order.nodes());
    order.Add(number, NumberOf(graph), NumberOf(stream), Ternary::kYes, in_);
    return number;
  }
  // The order has tables as long as its ids are large.
  GraphId NumberOf(GraphId graph) {
    const auto at = std::ranges::find(graphs_, graph);
    const GraphId number(static_cast<size_t>(at - graphs_.begin()));
    if (at == graphs_.end()) graphs_.push_back(graph);
    return number;
  }
  StreamId NumberOf(StreamId stream) const {
    const size_t number = view_.slice.streams.NumberOf(stream.index());
    return number < view_.slice.streams.size() ? StreamId(number) : StreamId();
  }
  void AddEdgeFrom(NodeId node) {
    const NodeId from = InOrder(node);
    if (from.valid()) in_.push_back({from});
  }
  void AddEnds(StreamId stream) {
    for (const FrontierEntry& entry : frontiers.Of(stream).entries) AddEdgeFrom(entry.node);
  }

  // A node that no stream launched is behind what it depends on, and behind the marker of a stream
  // if it depends on all that is before the marker: it would depend on the marker instead.
  void AddEdgesInto(NodeId node) {
    if (!unmarked_) return;  // nothing will stand behind it
    const std::span<const InEdge> edges = view_.in_edges.Of(node.index());
    for (const InEdge& edge : edges) AddEdgeFrom(edge.from);
    const auto is_before = [&](const FrontierEntry& end) {
      return std::ranges::find(edges, end.node, &InEdge::from) != edges.end();
    };
    for (size_t i = 0; i < view_.slice.streams.size(); ++i) {
      const StreamId stream(view_.slice.streams[i]);
      const std::vector<FrontierEntry>& ends = unmarked_->Of(stream).entries;
      if (!ends.empty() && std::ranges::all_of(ends, is_before)) AddEnds(stream);
    }
  }

  void Mark(StreamId stream, GraphId graph, std::vector<NodeId>* markers) override {
    in_.clear();
    AddEnds(stream);
    markers_.push_back(Add(graph, stream));
    frontiers.Launch(stream, NodeId(view_.trace.nodes.size() + markers_.size() - 1));
    markers->push_back(markers_.back());
  }

  void Move(std::span<const FrontierEntry> entries, Stream* own) override {
    own->ends.clear();
    for (const FrontierEntry& entry : entries) {
      const NodeId node = InOrder(entry.node);
      if (node.valid()) own->ends.push_back({node, order.EndOf(node)});
    }
    if (!own->ends.empty()) Advance(own->ends.front().point, own);
  }

  bool Passed(const Stream& own, NodeId marker) const override {
    return !own.ends.empty() &&
           std::ranges::all_of(own.ends, [&](const End& end) { return EndsBefore(marker, end); });
  }

  size_t node_ = 0;              // of the graph: the next one
  std::vector<NodeId> numbers_;  // of the graph's nodes in the order; none: they come later
  std::vector<NodeId> markers_;  // numbers in the order
  std::vector<GraphId> graphs_;  // the same
  std::vector<InEdge> in_;       // of the node that is being added
  // Where nodes that no stream launched may stand at the end of a stream: without markers.
  std::optional<FrontierReplay> unmarked_;
};

}  // namespace

std::unique_ptr<ReusePolicy> MakePyTorchV1(const PolicyView& view) {
  return std::make_unique<PyTorchV1Policy>(view);
}

}  // namespace graphkit
