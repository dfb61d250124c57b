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
// writes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/random.h"
#include "tests/analysis/order/slow_order.h"

namespace graphkit {

// The work of the nodes of a launched graph.
struct NodeWorkload {
  std::vector<Access> accesses;
  bool off = false;
};
struct OracleLaunch {
  GraphId root;
  std::map<NodeId, NodeWorkload> nodes;
};

// A trace with all that the oracle needs beside it.
struct OracleProgram {
  Trace trace;
  std::map<NodeId, NodeWorkload> made;  // as the nodes were made
  std::vector<OracleLaunch> launches;   // of the trace: nodes that do otherwise
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
  void Act(const OracleLaunch& launch, NodeId node, bool member);
  void ActOpaquely(NodeId node);
  void ForEachCell(const Access& access, const std::function<void(size_t)>& visit) const;
  void LookAtOutputs();
  bool First(NodeId node, BlockId block) const;
  bool OrderedWithTouches(NodeId node, BlockId block) const;

  const OracleProgram& program_;
  const Trace& trace_;
  const SlowOrder order_, likely_order_;  // likely: as if all nodes waited of which it isn't known
  std::vector<GraphId> roots_;
  std::vector<bool> backs_;
  std::map<GraphId, std::vector<NodeId>> nodes_;
  std::map<NodeId, std::vector<GraphId>> held_;
  Place place_;
  std::optional<OracleWindow> window_;
  Random random_{0};
  std::vector<Event> events_;
  std::vector<bool> poisoned_, lent_, unsafe_;  // by cell
};

}  // namespace graphkit
