// The work that launches run of nodes whose parameters were set, or that were switched.
//
//     make n: P0   set n: P1   instantiate e   set n in e: P2   launch e   set n: P3   set e: P4,
//     launch
//
// The launches run P2 and P4; P0 and P1 never ran, and P3 is the graph's, of which nothing more is
// instantiated. An exec takes over what the graph's nodes do when it is made, or updated from
// another graph; a change in it counts from its next launch on. Of an exec that was never launched,
// and of one that is still there, the last version counts too; of a graph without execs, the last
// one that it has. A Node says the union of what the versions touch, so that what is proved with it
// holds for each of them.
#pragma once

#include <string>
#include <unordered_map>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Makes each Node that launches run otherwise than it was made say what they may do with it, and
// keeps what its record says in changed_nodes; what can't be told goes to completeness.unapplied.
// To be called once, when the trace is whole. Finds the versions of graphs before
// (graph_versions.h).
void ApplyNodeChanges(Trace* trace);

// Takes that back: for what changes the trace, and applies the changes again.
void RestoreNodes(Trace* trace);

// Where graphs ran in several versions (CountVersions): as with the one of this number alone, or
// the last one of a graph that has fewer.
Trace WithVersion(Trace trace, size_t number);

// Copies what a node does from one row that says it (Node, NodeChange, ChangedNode) to another.
template <typename From, typename To>
void CopyWork(const From& from, To* to) {
  to->kernel = from.kernel;
  to->shape = from.shape;
  to->accesses = from.accesses;
  to->event = from.event;
  to->accesses_complete = from.accesses_complete;
}

// Null: launches run the node as it was made.
const ChangedNode* FindChanged(const Trace& trace, NodeId node);

// Yes: a node waits for its grid dependencies in all of its versions.
Ternary WaitsFor(const Trace& trace, NodeId node);

// The same of the node's end. A grid has ended only when all its threads have, so one that waits
// suffices: where machine code was read (it tells about triggers), unknown is a wait on some paths.
// Assumes that some thread takes one of them.
Ternary EndWaitsFor(const Trace& trace, NodeId node);

// Of an edge that isn't full.
EarlyStart EarlyStartOf(const Trace& trace, const Edge& edge);

// True when a node's parameters couldn't be read: it may touch anything.
bool MayTouchAnything(const Trace& trace, NodeId node);

// The changes of nodes after they were made, by node.
class NodeChanges {
 public:
  explicit NodeChanges(const Trace& trace);

  // True when launches run the node in several ways, and it was given other parameters or switched
  // off before, or may have been by the device: then it doesn't say what each of them does.
  bool Changed(NodeId node, Seq before = kNever) const;
  bool empty() const { return changes_.empty(); }

  // "parameters set later", "switched off later", "updatable from the device": of these what holds,
  // with commas.
  std::string Text(NodeId node) const;

 private:
  struct First {
    Seq params = kNever;
    Seq off = kNever;
    Seq updatable = kNever;
    bool varies = false;
  };
  std::unordered_map<uint32_t, First> changes_;
};

}  // namespace graphkit
