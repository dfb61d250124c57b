// The bytes that launches read and write, one execution after the other: the slow and obvious way
// to find out which bytes may be lent. A borrower leaves poison in all bytes; a byte that a node
// then reads while it is poisoned, that a node writes while it is lent, or that is needed after a
// launch, may not be lent.
//
// An execution is an order of events that the edges allow: each node starts, acts and ends, what a
// node holds between its start and its end. Conditionals take bodies at random, loops run up to
// twice, each launch has its own parameters. Where a trace leaves open what a node does, it does
// the worst that the documented assumption allows: of the nodes that touch a block first one that
// may write it by an unknown extent writes all from its address on; any other one reads all and
// writes nothing. Nothing is first that work outside of graphs wrote before.
//
// It knows the program's accesses as they were made, by address: what is in which block it finds
// itself. Of the library it has the trace's types only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/random.h"
#include "tests/analysis/order/slow_order.h"

namespace graphkit {

// The work of a node of a launched graph. An access may run over the end of its block.
struct NodeWorkload {
  std::vector<Access> accesses;
  Seq seq = 0;  // that it was made with, or set: what lies at an address is what lay there then
  bool off = false;
};
struct OracleLaunch {
  GraphId root;
  std::map<NodeId, NodeWorkload> nodes;
  Seq seq = 0;
};

// A trace with all that the oracle needs beside it.
struct OracleProgram {
  Ran trace;
  BlockId segment;                         // all of the memory: in it the other blocks lie
  std::map<NodeId, NodeWorkload> made;     // as the nodes were made
  std::vector<OracleLaunch> launches;      // of the trace: nodes that do otherwise
  std::vector<std::vector<GraphId>> ever;  // by launch: what its exec runs at any time
  std::vector<NodeWorkload> works;         // outside of graphs
};

// Lent while some nodes of a graph run: from the start of one to the end of another, or to the
// start of a third.
struct OracleWindow {
  NodeId at;
  NodeId last;
  NodeId until = {};  // in place of the end of `last`
};

class LaunchOracle {
 public:
  static constexpr Bytes kCell = 128;
  // Cells of memory of some bytes of a block; the visitor gets each.
  using Place = std::function<void(BlockId, Interval<Bytes>, const std::function<void(size_t)>&)>;

  LaunchOracle(const OracleProgram& program, size_t cells, Place place);

  // Runs all launches with poison in between (or in the window only), and adds what it finds to
  // unsafe(). `member`: by launch, whether memory is lent before and after it; the other launches,
  // and work outside of graphs, may run while it is lent.
  void Run(const std::vector<bool>& member, uint64_t seed, std::optional<OracleWindow> window = {});

  const std::vector<bool>& unsafe() const { return unsafe_; }

 private:
  enum class Kind : uint8_t { kStart, kAct, kEnd, kLend, kReturn };
  struct Event {
    Kind kind;
    NodeId node;
    std::vector<size_t> next = {};
    uint32_t needs = 0;
  };

  void Launch(const OracleLaunch& launch, bool member);
  size_t Add(Kind kind, NodeId node);
  void Connect(size_t from, size_t to);
  void AddGraph(GraphId graph, size_t start, size_t end);
  void AddHeld(NodeId node, size_t start, size_t end);
  void AddWindow(const std::map<NodeId, std::pair<size_t, size_t>>& events);
  std::vector<size_t> SomeOrder();
  // The work of a node in a launch.
  const NodeWorkload& WorkOf(const OracleLaunch& launch, NodeId node) const;
  void Act(const OracleLaunch& launch, NodeId node, bool member);
  void ActOpaquely(NodeId node);
  void ActOutside(const NodeWorkload& work);
  GraphId RootOf(GraphId graph) const;
  void FindTouched();
  Interval<Address> BytesOf(const Access& access) const;
  BlockId BlockAt(const Access& access, Seq seq, Address at) const;
  // The visitor gets each of the blocks, with a cell of it.
  void ForEachPart(const Access& access, Seq seq,
                   const std::function<void(BlockId, Interval<Bytes>)>& visit) const;
  void LookAtOutputs();
  bool First(NodeId node, BlockId block) const;
  bool OrderedWithTouches(NodeId node, BlockId block) const;

  const OracleProgram& program_;
  const Ran& trace_;
  const SlowOrder order_, likely_order_;  // likely: as if all nodes waited of which it isn't known
  std::map<NodeId, std::set<BlockId>> touched_;  // in any launch
  std::set<BlockId> filled_;                     // by work outside of graphs
  std::map<GraphId, std::vector<NodeId>> nodes_;
  std::map<NodeId, std::vector<GraphId>> held_;
  Place place_;
  std::optional<OracleWindow> window_;
  Random random_{0};
  std::vector<Event> events_;
  std::vector<bool> poisoned_, lent_, unsafe_;  // by cell
};

}  // namespace graphkit
