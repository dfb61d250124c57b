// Device memory at moments of a trace. The kinds are those of torch.cuda.memory_stats.
//
//     reserved   ┌──────────────────────┐   segments and plain allocations
//     in use     ┌─────┐  ┌─────────┐       "active_bytes": until the free is complete
//     allocated  ┌───┐    ┌──────┐          "allocated_bytes": until the free is requested
//     record     0        a             end   a: peak in use; reserved − in use is idle
//
// "requested_bytes" is the memory in use by the sizes that the program requested, without the
// allocator's rounding.
#pragma once

#include <cstdint>

#include "libgraphkit/units.h"

namespace graphkit {

// Of the device that a block or a segment lies on, by its stream: 0 where that isn't known.
using DeviceIndex = int16_t;

struct MemoryAt {
  Seq seq = 0;            // after this record
  Bytes reserved = 0;     // from the driver: segments, plain allocations, graph memory
  uint64_t segments = 0;  // of allocators
  Bytes in_use = 0;       // handed out, deferred frees included
  Bytes allocated = 0;    // handed out and not yet free-requested
  Bytes requested = 0;    // memory in use, as the program requested it
  uint64_t blocks = 0;    // that are in use
  Bytes of_graphs = 0;    // of the reserved bytes: graph memory
  bool operator==(const MemoryAt&) const = default;

  Bytes idle() const { return reserved > in_use ? reserved - in_use : 0; }
};

// The first of equal peaks; of the reserved one that with the most in use.
struct MemoryMoments {
  MemoryAt peak_reserved;
  MemoryAt peak_in_use;
  MemoryAt peak_allocated;
  MemoryAt peak_requested;
  // Most reserved without graph memory. Threads capture in another order in every run, so that the
  // sum over graphs that are captured at once is another one, and no launch has it.
  Bytes peak_outside_graphs = 0;
  MemoryAt end;
  bool operator==(const MemoryMoments&) const = default;
};

// Memory of segments that isn't handed out after a record.
struct IdleMemory {
  Bytes empty_bytes = 0;  // in segments without a block in use: empty_cache() returns them
  uint64_t empty_segments = 0;
  Bytes gap_bytes = 0;  // between blocks in use
  uint64_t gaps = 0;
  Bytes largest_bytes = 0;  // the largest free range
  Bytes private_bytes = 0;  // of all of it, in private pools: for their captures alone
  bool operator==(const IdleMemory&) const = default;

  Bytes bytes() const { return empty_bytes + gap_bytes; }
};

}  // namespace graphkit
