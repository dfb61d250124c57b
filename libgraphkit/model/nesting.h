// Which graphs hold which: a child graph and a conditional's bodies lie in a node of another graph.
// No question walks through all the graphs between two, however deep one lies in the other.
//
//     graph 0 ─ node 3, a loop ─ graph 1 ─ node 7, an if ─ graph 2     Holds(0, 2)
//                                                                      Outermost(2, 0) = 1
//                                        ─ node 9, a child ─ graph 3   Outermost(2, 3) = 2
//                                                                      LoopApart(2, 0) = node 3
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

class Nesting {
 public:
  Nesting() = default;
  explicit Nesting(const Trace& trace);

  // The node that a graph lies in; none for a graph that stands alone.
  NodeId Holder(GraphId graph) const { return Knows(graph) ? at_[graph.index()].holder : NodeId(); }
  // The graph that this node is in.
  GraphId Around(GraphId graph) const {
    return Knows(graph) ? at_[graph.index()].around : GraphId();
  }
  // How many graphs a graph lies in.
  uint32_t Depth(GraphId graph) const { return Knows(graph) ? at_[graph.index()].depth : 0; }
  // The outermost of them, which the user launches; itself where it stands alone.
  GraphId Root(GraphId graph) const { return Knows(graph) ? at_[graph.index()].root : graph; }

  // True if a graph is another one, or lies in it.
  bool Holds(GraphId outer, GraphId graph) const {
    if (!Knows(outer) || !Knows(graph)) return outer == graph;
    const uint32_t number = at_[graph.index()].first;
    return at_[outer.index()].first <= number && number < at_[outer.index()].end;
  }
  // Of a graph and those that it lies in, the outermost one that doesn't hold `other`; none: it
  // holds `other` itself.
  GraphId Outermost(GraphId graph, GraphId other) const {
    if (!graph.valid() || Holds(graph, other)) return {};
    return Climb(graph, [&](GraphId at) { return !Holds(at, other); });
  }
  // True if it lies in a body of a conditional, however deep.
  bool InConditional(GraphId graph) const {
    return Knows(graph) && at_[graph.index()].conditionals != 0;
  }
  // The innermost graph that holds both; none: they lie in different roots.
  GraphId Common(GraphId a, GraphId b) const {
    const GraphId apart = Outermost(a, b);
    return apart.valid() ? Around(apart) : a;
  }
  // The outermost node around a graph and not around `other` that may repeat what it holds; none:
  // there is none. The same of conditionals.
  NodeId LoopApart(GraphId graph, GraphId other) const {
    return Apart<&Place::loops>(graph, other);
  }
  NodeId ConditionalApart(GraphId graph, GraphId other) const {
    return Apart<&Place::conditionals>(graph, other);
  }

 private:
  struct Place {
    NodeId holder;
    GraphId around;
    GraphId root;
    GraphId far;  // around it, at some distance: so that a way out has few steps (Climb)
    uint32_t depth = 0;
    uint32_t loops = 0;  // that it lies in
    uint32_t conditionals = 0;
    uint32_t first = 0;  // graphs are numbered so that those that one holds follow it, up to end
    uint32_t end = 0;
  };
  bool Knows(GraphId graph) const { return graph.index() < at_.size(); }
  void Enter(const Trace& trace, GraphId graph);

  // Of a graph for which something is true and those that it lies in, the outermost one for which
  // it is still true.
  template <typename Still>
  GraphId Climb(GraphId graph, Still still) const {
    while (Around(graph).valid()) {
      const Place& place = at_[graph.index()];
      if (still(place.far)) {
        graph = place.far;
      } else if (still(place.around)) {
        graph = place.around;
      } else {
        break;
      }
    }
    return graph;
  }
  template <uint32_t Place::*kCount>
  NodeId Apart(GraphId graph, GraphId other) const {
    const GraphId apart = Outermost(graph, other);
    if (!Knows(apart)) return {};
    const GraphId around = Around(apart);
    const uint32_t common = around.valid() ? at_[around.index()].*kCount : 0;
    if (at_[graph.index()].*kCount == common) return {};
    return Holder(Climb(graph, [&](GraphId at) { return at_[at.index()].*kCount > common; }));
  }

  std::vector<Place> at_;  // by graph; empty: no graph lies in another one
};

// The outermost graph that holds a graph: the one that the user launches. Of many: Nesting.
GraphId RootOf(const Trace& trace, GraphId graph);

// The root of every graph.
std::vector<GraphId> FindRoots(const Trace& trace);

}  // namespace graphkit
