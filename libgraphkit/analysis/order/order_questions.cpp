#include <algorithm>

#include "libgraphkit/analysis/order/order.h"

namespace graphkit {

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

// Many nodes of one graph are not compared pair by pair: by chain, the most that one of them comes
// after is found for all of them.
void Order::EndBeforeOthers(std::span<const NodeId> nodes, std::vector<bool>* ends) const {
  ends->assign(nodes.size(), false);
  const GraphId graph = nodes.size() <= kFew ? GraphId() : CommonGraph(nodes);
  if (nodes.size() > kFew && !graph.valid() && EndBeforeOthersOfTrees(nodes, ends)) return;
  if (!graph.valid() || nodes.size() * nodes.size() <= graphs_[graph.index()].chains) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (size_t j = 0; j < nodes.size() && !(*ends)[i]; ++j) {
        (*ends)[i] = nodes[i] == nodes[j] ? j < i : EndsBefore(nodes[i], nodes[j]);
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
  for (size_t i = 0; i < nodes.size(); ++i) {
    GraphId outermost = EndOf(nodes[i]).graph;
    while (Holder(outermost).valid()) outermost = EndOf(Holder(outermost)).graph;
    by_tree.emplace_back(outermost, i);
  }
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
