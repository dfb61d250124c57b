#include "libgraphkit/analysis/order/build_order.h"

#include <algorithm>

#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {
namespace {

Ternary Waits(const Ran& trace, NodeId node, Ternary unknown) {
  const Ternary waits = EndWaitsFor(trace, node);
  return waits != Ternary::kUnknown ? waits : unknown;
}

// By stream, its last node in capture order. Few streams need none of it.
std::vector<NodeId> LastNodes(const Ran& trace) {
  constexpr size_t kFewStreams = 16;
  if (trace.streams.size() <= kFewStreams) return {};
  std::vector<NodeId> last(trace.streams.size());
  for (size_t id = 0; id < trace.nodes.size(); ++id) {
    const StreamId stream = trace.nodes[id].stream;
    if (stream.index() < last.size()) last[stream.index()] = NodeId(id);
  }
  return last;
}

void AddNode(const Ran& trace, size_t id, std::span<const InEdge> in, Ternary unknown,
             Order* order) {
  const Node& node = trace.nodes[id];
  const bool all_full = std::ranges::all_of(in, [](const InEdge& edge) { return edge.full; });
  order->Add(NodeId(id), node.graph, node.stream,
             all_full ? Ternary::kUnknown : Waits(trace, NodeId(id), unknown), in);
}

// Edges nearly always come in the order of the nodes that they lead to, and from earlier nodes.
// False: they don't, and `order` is of no use.
bool AddInCaptureOrder(const Ran& trace, Ternary unknown, Order* order) {
  const std::vector<NodeId> last = LastNodes(trace);
  std::vector<InEdge> in;
  auto at = trace.edges.begin();
  const auto end = trace.edges.end();
  for (size_t id = 0; id < trace.nodes.size(); ++id) {
    in.clear();
    for (; at != end && at->to.index() <= id; ++at) {
      if (at->to.index() != id || !(at->from < at->to)) return false;
      const EdgeId edge(static_cast<size_t>(at - trace.edges.begin()));
      if (trace.graph_edges.Has(edge)) in.push_back({at->from, at->full()});
    }
    AddNode(trace, id, in, unknown, order);
    const StreamId stream = trace.nodes[id].stream;
    if (stream.index() < last.size() && last[stream.index()] == NodeId(id)) {
      order->EndStream(stream);
    }
  }
  return at == end;
}

Order Prepare(const Ran& trace, EdgeRule rule) {
  Order order(rule, Nesting(trace));
  const size_t spare = trace.edges.size() - std::min(trace.nodes.size(), trace.edges.size());
  order.Reserve(trace.nodes.size(), spare + spare / 8 + 16);
  return order;
}

}  // namespace

Order BuildOrder(const Ran& trace, EdgeRule rule, Ternary unknown) {
  Order order = Prepare(trace, rule);
  if (AddInCaptureOrder(trace, unknown, &order)) return order;
  order = Prepare(trace, rule);
  const InEdges in = FindInEdges(trace);
  const std::vector<uint32_t> sorted = SortNodes(in);
  std::vector<bool> added(trace.nodes.size());
  for (const uint32_t id : sorted) {
    added[id] = true;
    AddNode(trace, id, in.Of(id), unknown, &order);
  }
  for (size_t id = 0; id < trace.nodes.size(); ++id) {
    if (!added[id]) AddNode(trace, id, {}, unknown, &order);
  }
  return order;
}

}  // namespace graphkit
