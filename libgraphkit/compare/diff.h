// Differences of two traces of the same program, or of two versions or ranks of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace_diff.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Graphs that stand alone are matched by name and content, in order; those that nodes hold, with
// the nodes. The reports are those of the traces.
TraceDiff DiffTraces(const Ran& before, const Report& before_report, const Ran& after,
                     const Report& after_report);

// The first allocation at another address or of another size in two runs of a program, with its
// cause; the rest of the runs; and nodes that can't be moved. Nothing: all allocations lie alike.
std::vector<FindingChange> FindLayoutDiff(const Ran& before, const Ran& after);

// Differences of the memory of two runs: how much was reserved and in use, its holders, and what of
// it is worth a look.
//
// True if a trace has memory outside of its graphs.
bool HoldsMemoryHistory(const Ran& trace);

struct MemorySide {
  const Ran& trace;
  std::span<const MemoryAccount> accounts;
};

// Of runs of one process each: devices of one number belong together where both runs have the same
// devices, else those with the most in use do. Where only one run has a history, the state at the
// end is compared: the accounts are Told::kEnd then.
std::vector<MemoryDiff> DiffMemory(const MemorySide& before, const MemorySide& after);

// Pairs of memory's holders in two runs that are the same place of the program.
//
//     before                        after
//     model.py:12 forward  linear   model.py:15 forward  linear      forward moved by 3 lines
//     model.py:14 forward  relu     model.py:17 forward  gelu        the same line
//     model.py:16 forward  linear   model.py:21 forward  linear      what is left: by operator
//     allocated before recording    allocated before recording
struct HoldersOf {
  const Ran& trace;
  std::span<const HeldGroup> holders;
};

// Each holder of both sides once. A line is the same one where file and number agree, after each
// function was moved by as many lines as make most of its lines agree, none where that is as good.
// Of what is left, lines of one file, function and operator belong together in their order. Pools
// do by kind and name, in their order; all others by what they are called.
std::vector<HolderPair> MatchHolders(const HoldersOf& before, const HoldersOf& after);

// The difference of two graphs, as one graph to draw: the nodes that changed, those around them,
// and the edges between them. What is the same and far from any change is left out.
//
//     before   a ─── b ─── x ─── c            drawn    a' ─── b' ─×─ x- ─×─ c'
//     after    a ─── b ─── c                                   ╰──── + ────╯

enum class Change : uint8_t { kSame, kRemoved, kAdded, kChanged, kMoved };
GRAPHKIT_NAMES(Change, "same", "removed", "added", "changed", "moved")

struct DiffBox {
  NodeId before;  // none: added
  NodeId after;   // none: removed
  Change change = Change::kSame;
  std::vector<std::string> what = {};  // "grid 64 → 8", "stream 1 → stream 0"
};

struct DiffArrow {
  uint32_t from = 0;  // in DiffDrawing::boxes
  uint32_t to = 0;
  EdgeId before;  // none: added
  EdgeId after;   // none: removed
  Change change = Change::kSame;
};

struct DiffDrawing {
  std::vector<DiffBox> boxes;  // in capture order; removed ones where they were
  std::vector<DiffArrow> arrows;
  uint64_t left_out = 0;  // boxes that changed and aren't drawn, for there are too many
};

// One for each graph of the diff that isn't equal, in its order.
std::vector<DiffDrawing> DrawDiff(const TraceDiff& diff, const Ran& before, const Ran& after);

}  // namespace graphkit
