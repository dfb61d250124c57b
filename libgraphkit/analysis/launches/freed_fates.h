// The fate of freed blocks, as of a later place in the trace: whether their memory was
// handed out again, and which block the program made in their place. Answered for many blocks at
// once, by sweeps over the trace's blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class MemoryFacts;

// A freed block, and the place. Its free was requested before that.
struct FreedBlock {
  BlockId block;
  Seq at = 0;
  Seq written = 0;  // by its graph, which was launched again; what was handed out before is over
};

struct FreedFate {
  // Memory of its segment that it lay in was allocated outside of graphs since.
  bool handed_out = false;
  // A block that was allocated outside of graphs lies there at the place.
  bool occupied = false;
  // Made again in its place: as `replaced_by`, at the same address.
  bool remade = false;
  // Allocated since the last launch before the free, as it was (the same size, pool, stream and
  // code), alive at the place, and at another address. None, or not the only one: an invalid id.
  BlockId replaced_by;
  bool operator==(const FreedFate&) const = default;
};

// `looks`, if it isn't null, gets how many blocks and pieces of memory were looked at.
std::vector<FreedFate> FindFates(const MemoryFacts& facts, std::span<const FreedBlock> freed,
                                 uint64_t* looks = nullptr);

}  // namespace graphkit
