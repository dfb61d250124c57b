// A plan as it is handed on: which block lies where, and what the plan was made for. Written by
// libgraphkit/render/plan/plan.h, read by libgraphkit/io/files/plan_files.h; docs/planning.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Memory that only its own blocks share: one pool of one graph, or everything of a table.
struct PlannedArena {
  GraphId graph;  // none: plain lifetimes, or all graphs of a sequence
  PoolId pool;
  uint64_t blocks = 0;
  Bytes peak = 0;         // the highest byte used
  Bytes lower_bound = 0;  // no plan of this arena can have a smaller peak
  // Blocks that all conflict, and have that many bytes together; none: read from a file.
  std::vector<BlockId> heaviest = {};
  bool operator==(const PlannedArena&) const = default;
};

struct Placement {
  uint32_t block = 0;  // the row in the table, or the block's id
  uint32_t arena = 0;  // in PlannedMemory::arenas
  Bytes offset = 0;    // in the arena
  Bytes size = 0;
  bool operator==(const Placement&) const = default;
};

// Bytes that a block takes over from another, and why it may. Every node of `ends` has ended before
// any of `starts` starts, in every execution of the graph.
struct SharedBytes {
  BlockId earlier;
  BlockId later;
  uint32_t arena = 0;
  Bytes offset = 0;  // in the arena
  Bytes size = 0;
  Slice ends;              // in PlannedMemory::proof_nodes: the markers of `earlier`
  Slice starts;            // the same: the nodes that touch `later` first
  bool exclusive = false;  // no order is needed: they live in bodies of one conditional
  Assumption assumes = Assumption::kOrder;
  bool operator==(const SharedBytes&) const = default;
};

// Bytes of an arena that nothing needs between two launches of the graphs that share it
// (libgraphkit/alloc/plan/plan_trace.h).
struct BorrowedRange {
  uint32_t arena = 0;
  Bytes offset = 0;  // in the arena
  Bytes size = 0;
  bool operator==(const BorrowedRange&) const = default;
};

// Bytes that are free from the start of `at` to the end of `last`, a node of the same chain: what
// uses them has to end before anything starts that waits for `last`.
struct BorrowAt {
  BorrowedRange range;
  NodeId at;
  // The chain's next node after `last`; none: `last` is the chain's last one. Not the end of the
  // time: it may start long after `last` has ended, and others need the bytes from there on.
  NodeId until = {};
  uint64_t nodes = 0;  // of the chain, from `at` to `last`; 0: read from a file
  Nanoseconds ns = 0;  // their durations; 0: none was measured
  NodeId last = {};    // none: read from a file without it
  bool operator==(const BorrowAt&) const = default;
};

struct PlannedMemory {
  bool of_trace = false;  // otherwise of a table of plain lifetimes
  std::vector<PlannedArena> arenas;
  std::vector<Placement> placements;  // by block
  std::vector<SharedBytes> shared;    // of a trace: by arena, then by `later`
  std::vector<NodeId> proof_nodes;
  // By arena, then by offset; none: not asked for.
  std::optional<std::vector<BorrowedRange>> borrow = {};
  std::vector<BorrowAt> borrow_at = {};  // by arena, then by offset
  // Graphs that are launched one after the other, again and again, and share the arenas: blocks of
  // different ones may lie in the same bytes. None: each graph has arenas of its own.
  std::vector<GraphId> sequence;
  std::vector<std::string> names;  // names[row]: as the table has it; none for a trace
  Bytes peak = 0;                  // sum over the arenas
  Bytes lower_bound = 0;           // sum over the arenas
  std::optional<Bytes> capacity;   // what it should fit into
  bool operator==(const PlannedMemory&) const = default;

  bool optimal() const { return peak == lower_bound; }
  bool fits() const { return !capacity || peak <= *capacity; }
};

}  // namespace graphkit
