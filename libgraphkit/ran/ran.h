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
// node it leads to: what this order proves holds in each version. Which these are is found once:
// graph_nodes and graph_edges are what loops go through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
  bool shown = true;   // in the version that it had then
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

// The ids of a column's rows, in ascending order, but for some that are left out; mostly none is.
template <typename Id>
class IdsOf {
 public:
  IdsOf() = default;
  // `out`: by row; empty: none.
  IdsOf(size_t rows, std::vector<bool> out) : rows_(rows), out_(std::move(out)) {}

  bool Has(Id id) const { return out_.empty() || !out_[id.index()]; }
  bool all() const { return out_.empty(); }
  bool empty() const { return begin() == end(); }

  struct Iterator {
    const IdsOf* ids;
    size_t at;
    Id operator*() const { return Id(at); }
    Iterator& operator++() { return at = ids->From(at + 1), *this; }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {this, From(0)}; }
  Iterator end() const { return {this, rows_}; }
  bool operator==(const IdsOf&) const = default;

 private:
  size_t From(size_t at) const {
    while (!out_.empty() && at < rows_ && out_[at]) ++at;
    return at;
  }
  size_t rows_ = 0;
  std::vector<bool> out_;
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
  IdsOf<NodeId> graph_nodes;               // those that are in their graph
  IdsOf<EdgeId> graph_edges;               // those that are, and join two nodes of it

  // The graphs that an exec took over, in order; none of an exec that the trace doesn't have.
  std::span<const ExecGraph> GraphsOf(ExecId exec) const;
  // The one just before a place; none: there is none yet.
  ExecGraph GraphBefore(ExecId exec, Seq at) const;

  bool operator==(const Ran&) const = default;
};

// The most versions that a graph has.
size_t CountVersions(const Ran& trace);
bool HasSeveralVersions(const Ran& trace, GraphId graph);
// All of a root, by seq; and of a graph those that are shown. None of a graph that has none.
std::span<const GraphVersion> VersionsOf(const Ran& trace, GraphId root);
std::span<const GraphVersion> ShownVersions(const Ran& trace, GraphId graph);

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
