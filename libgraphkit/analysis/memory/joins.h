// What of the blocks that graphs allocate is known from the sources that a trace was joined from:
// the stream and the line from an allocator's history, the nodes from what was captured.
#pragma once

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

BlockJoins CountJoins(const MemoryFacts& facts);

}  // namespace graphkit
