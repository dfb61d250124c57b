// Blocks that graphs allocate, by what the sources of a joined trace say of them:
// the stream and the line from an allocator's history, the nodes from what was captured.
#pragma once

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

BlockJoins CountJoins(const MemoryFacts& facts);

}  // namespace graphkit
