// Pairs of nodes that touch one block and that nothing orders.
//
//     stream a:  write x ─┬─ write x again ─ free x        a race: nothing ends `read x` before
//     stream b:           └─ read x                         `write x again`, nor before `free x`
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

class MemoryFacts;

enum class RaceKind : uint8_t {
  kAccess,  // both touch the block
  kAlloc,   // one is the memory-alloc node of the block
  kFree,    // one is its memory-free node
};

// How sure it is that they interfere.
enum class Overlapping : uint8_t {
  kUnknown,  // it isn't known of either whether it reads or writes
  kLikely,   // one surely writes, or one may and the other surely reads
  kCertain,  // both ranges are known and overlap, and one surely writes
};

struct Race {
  BlockId block;
  NodeId earlier;  // in capture order
  NodeId later;
  RaceKind kind = RaceKind::kAccess;
  Overlapping overlapping = Overlapping::kUnknown;
  // Were every edge a full one, they would be ordered: programmatic and launch completion edges
  // lead from one to the other.
  bool ordered_if_full = false;
  bool surely_unordered = false;  // then: also if all nodes wait of which it isn't known
  NodeId consumer;                // then: where that edge ends, a node that isn't known to wait
  NodeId producer;                // then: where that edge begins; none: it wasn't found
  bool typed = false;             // C++ signatures say of both what they only read
  bool same_pointer = false;      // both are given one address, and one may write through it
  bool sure = true;               // both are known to be some (SureAccess)
  bool operator==(const Race&) const = default;
};

// A few for each block, one of each sort. A kernel that waits for its grid dependencies is taken to
// touch memory after it has waited. Nodes whose edges may be missing (FindUnfinished) are left out.
std::vector<Race> FindRaces(const MemoryFacts& facts);

}  // namespace graphkit
