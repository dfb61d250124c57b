// Differences of the memory of two runs: how much was reserved and in use, its holders, and
// what of it is worth a look.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/memory_diff.h"
#include "libgraphkit/model/trace.h"

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

}  // namespace graphkit
