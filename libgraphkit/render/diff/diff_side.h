// A side of a diff, as its views take it.
#pragma once

#include <span>
#include <string>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// One of the two traces, how the user named its file, and what TraceDiff::memory was made of.
struct DiffSide {
  const Ran& trace;
  std::string file;
  std::span<const MemoryAccount> memory = {};
};

}  // namespace graphkit
