#include "libgraphkit/analysis/order/order.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr size_t kChainsTried = 4;  // before a new one is opened

}  // namespace

void Order::Reserve(size_t nodes, size_t joins) {
  places_.reserve(nodes);
  rows_.Reserve(joins);
}

Order::GraphState& Order::StateOf(GraphId graph) {
  if (graph.index() >= graphs_.size()) graphs_.resize(graph.index() + 1);
  return graphs_[graph.index()];
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
  if (chain == kNoChain || chains_[chain].graph != graph) return kNoChain;
  return chains_[chain].stream == stream ? chain : kNoChain;
}

void Order::EndStream(StreamId stream) {
  if (stream.index() >= stream_chain_.size() || stream_chain_[stream.index()] == kNoChain) return;
  Chain& chain = chains_[stream_chain_[stream.index()]];
  if (chain.stream == stream) chain.ended = true;
}

void Order::NoteJoined(const Place& from) {
  Chain& chain = chains_[from.chain];
  if (chain.joined || from.seq + 1 != chain.length || (chain.stream.valid() && !chain.ended))
    return;
  chain.joined = true;
  StateOf(chain.graph).joined.push_back(from.chain);
}

// A chain of the graph whose last node ends before a node with these edges does: of those that were
// joined last. Who goes on with one that is left out here joins it again.
uint32_t Order::TakeJoined(GraphId graph, bool waits, std::span<const InEdge> in) {
  std::vector<uint32_t>& joined = StateOf(graph).joined;
  for (size_t tried = 0; tried < kChainsTried && !joined.empty(); ++tried) {
    const uint32_t chain = joined.back();
    joined.pop_back();
    chains_[chain].joined = false;
    if (TailEndsBefore(chain, waits, in)) return chain;
  }
  return kNoChain;
}

// Streams that never run beside each other share a chain.
uint32_t Order::OpenChain(GraphId graph, StreamId stream, bool waits, std::span<const InEdge> in) {
  uint32_t chain = TakeJoined(graph, waits, in);
  if (chain == kNoChain) {
    chain = static_cast<uint32_t>(chains_.size());
    chains_.push_back({.graph = graph, .local = StateOf(graph).chains++});
  }
  chains_[chain].stream = stream;
  chains_[chain].ended = false;
  if (stream.valid()) {
    if (stream.index() >= stream_chain_.size()) stream_chain_.resize(stream.index() + 1, kNoChain);
    stream_chain_[stream.index()] = chain;
  }
  return chain;
}

uint32_t Order::EndRow(const Place& place) const {
  return (place.row & kSpecial) == 0 ? place.row : specials_[place.row & ~kSpecial].end_row;
}

// True if a node is at the end of a chain that goes on: captured there last, or explicitly added.
bool Order::IsOpenTail(const Place& place, GraphId graph, StreamId stream) const {
  const Chain& chain = chains_[place.chain];
  if (place.seq + 1 != chain.length || chain.graph != graph || chain.stream != stream) return false;
  return !stream.valid() || stream_chain_[stream.index()] == place.chain;
}

// The row of what comes after a point where a node has ended, and after nothing else.
ClockRows::Row Order::RowAfter(const OrderPoint& point) {
  const bool again = last_fork_.chain == point.chain && last_fork_.count == point.count;
  if (again && last_forked_ == point.row) return last_fork_.row;
  last_forked_ = point.row;
  const auto row = rows_.Raise(point.row, chains_[point.chain].local, point.count);
  last_fork_ = {row, point.chain, point.count};
  rows_.Begin();
  return row;
}

// True if a row, of the nodes of a chain, says nothing that the point doesn't include.
bool Order::KnowsFork(const OrderPoint& point, uint32_t chain, ClockRows::Row row) const {
  const Fork& fork = chains_[chain].fork;
  return fork.row == row && row != ClockRows::kEmpty && CountAt(point, fork.chain) >= fork.count;
}

// The common case: full edges only, one of them from the tail of the own chain. Most joins come
// from chains that were forked off this one, and most forks from one that has joined this chain:
// then nothing need be merged.
bool Order::AddToTail(NodeId node, GraphId graph, StreamId stream, std::span<const InEdge> in) {
  size_t own = in.size();
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].full && rule_ == EdgeRule::kCompletion) return false;
    if (own == in.size() && IsOpenTail(places_[in[i].from.index()], graph, stream)) own = i;
  }
  if (own == in.size()) return false;
  Place place = places_[in[own].from.index()];
  const ClockRows::Row own_row = EndRow(place);
  OrderPoint point{graph, place.chain, ++place.seq, own_row};
  if (in.size() > 1) rows_.Begin();
  if (in.size() > kFew) {
    AbsorbAll(&point, PointsOf(in));
  } else {
    for (size_t i = 0; i < in.size(); ++i) {
      const Place& from = places_[in[i].from.index()];
      if (from.chain == place.chain) continue;
      NoteJoined(from);
      if (rows_.Count(point.row, chains_[from.chain].local) > from.seq) continue;
      JoinEnd(&point, {graph, from.chain, from.seq + 1, EndRow(from)}, point.row == own_row);
    }
  }
  Chain& chain = chains_[place.chain];
  ++chain.length;
  if (point.row != own_row && point.row == last_fork_.row) chain.fork = last_fork_;
  place.row = point.row;
  Put(node, place);
  return true;
}

// `from`: where a node of another chain has ended; `own`: `into` is where one of its own chain has.
void Order::JoinEnd(OrderPoint* into, const OrderPoint& from, bool own) {
  if (own && rows_.Count(from.row, chains_[into->chain].local) >= into->count) {
    into->row = RowAfter(from);
    return;
  }
  if (!KnowsFork(*into, from.chain, from.row)) into->row = rows_.Join(into->row, from.row);
  into->row = rows_.Raise(into->row, chains_[from.chain].local, from.count);
}

void Order::AddAny(NodeId node, GraphId graph, StreamId stream, Ternary waits,
                   std::span<const InEdge> in) {
  if (!AddToTail(node, graph, stream, in)) AddJoin(node, graph, stream, waits == Ternary::kYes, in);
}

// True if the last node of a chain ends before a node with these edges ends.
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
    return OpenChain(graph, stream, waits, in);
  }
  for (const InEdge& edge : in) {
    if (!edge.full && !waits && rule_ == EdgeRule::kCompletion) continue;
    const Place& from = places_[edge.from.index()];
    if (IsOpenTail(from, graph, stream)) return from.chain;
  }
  return OpenChain(graph, stream, waits, in);
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

// The same of many points.
void Order::AbsorbAll(OrderPoint* into, std::span<const OrderPoint> points) {
  const OrderPoint before = *into;
  const uint32_t own_local = chains_[into->chain].local;
  std::vector<ClockRows::Row> rows = {into->row};
  for (const OrderPoint& from : points) {
    if (from.chain == kNoChain) continue;
    const bool own = from.chain == into->chain;
    into->count = std::max(into->count, own ? from.count : rows_.Count(from.row, own_local));
    if (!KnowsFork(before, from.chain, from.row)) rows.push_back(from.row);
  }
  into->row = rows_.JoinAll(rows);
  for (const OrderPoint& from : points) {
    if (from.chain == kNoChain || from.chain == into->chain) continue;
    into->row = rows_.Raise(into->row, chains_[from.chain].local, from.count);
  }
}

// Where the nodes that edges come from have ended, or for edges that prove less have started.
std::vector<OrderPoint> Order::PointsOf(std::span<const InEdge> in) const {
  std::vector<OrderPoint> points;
  for (const InEdge& edge : in) {
    const bool full = edge.full || rule_ == EdgeRule::kAllFull;
    points.push_back(full ? EndOf(edge.from) : StartOf(edge.from));
  }
  return points;
}

// The point at which a node with these edges starts. The own chain comes first, so that a join
// that brings nothing makes no row.
OrderPoint Order::StartClock(GraphId graph, uint32_t chain, std::span<const InEdge> in) {
  OrderPoint start{graph, chain, 0, ClockRows::kEmpty};
  rows_.Begin();
  for (const InEdge& edge : in) NoteJoined(places_[edge.from.index()]);
  if (in.size() > kFew) {
    AbsorbAll(&start, PointsOf(in));
    return start;
  }
  for (const bool own : {true, false}) {
    for (const InEdge& edge : in) {
      if ((places_[edge.from.index()].chain == chain) != own) continue;
      const bool full = edge.full || rule_ == EdgeRule::kAllFull;
      const OrderPoint from = full ? EndOf(edge.from) : StartOf(edge.from);
      if (full && CountAt(start, from.chain) >= from.count) continue;
      if (full && !own && start.row == ClockRows::kEmpty) {
        start.count = std::max(start.count, rows_.Count(from.row, chains_[chain].local));
        JoinEnd(&start, from, true);
      } else {
        Absorb(&start, from);
      }
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

OrderPoint Order::PointAfter(GraphId graph, std::span<const FrontierEntry> entries) {
  OrderPoint point{.graph = graph};
  std::vector<OrderPoint> points;
  for (const FrontierEntry& entry : entries) {
    const bool full =
        (entry.from_port == kPortDefault && entry.edge_type == 0) || rule_ == EdgeRule::kAllFull;
    const OrderPoint other = full ? EndOf(entry.node) : StartOf(entry.node);
    if (entries.size() <= kFew || point.chain == kNoChain) {
      point = Meet(point, other);
    } else {
      points.push_back(other);
    }
  }
  if (points.empty()) return point;
  rows_.Begin();
  AbsorbAll(&point, points);
  return point;
}

OrderPoint Order::Meet(const OrderPoint& a, const OrderPoint& b) {
  if (a.chain == kNoChain) return b.chain == kNoChain ? a : b;
  OrderPoint both = a;
  rows_.Begin();
  Absorb(&both, b);
  return both;
}

// Many nodes of one graph are not compared pair by pair: by chain, the most that one of them comes
// after is found for all of them.
void Order::EndBeforeOthers(std::span<const NodeId> nodes, std::vector<bool>* ends) const {
  ends->assign(nodes.size(), false);
  const GraphId graph = nodes.size() <= kFew ? GraphId() : CommonGraph(nodes);
  if (nodes.size() > kFew && !graph.valid() && EndBeforeOthersOfTrees(nodes, ends)) return;
  if (!graph.valid() || nodes.size() * nodes.size() <= graphs_[graph.index()].chains) {
    for (size_t j = 0; j < nodes.size(); ++j) {
      const OrderPoint end = EndOf(nodes[j]);
      for (size_t i = 0; i < nodes.size(); ++i) {
        const bool earlier = nodes[i] == nodes[j] ? j < i : Before(nodes[i], end);
        if (earlier) (*ends)[i] = true;
      }
    }
    return;
  }
  std::vector<uint32_t> most(graphs_[graph.index()].chains);
  std::vector<ClockRows::Row> rows;
  for (const NodeId node : nodes) rows.push_back(EndRow(places_[node.index()]));
  rows_.MostOf(rows, most);
  for (const NodeId node : nodes) {
    uint32_t& of_chain = most[chains_[places_[node.index()].chain].local];
    of_chain = std::max(of_chain, places_[node.index()].seq);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Place& place = places_[nodes[i].index()];
    uint32_t& of_chain = most[chains_[place.chain].local];
    (*ends)[i] = of_chain > place.seq;
    of_chain = std::max(of_chain, place.seq + 1);
  }
}

// Graphs that don't hold each other don't order each other's nodes: one after the other. False:
// there is only one with what it holds.
bool Order::EndBeforeOthersOfTrees(std::span<const NodeId> nodes, std::vector<bool>* ends) const {
  std::vector<std::pair<GraphId, size_t>> by_tree;
  for (size_t i = 0; i < nodes.size(); ++i)
    by_tree.emplace_back(nesting_.Root(EndOf(nodes[i]).graph), i);
  std::ranges::sort(by_tree);
  if (by_tree.front().first == by_tree.back().first) return false;
  std::vector<NodeId> tree;
  std::vector<bool> tree_ends;
  for (size_t begin = 0; begin < by_tree.size(); begin += tree.size()) {
    tree.clear();
    for (size_t i = begin; i < by_tree.size() && by_tree[i].first == by_tree[begin].first; ++i)
      tree.push_back(nodes[by_tree[i].second]);
    EndBeforeOthers(tree, &tree_ends);
    for (size_t i = 0; i < tree.size(); ++i) (*ends)[by_tree[begin + i].second] = tree_ends[i];
  }
  return true;
}

// None: nodes of several graphs.
GraphId Order::CommonGraph(std::span<const NodeId> nodes) const {
  const GraphId graph = EndOf(nodes[0]).graph;
  const auto differs = [&](NodeId node) { return EndOf(node).graph != graph; };
  return std::ranges::any_of(nodes, differs) ? GraphId() : graph;
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

bool Order::BeforeElsewhere(NodeId a, const OrderPoint& b) const {
  const Place& from = places_[a.index()];
  if (from.chain == kNoChain) return false;
  if (from.chain == b.chain) return from.seq < b.count;
  const Chain& chain = chains_[from.chain];
  if (chain.graph == b.graph) return rows_.Count(b.row, chain.local) > from.seq;
  return CoversAcross(b, EndOf(a));
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
  const GraphId later_in = nesting_.Outermost(later.graph, earlier.graph);
  const GraphId earlier_in = nesting_.Outermost(earlier.graph, later.graph);
  const NodeId later_node = nesting_.Holder(later_in), earlier_node = nesting_.Holder(earlier_in);
  if (later_in.valid()) later = later_node.valid() ? StartOf(later_node) : OrderPoint();
  if (earlier_in.valid()) earlier = earlier_node.valid() ? EndOf(earlier_node) : OrderPoint();
  const bool joined = later.graph.valid() && later.graph == earlier.graph;
  return joined && later_node != earlier_node && Covers(later, earlier);
}

}  // namespace graphkit
