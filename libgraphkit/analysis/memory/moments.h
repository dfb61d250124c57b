// Device memory at moments of a trace: where most was reserved from the driver, where most was in
// use, and at the end.
//
//     reserved  ┌───────────────┐      segments and plain allocations
//     in use    ┌──┐  ┌────┐           what is handed out, until its free is complete
//     record    0     a    b    end    a: peak in use; reserved − in use is idle
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Sizes rounded up to 512 B.
struct MemoryAt {
  Seq seq = 0;            // after this record
  Bytes reserved = 0;     // from the driver: segments, plain allocations, graph memory
  uint64_t segments = 0;  // of allocators
  Bytes in_use = 0;       // handed out, deferred frees included
  uint64_t blocks = 0;    // that are in use
  bool operator==(const MemoryAt&) const = default;

  Bytes idle() const { return reserved > in_use ? reserved - in_use : 0; }
};

struct MemoryMoments {
  MemoryAt peak_reserved;
  MemoryAt peak_in_use;
  MemoryAt end;
  bool operator==(const MemoryMoments&) const = default;
};

// Which device a block or a segment lies on, by its stream: 0 where that isn't known.
using DeviceIndex = int16_t;
std::vector<DeviceIndex> DevicesOfBlocks(const Trace& trace);
// Those that have memory, in ascending order.
std::vector<DeviceIndex> DevicesWithMemory(const Trace& trace);

// Without a device: of all of them together.
MemoryMoments FindMoments(const Trace& trace, std::optional<DeviceIndex> device = {});
MemoryAt MemoryAfter(const Trace& trace, DeviceIndex device, Seq seq);

// The blocks in use after a record; the memory that segments are made of, and pinned host memory,
// are none.
std::vector<BlockId> BlocksInUse(const Trace& trace, DeviceIndex device, Seq seq);

// What of the segments isn't handed out after a record.
struct IdleMemory {
  Bytes empty_bytes = 0;  // in segments without a block in use: empty_cache() returns them
  uint64_t empty_segments = 0;
  Bytes gap_bytes = 0;  // between blocks in use
  uint64_t gaps = 0;
  Bytes largest = 0;        // the largest free range
  Bytes private_bytes = 0;  // of all of it, in private pools: for their captures alone
  bool operator==(const IdleMemory&) const = default;

  Bytes bytes() const { return empty_bytes + gap_bytes; }
};
IdleMemory FindIdle(const Trace& trace, DeviceIndex device, Seq seq);

}  // namespace graphkit
