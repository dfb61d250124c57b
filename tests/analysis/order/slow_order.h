// The order of a trace's nodes, the slow and obvious way: every node is two events, its start and
// its end, and a happens before b when a search from the end of a reaches the start of b.
#pragma once

#include <vector>

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

class SlowOrder {
 public:
  // `unknown`: what a node of which it isn't known does about its grid dependencies.
  explicit SlowOrder(const Ran& trace, EdgeRule rule = EdgeRule::kCompletion,
                     Ternary unknown = Ternary::kUnknown);

  bool Before(NodeId a, NodeId b) const { return Reaches(End(a), Start(b)); }
  bool EndsBefore(NodeId a, NodeId b) const { return a == b || Reaches(End(a), End(b)); }
  bool StartsBefore(NodeId a, NodeId b) const { return Reaches(Start(a), Start(b)); }
  // True if end(a) ≤ start(b) without the full edges from a to b.
  bool BeforeWithoutEdge(NodeId a, NodeId b) const;
  // True if a has ended where a stream's next node could start.
  bool Before(NodeId a, const std::vector<FrontierEntry>& frontier) const;

 private:
  static size_t Start(NodeId node) { return 2 * node.index(); }
  static size_t End(NodeId node) { return 2 * node.index() + 1; }
  bool Reaches(size_t from, size_t to) const { return reached_[from][to]; }
  void Search(size_t from);

  EdgeRule rule_;
  std::vector<std::vector<size_t>> next_;
  std::vector<std::vector<bool>> reached_;
};

}  // namespace graphkit
