// The blocks that the bytes of an access lie in.
//
// An access is recorded with the block at its first byte. A copy may run on into the next block, or
// into memory of an allocator that is in no block.
//
//     memory     | block 3  | block 4 |    idle    |      all of it: block 1, a segment's memory
//     recorded        [-----------------------]           block 3
//     mapped          [-----|---------|-------]           blocks 3, 4, 1
#pragma once

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Makes of each access of nodes, of their changes and of work outside of graphs one to each block
// that lay there then, the innermost one. To be called when the trace is whole.
void MapAccesses(Trace* trace);

}  // namespace graphkit
