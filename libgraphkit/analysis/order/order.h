// Does a happen before b in every execution that the graph allows?
//
// A node has a start and an end. Reuse of memory and races ask whether end(a) ≤ start(b):
//
//   a ─full→ b                  end(a) ≤ start(b)
//   a ─programmatic→ b          start(a) ≤ start(b); and end(a) ≤ end(b) if b is known to wait for
//   a ─launch completion→ b     its grid dependencies (griddepcontrol.wait)
//
// Nodes that end one after another form a chain: in a capture, a stream's nodes. A node knows its
// chain, its place in it, and a row: for each other chain, how many of its nodes have ended before
// this one starts. Only a join from another chain makes a row; all other nodes share the row of the
// node before them, so that a node costs 12 bytes beside the rows (clock_rows.h).
//
//     chain 0   a0 ─── a1 ──────── a2          row of b1: {chain 0: 2}, of b2: the same row
//                        ╲
//     chain 1   b0 ────── b1 ───── b2          Before(a1, b2): place of a1 is 1 < 2
//
// A chain goes on only where its last node ends before the next one ends. A stream that was set
// back (cudaStreamUpdateCaptureDependencies), or whose next node hangs on it by a programmatic edge
// without being known to wait, goes on in another chain. Child graphs and conditional bodies are
// ordered inside by their edges, and outside as the node that holds them. Nodes of graphs that
// don't hold each other are never ordered.
//
// Theory and references: docs/order.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/large_pages.h"
#include "libgraphkit/model/nesting.h"
#include "libgraphkit/ran/clock_rows.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

enum class EdgeRule : uint8_t {
  kCompletion,  // edges mean what CUDA says
  kAllFull,     // every edge counts as a full one, as PyTorch takes it (`--edges=pytorch`)
};

// A place in a graph where a node could start: what has ended there. Made from a frontier.
struct OrderPoint {
  static constexpr uint32_t kNoChain = 0xffffffffu;

  GraphId graph;
  uint32_t chain = kNoChain;  // the first `count` nodes of it have ended
  uint32_t count = 0;
  ClockRows::Row row = ClockRows::kEmpty;  // and of the graph's other chains as many as stand here
  bool operator==(const OrderPoint&) const = default;
};

// Where a node stands: the seq-th of its chain.
struct ChainPlace {
  uint32_t chain = 0;
  uint32_t seq = 0;
  bool operator==(const ChainPlace&) const = default;
};

class Order {
 public:
  explicit Order(EdgeRule rule = EdgeRule::kCompletion, Nesting nesting = {})
      : rule_(rule), nesting_(std::move(nesting)) {}

  // Building, in an order in which every edge comes from a node that was added before.

  // `stream`: where the node was captured; none for explicitly added ones. `waits`: whether it
  // waits for its grid dependencies. `in`: its edges, all from nodes of the same graph.
  void Add(NodeId node, GraphId graph, StreamId stream, Ternary waits, std::span<const InEdge> in) {
    if (in.size() == 1 && in[0].full &&
        Continues(node, graph, stream, places_[in[0].from.index()])) {
      const Place& tail = places_[in[0].from.index()];
      ++chains_[tail.chain].length;
      places_.push_back({tail.chain, tail.seq + 1, tail.row});
      return;
    }
    AddAny(node, graph, stream, waits, in);
  }

  // No more nodes come of this stream: once another chain has joined its own, a stream that comes
  // after both may go on with that.
  void EndStream(StreamId stream);

  // The point of a stream whose frontier is `entries`. Adds rows; what is known stays.
  OrderPoint PointAfter(GraphId graph, std::span<const FrontierEntry> entries);
  // The point where all of both have ended.
  OrderPoint Meet(const OrderPoint& a, const OrderPoint& b);

  void Reserve(size_t nodes, size_t joins);

  // Asking. A node that was never added is ordered with nothing.

  // Of each of some nodes, whether it ends before another one of them ends, or stands behind
  // itself.
  void EndBeforeOthers(std::span<const NodeId> nodes, std::vector<bool>* ends) const;

  // end(a) ≤ start(b).
  bool Before(NodeId a, NodeId b) const {
    const Place& from = places_[a.index()];
    const Place& to = places_[b.index()];
    if ((to.row & kSpecial) != 0 || from.chain == kNoChain || to.chain == kNoChain) {
      return BeforeElsewhere(a, StartOf(b));
    }
    if (from.chain == to.chain) return from.seq < to.seq;
    const Chain& chain = chains_[from.chain];
    if (chain.graph != chains_[to.chain].graph) return CoversAcross(StartOf(b), EndOf(a));
    return rows_.Count(to.row, chain.local) > from.seq;
  }
  // end(a) ≤ the point.
  bool Before(NodeId a, const OrderPoint& b) const {
    const Place& from = places_[a.index()];
    if (from.chain == b.chain) return from.seq < b.count;
    if (from.chain == kNoChain || chains_[from.chain].graph != b.graph) {
      return BeforeElsewhere(a, b);
    }
    return rows_.Count(b.row, chains_[from.chain].local) > from.seq;
  }
  // end(a) ≤ end(b): b itself included.
  bool EndsBefore(NodeId a, NodeId b) const { return a == b || Before(a, EndOf(b)); }

  // Prefetches what questions about the node, or the point, look at first.
  void Fetch(NodeId node) const { __builtin_prefetch(&places_[node.index()]); }
  void Fetch(const OrderPoint& point) const { rows_.Fetch(point.row); }

  // True if all that has ended at `earlier` has ended at `later`.
  bool Covers(const OrderPoint& later, const OrderPoint& earlier) const;

  // The nodes that have ended when the node starts, and when it has ended (itself included).
  OrderPoint StartOf(NodeId node) const;
  OrderPoint EndOf(NodeId node) const;

  ChainPlace PlaceOf(NodeId node) const {
    return {places_[node.index()].chain, places_[node.index()].seq};
  }
  // How many nodes of a chain (of the point's graph) have ended at a point.
  uint32_t CountAt(const OrderPoint& point, uint32_t chain) const {
    if (point.chain == chain) return point.count;
    return rows_.Count(point.row, chains_[chain].local);
  }

  EdgeRule rule() const { return rule_; }
  size_t nodes() const { return places_.size(); }
  size_t chains() const { return chains_.size(); }
  GraphId ChainGraph(uint32_t chain) const { return chains_[chain].graph; }
  const Nesting& nesting() const { return nesting_; }

  // Parts of rows that were looked at to join them.
  uint64_t row_looks() const { return rows_.looks(); }
  size_t node_bytes() const { return places_.size() * sizeof(Place); }
  size_t row_bytes() const { return rows_.bytes() + specials_.size() * sizeof(Special); }

 private:
  static constexpr uint32_t kSpecial = 0x80000000u;
  static constexpr uint32_t kNoChain = OrderPoint::kNoChain;
  static constexpr size_t kFew = 8;  // edges, or nodes, that are looked at one by one

  // `row` is what has ended when the node starts, all of its chain before it included; or, with
  // kSpecial set, an index in specials_.
  struct Place {
    uint32_t chain = kNoChain;
    uint32_t seq = 0;
    uint32_t row = ClockRows::kEmpty;
  };
  static_assert(sizeof(Place) == 12);

  // A node that doesn't start after the node before it in its chain, or that waits for more than
  // it starts after: it knows more at its end than at its start.
  struct Special {
    uint32_t start_count;  // of its own chain
    ClockRows::Row start_row;
    ClockRows::Row end_row;
  };
  // The row of what comes after the first `count` nodes of a chain and nothing else: those that a
  // node forks share it.
  struct Fork {
    ClockRows::Row row = ClockRows::kEmpty;
    uint32_t chain = kNoChain;
    uint32_t count = 0;
  };
  struct Chain {
    GraphId graph;
    uint32_t local = 0;  // its number among its graph's chains: the column in the rows
    uint32_t length = 0;
    StreamId stream;      // that its last node was captured on
    bool ended = false;   // nothing more comes of that stream
    bool joined = false;  // in GraphState::joined
    // The last fork that its nodes came after.
    Fork fork = {};
  };
  struct GraphState {
    uint32_t chains = 0;
    std::vector<uint32_t> joined;  // chains that ended, or without a stream, and have a successor
  };

  // Nearly always: the next node in capture order, behind the last one of its stream.
  bool Continues(NodeId node, GraphId graph, StreamId stream, const Place& tail) const {
    if (node.index() != places_.size() || stream.index() >= stream_chain_.size()) return false;
    if ((tail.row & kSpecial) != 0 || tail.chain != stream_chain_[stream.index()]) return false;
    const Chain& chain = chains_[tail.chain];
    return tail.seq + 1 == chain.length && chain.graph == graph;
  }
  void AddAny(NodeId node, GraphId graph, StreamId stream, Ternary waits,
              std::span<const InEdge> in);
  bool BeforeElsewhere(NodeId a, const OrderPoint& b) const;
  bool CoversAcross(OrderPoint later, OrderPoint earlier) const;
  GraphId CommonGraph(std::span<const NodeId> nodes) const;
  bool EndBeforeOthersOfTrees(std::span<const NodeId> nodes, std::vector<bool>* ends) const;
  GraphState& StateOf(GraphId graph);

  uint32_t EndRow(const Place& place) const;
  bool IsOpenTail(const Place& place, GraphId graph, StreamId stream) const;
  bool AddToTail(NodeId node, GraphId graph, StreamId stream, std::span<const InEdge> in);
  void AddJoin(NodeId node, GraphId graph, StreamId stream, bool waits, std::span<const InEdge> in);
  uint32_t ChooseChain(GraphId graph, StreamId stream, bool waits, std::span<const InEdge> in);
  uint32_t OpenChain(GraphId graph, StreamId stream, bool waits, std::span<const InEdge> in);
  uint32_t TakeJoined(GraphId graph, bool waits, std::span<const InEdge> in);
  void NoteJoined(const Place& from);
  uint32_t StreamChain(GraphId graph, StreamId stream) const;
  bool TailEndsBefore(uint32_t chain, bool waits, std::span<const InEdge> in) const;
  OrderPoint StartClock(GraphId graph, uint32_t chain, std::span<const InEdge> in);
  ClockRows::Row RowAfter(const OrderPoint& point);
  bool KnowsFork(const OrderPoint& point, uint32_t chain, ClockRows::Row row) const;
  void JoinEnd(OrderPoint* into, const OrderPoint& from, bool own);
  void Absorb(OrderPoint* into, const OrderPoint& from);
  void AbsorbAll(OrderPoint* into, std::span<const OrderPoint> points);
  std::vector<OrderPoint> PointsOf(std::span<const InEdge> in) const;
  void Put(NodeId node, const Place& place);

  EdgeRule rule_;
  Nesting nesting_;
  std::vector<Place, LargePages<Place>> places_;
  std::vector<Special> specials_;
  std::vector<Chain> chains_;
  std::vector<uint32_t> stream_chain_;  // the chain that a stream's last node went to
  std::vector<GraphState> graphs_;
  ClockRows rows_;
  Fork last_fork_;
  ClockRows::Row last_forked_ = ClockRows::kEmpty;  // the row that it was made of
};

}  // namespace graphkit
