// Memory of the host that a captured copy reads or writes and that no block is: a replay finds the
// same address, whatever is there by then.
#pragma once

#include <cstdint>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/units.h"

namespace graphkit {

enum class HostMemoryKind : uint8_t {
  kPageable,  // CUDA doesn't know it: from malloc, new, mmap
  kStack,     // the same, on the stack of the thread that made the copy
  kProgram,   // the same, in a program or a library: lives as long as that is loaded
};

// One end of a copy.
struct HostEnd {
  Seq seq = 0;  // of the node, the change of parameters or the work
  HostMemoryKind kind = HostMemoryKind::kPageable;
  AccessMode mode = AccessMode::kUnknown;
  Address address = 0;
  Bytes length = kLengthUnknown;
  bool operator==(const HostEnd&) const = default;
};

// How far a thread's stack reached as it launched a graph with a copy of its stack: what lies below
// was given up before.
struct StackTop {
  ThreadId thread;
  Address address = 0;
  Seq seq = 0;  // the next launch is the one
  bool operator==(const StackTop&) const = default;
};

}  // namespace graphkit
