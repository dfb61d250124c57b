// What ran: a trace, and what its execs make of it, resolved once (resolve.h). What is above asks
// this, and no exec, update or edit of a graph again.
//
//     make n: P0   set n: P1   instantiate e   set n in e: P2   launch e   set n: P3   set e: P4,
//     launch
//
// The launches run P2 and P4; P0 and P1 never ran, and P3 is the graph's, of which nothing more is
// instantiated. An exec takes over what the graph's nodes do when it is made, or updated from
// another graph; a change in it counts from its next launch on. Of an exec that was never launched,
// and of one that is still there, the last version counts too; of a graph without execs, the last
// one that it has. A Node has the union of what the versions touch, so that what is proved with it
// holds for each of them.
//
// An exec keeps the graph as it was instantiated, or as it last was updated to it; what is done to
// the graph afterwards counts for later execs:
//
//     a ─ b   instantiate e0   remove a ─ b   launch e0   instantiate e1   launch e1
//                  └─ version: a ─ b                           └─ version: a   b
//
// Any graph that wasn't edited so is as it was last seen. Where several versions are shown at once,
// a node is in the graph that is in one of them, and an edge that is in all those that have the
// node it leads to: what this order proves holds in each version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// A graph that an exec took over, as it was then: the one that it was instantiated from, or one
// that it was updated to.
struct ExecGraph {
  ExecId exec;
  GraphId graph;
  Seq since = 0;
  Seq until = kNever;  // it took over another one, or was destroyed
  bool operator==(const ExecGraph&) const = default;
};

// The work of a node's own record, where launches run it otherwise than it was made. Its Node has
// everything that any of them may do.
struct ChangedNode {
  NodeId node;
  KernelId kernel;
  uint32_t shape = 0xffffffffu;
  Slice accesses;
  EventId event;
  bool accesses_complete = false;
  // Of the ways in which launches run it:
  bool varies = false;                // there are several
  bool kernels_vary = false;          // with several kernels
  bool opaque = false;                // in one of them it may touch anything
  Ternary waits = Ternary::kUnknown;  // for its grid dependencies, in all of them
  bool operator==(const ChangedNode&) const = default;
};

// A version of a graph that launches ran, of a graph that was edited after an exec was made of it:
// how it was when the exec was made, or updated to it.
struct GraphVersion {
  GraphId graph;  // a root
  ExecId exec;    // the first one that ran it so
  Seq seq = 0;    // where that was instantiated, or updated
  Seq since = 0;  // the edits before and after
  Seq until = kNever;
  bool operator==(const GraphVersion&) const = default;
};

// The columns of the trace, of which only nodes that were changed, and their accesses, differ from
// what was recorded; and what follows from them. To write a trace to a file, write the recorded
// one.
struct Ran : Trace {
  std::vector<ExecGraph> exec_graphs;      // by exec and place
  std::vector<uint32_t> first_exec_graph;  // by exec, and the end
  std::vector<ChangedNode> changed_nodes;  // by node
  std::vector<GraphVersion> versions;      // by graph and seq; mostly there are none
  std::vector<Slice> shown_versions;       // by graph: of them, its root's; empty: there are none

  // The graphs that an exec took over, in order; none of an exec that the trace doesn't have.
  std::span<const ExecGraph> GraphsOf(ExecId exec) const;
  // The one just before a place; none: there is none yet.
  ExecGraph GraphBefore(ExecId exec, Seq at) const;

  bool operator==(const Ran&) const = default;
};

// The most versions that a graph has.
size_t CountVersions(const Ran& trace);
bool HasSeveralVersions(const Ran& trace, GraphId graph);
// Of a graph with several of which one is shown: that one; else null.
const GraphVersion* ShownAlone(const Ran& trace, GraphId graph);
// True when the version of a root that an exec took over at a place is among those shown.
bool IsShown(const Ran& trace, GraphId root, Seq fixed);

// True when a node or edge is in the graph: in a version that is shown, or as it was last seen.
bool IsInShown(const Ran& trace, const Node& node);
bool IsInShown(const Ran& trace, const Edge& edge);
[[gnu::always_inline]] inline bool InGraph(const Ran& trace, const Node& node) {
  if (!trace.shown_versions.empty()) return IsInShown(trace, node);
  return node.destroyed == kNever || node.destroyed >= trace[node.graph].destroyed;
}
// `from` and `to` are the edge's nodes.
[[gnu::always_inline]] inline bool InGraph(const Ran& trace, const Edge& edge, const Node& from,
                                           const Node& to) {
  if (!trace.shown_versions.empty()) return IsInShown(trace, edge);
  return (edge.removed == kNever || edge.removed >= trace[from.graph].destroyed) &&
         InGraph(trace, from) && InGraph(trace, to);
}
inline bool InGraph(const Ran& trace, const Edge& edge) {
  return InGraph(trace, edge, trace[edge.from], trace[edge.to]);
}

// Null: launches run the node as it was made.
const ChangedNode* FindChanged(const Ran& trace, NodeId node);

// By the kernel alone.
Ternary WaitsOf(const Trace& trace, KernelId kernel);

// Yes: a node waits for its grid dependencies in all of its versions.
Ternary WaitsFor(const Ran& trace, NodeId node);

// The same of the node's end. A grid has ended only when all its threads have, so one that waits
// suffices: where machine code was read (it tells about triggers), unknown is a wait on some paths.
// Assumes that some thread takes one of them.
Ternary EndWaitsFor(const Ran& trace, NodeId node);

// Of an edge that isn't full.
EarlyStart EarlyStartOf(const Ran& trace, const Edge& edge);

// True when the row of a node of this kind leaves open which memory it touches.
template <typename Work>
bool MayTouchAnything(const Trace& trace, NodeKind kind, const Work& work) {
  if (work.accesses_complete || work.accesses.count != 0) return false;
  if (kind == NodeKind::kUnknown) return true;
  if (kind != NodeKind::kKernel) return false;
  return work.kernel.index() >= trace.kernels.size() || !trace[work.kernel].has_layout;
}
// True when a node's parameters couldn't be read: it may touch anything.
bool MayTouchAnything(const Ran& trace, NodeId node);

}  // namespace graphkit
