// The test for a byte that two accesses have in common: by their rows, where they have some.
//
//     a  ██████······██████······██████······       two halves of the columns of one matrix: their
//     b  ······██████······██████······██████       spans overlap, and they don't
#pragma once

#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/process.h"

namespace graphkit {

// Offsets are taken to be into the same memory, whatever the blocks. Unknown: an end isn't known,
// or there are too many rows to compare.
Ternary Overlap(const Access& a, const Access& b);

// The access with its offset from address 0 instead of from its block's.
Access At(Access access, Address block);

}  // namespace graphkit
