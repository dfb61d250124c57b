// Gaps in what a trace says of memory: sizes, frees, users of blocks. Zero bytes are a figure only
// where sizes are known: a drawing of forty allocations needs some memory, and doesn't say how
// much.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Why sizes aren't known, as a clause: "a drawing has no sizes". Empty: they are.
struct UnknownMemory {
  std::vector<std::string> graphs;  // by graph; that of an embedded graph is its root's
  std::string any;                  // of the trace, or of the first graph that has one
  bool operator==(const UnknownMemory&) const = default;
};

// Sizes aren't known of a source that has none, nor of a graph with memory-alloc nodes whose block
// wasn't recorded. `roots` as of FindRoots.
UnknownMemory FindUnknownMemory(const Ran& trace, const std::vector<GraphId>& roots);

// The trace goes on to the program's end and says what was freed and destroyed: only then is
// something that wasn't a leak.
bool KnowsWhatWasFreed(const Ran& trace);

// By graph: it is made of a memory history alone. Its nodes, if any, stand for points between
// allocations, and the users of its blocks aren't known.
std::vector<bool> GraphsOfHistories(const Ran& trace);

// Why there is no memory of graphs to plan or replay, as a clause: there is no graph, its sizes
// aren't known, or nothing is allocated. Empty: there is some, and all of it is known.
std::string NothingToPlace(const Ran& trace);

// Captured copies of memory of the host that isn't page-locked.

struct HostCopy {
  NodeId node;
  HostEnd end;
  // Every launch of the node's graph makes the copy: the node was never given other parameters, and
  // never switched off.
  bool always = false;
};

// By node; of a node's own record, and of the parameters that it was given later.
std::vector<HostCopy> FindHostCopies(const Ran& trace);

}  // namespace graphkit
