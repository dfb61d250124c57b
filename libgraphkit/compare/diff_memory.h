// Differences of the memory of two runs: how much was reserved and in use, its holders, and
// what of it is worth a look.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

// True if a trace has memory outside of its graphs.
bool HoldsMemoryHistory(const Trace& trace);

struct MemorySide {
  const Trace& trace;
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
  const Trace& trace;
  std::span<const HeldGroup> holders;
};

// Each holder of both sides once. A line is the same one where file and number agree, after each
// function was moved by as many lines as make most of its lines agree, none where that is as good.
// Of what is left, lines of one file, function and operator belong together in their order. Pools
// do by kind and name, in their order; all others by what they are called.
std::vector<HolderPair> MatchHolders(const HoldersOf& before, const HoldersOf& after);

}  // namespace graphkit
