#include "libgraphkit/analysis/order/order.h"

#include <algorithm>

namespace graphkit {

void Order::Reserve(size_t nodes, size_t joins) {
  places_.reserve(nodes);
  rows_.Reserve(joins);
}

Order::GraphState& Order::StateOf(GraphId graph) {
  if (graph.index() >= graphs_.size()) graphs_.resize(graph.index() + 1);
  return graphs_[graph.index()];
}

void Order::SetParent(GraphId graph, NodeId holder) { StateOf(graph).holder = holder; }

NodeId Order::Holder(GraphId graph) const {
  return graph.valid() && graph.index() < graphs_.size() ? graphs_[graph.index()].holder : NodeId();
}

void Order::Put(NodeId node, const Place& place) {
  if (node.index() == places_.size()) {
    places_.push_back(place);
    return;
  }
  if (node.index() > places_.size()) places_.resize(node.index() + 1);
  places_[node.index()] = place;
}

uint32_t Order::StreamChain(GraphId graph, StreamId stream) const {
  if (!stream.valid() || stream.index() >= stream_chain_.size()) return kNoChain;
  const uint32_t chain = stream_chain_[stream.index()];
  return chain != kNoChain && chains_[chain].graph == graph ? chain : kNoChain;
}

uint32_t Order::OpenChain(GraphId graph, StreamId stream) {
  const auto chain = static_cast<uint32_t>(chains_.size());
  chains_.push_back({graph, StateOf(graph).chains++, 0, stream});
  if (stream.valid()) {
    if (stream.index() >= stream_chain_.size()) stream_chain_.resize(stream.index() + 1, kNoChain);
    stream_chain_[stream.index()] = chain;
  }
  return chain;
}

uint32_t Order::EndRow(const Place& place) const {
  return (place.row & kSpecial) == 0 ? place.row : specials_[place.row & ~kSpecial].end_row;
}

// Whether a node is at the end of a chain that goes on: captured there last, or explicitly added.
bool Order::IsOpenTail(const Place& place, GraphId graph, StreamId stream) const {
  const Chain& chain = chains_[place.chain];
  if (place.seq + 1 != chain.length || chain.graph != graph || chain.stream != stream) return false;
  return !stream.valid() || stream_chain_[stream.index()] == place.chain;
}

// The common case: full edges only, one of them from the tail of the own chain.
bool Order::AddToTail(NodeId node, GraphId graph, StreamId stream, std::span<const InEdge> in) {
  size_t own = in.size();
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].full && rule_ == EdgeRule::kCompletion) return false;
    if (own == in.size() && IsOpenTail(places_[in[i].from.index()], graph, stream)) own = i;
  }
  if (own == in.size()) return false;
  Place place = places_[in[own].from.index()];
  place.row = EndRow(place);
  ++place.seq;
  ++chains_[place.chain].length;
  if (in.size() > 1) rows_.Begin();
  for (size_t i = 0; i < in.size(); ++i) {
    const Place& from = places_[in[i].from.index()];
    const uint32_t column = chains_[from.chain].local;
    if (from.chain == place.chain || rows_.Count(place.row, column) > from.seq) continue;
    place.row = rows_.Raise(rows_.Join(place.row, EndRow(from)), column, from.seq + 1);
  }
  Put(node, place);
  return true;
}

void Order::AddAny(NodeId node, GraphId graph, StreamId stream, Ternary waits,
                   std::span<const InEdge> in) {
  if (!AddToTail(node, graph, stream, in)) AddJoin(node, graph, stream, waits == Ternary::kYes, in);
}

// Whether the last node of a chain ends before a node with these edges ends.
bool Order::TailEndsBefore(uint32_t chain, bool waits, std::span<const InEdge> in) const {
  const uint32_t length = chains_[chain].length;
  return std::ranges::any_of(in, [&](const InEdge& edge) {
    const bool ends = edge.full || waits || rule_ == EdgeRule::kAllFull;
    return CountAt(ends ? EndOf(edge.from) : StartOf(edge.from), chain) >= length;
  });
}

uint32_t Order::ChooseChain(GraphId graph, StreamId stream, bool waits,
                            std::span<const InEdge> in) {
  if (stream.valid()) {
    const uint32_t chain = StreamChain(graph, stream);
    if (chain != kNoChain && TailEndsBefore(chain, waits, in)) return chain;
    return OpenChain(graph, stream);
  }
  for (const InEdge& edge : in) {
    if (!edge.full && !waits && rule_ == EdgeRule::kCompletion) continue;
    const Place& from = places_[edge.from.index()];
    if (IsOpenTail(from, graph, stream)) return from.chain;
  }
  return OpenChain(graph, stream);
}

// into := into ∪ from. Both of one graph.
void Order::Absorb(OrderPoint* into, const OrderPoint& from) {
  if (from.chain == kNoChain) return;
  const uint32_t own_local = chains_[into->chain].local;
  into->count = std::max(into->count, rows_.Count(from.row, own_local));
  into->row = rows_.Join(into->row, from.row);
  if (from.chain == into->chain) {
    into->count = std::max(into->count, from.count);
  } else {
    into->row = rows_.Raise(into->row, chains_[from.chain].local, from.count);
  }
}

// What has ended when a node with these edges starts. The own chain comes first, so that a join
// that brings nothing makes no row.
OrderPoint Order::StartClock(GraphId graph, uint32_t chain, std::span<const InEdge> in) {
  OrderPoint start{graph, chain, 0, ClockRows::kEmpty};
  rows_.Begin();
  for (const bool own : {true, false}) {
    for (const InEdge& edge : in) {
      if ((places_[edge.from.index()].chain == chain) != own) continue;
      const bool full = edge.full || rule_ == EdgeRule::kAllFull;
      const OrderPoint from = full ? EndOf(edge.from) : StartOf(edge.from);
      if (full && CountAt(start, from.chain) >= from.count) continue;
      Absorb(&start, from);
    }
  }
  if (!rows_.IsSoft(start.row)) rows_.DropSoft();
  return start;
}

void Order::AddJoin(NodeId node, GraphId graph, StreamId stream, bool waits,
                    std::span<const InEdge> in) {
  const uint32_t chain = ChooseChain(graph, stream, waits, in);
  const uint32_t seq = chains_[chain].length++;
  const OrderPoint start = StartClock(graph, chain, in);
  OrderPoint end = start;
  if (waits && rule_ == EdgeRule::kCompletion) {
    rows_.Begin();
    for (const InEdge& edge : in) {
      if (!edge.full) Absorb(&end, EndOf(edge.from));
    }
  }
  if (start.count == seq && end.row == start.row) {
    Put(node, {chain, seq, start.row});
    return;
  }
  Put(node, {chain, seq, kSpecial | static_cast<uint32_t>(specials_.size())});
  specials_.push_back({start.count, start.row, end.row});
}

void Order::FetchPlaces(const OrderQuery& pair) const {
  __builtin_prefetch(&places_[pair.a.index()]);
  __builtin_prefetch(&places_[pair.b.index()]);
}
void Order::FetchRow(const OrderQuery& pair) const {
  const uint32_t row = places_[pair.b.index()].row;
  if ((row & kSpecial) == 0) rows_.Fetch(row);
}

// Each pair's places are fetched two steps ahead, and the row that they name one step ahead.
void Order::Before(std::span<const OrderQuery> pairs, std::span<bool> before) const {
  constexpr size_t kStep = 12;
  for (size_t i = 0; i < std::min(pairs.size(), 2 * kStep); ++i) FetchPlaces(pairs[i]);
  for (size_t i = 0; i < std::min(pairs.size(), kStep); ++i) FetchRow(pairs[i]);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i + 2 * kStep < pairs.size()) FetchPlaces(pairs[i + 2 * kStep]);
    if (i + kStep < pairs.size()) FetchRow(pairs[i + kStep]);
    before[i] = Before(pairs[i].a, pairs[i].b);
  }
}

OrderPoint Order::StartOf(NodeId node) const {
  const Place& place = places_[node.index()];
  if (place.chain == kNoChain) return {};
  const GraphId graph = chains_[place.chain].graph;
  if ((place.row & kSpecial) == 0) return {graph, place.chain, place.seq, place.row};
  const Special& special = specials_[place.row & ~kSpecial];
  return {graph, place.chain, special.start_count, special.start_row};
}

OrderPoint Order::EndOf(NodeId node) const {
  const Place& place = places_[node.index()];
  if (place.chain == kNoChain) return {};
  return {chains_[place.chain].graph, place.chain, place.seq + 1, EndRow(place)};
}

OrderPoint Order::PointAfter(GraphId graph, std::span<const FrontierEntry> entries) {
  OrderPoint point{.graph = graph};
  for (const FrontierEntry& entry : entries) {
    const bool full =
        (entry.from_port == kPortDefault && entry.edge_type == 0) || rule_ == EdgeRule::kAllFull;
    point = Meet(point, full ? EndOf(entry.node) : StartOf(entry.node));
  }
  return point;
}

OrderPoint Order::Meet(const OrderPoint& a, const OrderPoint& b) {
  if (a.chain == kNoChain) return b.chain == kNoChain ? a : b;
  OrderPoint both = a;
  rows_.Begin();
  Absorb(&both, b);
  return both;
}

bool Order::BeforeElsewhere(NodeId a, const OrderPoint& b) const {
  const Place& from = places_[a.index()];
  if (from.chain == kNoChain) return false;
  if (from.chain == b.chain) return from.seq < b.count;
  const Chain& chain = chains_[from.chain];
  if (chain.graph == b.graph) return rows_.Count(b.row, chain.local) > from.seq;
  return CoversAcross(b, EndOf(a));
}

uint32_t Order::Depth(GraphId graph) const {
  uint32_t depth = 0;
  for (NodeId holder = Holder(graph); holder.valid() && holder.index() < places_.size(); ++depth) {
    const uint32_t chain = places_[holder.index()].chain;
    if (chain == kNoChain) break;
    holder = Holder(chains_[chain].graph);
  }
  return depth;
}

bool Order::Covers(const OrderPoint& later, const OrderPoint& earlier) const {
  if (earlier.graph != later.graph) return CoversAcross(later, earlier);
  if (earlier.count == 0 && earlier.row == ClockRows::kEmpty) return true;
  if (later.chain == kNoChain) return false;
  const uint32_t own = chains_[later.chain].local;
  if (CountAt(later, earlier.chain) < earlier.count) return false;
  if (earlier.chain != later.chain && rows_.Count(earlier.row, own) > later.count) return false;
  return rows_.Within(earlier.row, later.row, own, chains_[earlier.chain].local);
}

// Lifts both sides to the graph that holds both: what ended inside an embedded graph is covered
// outside once the whole graph has ended, and what is inside starts after its holder starts.
bool Order::CoversAcross(OrderPoint later, OrderPoint earlier) const {
  if (!later.graph.valid() || !earlier.graph.valid()) return false;
  uint32_t later_depth = Depth(later.graph);
  uint32_t earlier_depth = Depth(earlier.graph);
  NodeId later_node;
  NodeId earlier_node;
  while (later.graph != earlier.graph) {
    if (later_depth == 0 && earlier_depth == 0) return false;
    if (earlier_depth >= later_depth) {
      earlier_node = Holder(earlier.graph);
      earlier = EndOf(earlier_node);
      --earlier_depth;
    } else {
      later_node = Holder(later.graph);
      later = StartOf(later_node);
      --later_depth;
    }
  }
  return later_node != earlier_node && Covers(later, earlier);
}

}  // namespace graphkit
