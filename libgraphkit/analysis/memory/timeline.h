// Device memory over a trace: the one sweep over allocations, free requests and completed frees,
// and what it sums up to, by device and by graph. Everything that shows memory at a moment reads it
// here: reports, the gate, summaries, explanations, differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Bytes of a graph over capture order. Sizes are rounded up to 512 B; a graph's blocks are those
// allocated in it and in the graphs that it holds.
struct Usage {
  uint64_t blocks = 0;
  Bytes total = 0;      // of all blocks
  Bytes peak_live = 0;  // most bytes allocated and not yet free-requested
  Seq peak_at = 0;      // the allocation that made the peak
  Bytes deferred = 0;   // most bytes between free requested and free completed
  Bytes peak_held = 0;  // most bytes live or deferred: what deferring made necessary
  uint64_t never_freed_blocks = 0;
  Bytes never_freed = 0;
  // From the lowest to the highest address used in each segment (blocks outside segments: what
  // their addresses cover), summed up.
  Bytes extent = 0;
  bool operator==(const Usage&) const = default;
};

// Sizes as graphs are compared, planned and replayed: rounded up to 512 B.
Bytes RoundedSize(const Block& block);
// The bytes that its allocator handed out for it.
Bytes AllocatedSize(const Block& block);

// Between its free request and its completion, for some while.
bool Deferred(const Block& block);

// The most bytes of some blocks at once, which come in the order of their allocations. `ends`: of
// each, the last place where it is there; kNever: it stays.
Bytes PeakLive(const Ran& trace, std::span<const BlockId> blocks, std::span<const Seq> ends);

// By block, the device that it lies on.
std::vector<DeviceIndex> DevicesOfBlocks(const Ran& trace);

class MemoryTimeline {
 public:
  // The trace must outlive it.
  MemoryTimeline(const Ran& trace, const Lifetimes& lives);

  // Of all devices together.
  const MemoryMoments& all() const { return all_; }
  // Devices that have memory, in ascending order, and the moments of each.
  const std::vector<DeviceIndex>& devices() const { return devices_; }
  const MemoryMoments& Of(DeviceIndex device) const {
    return by_device_[static_cast<size_t>(device)];
  }
  // By graph; zero for graphs that are held by others, whose bytes are their root's.
  const std::vector<Usage>& usage() const { return usage_; }

  MemoryAt After(DeviceIndex device, Seq seq) const;
  // The blocks in use after a record, without the memory that segments are made of and pinned host
  // memory.
  std::vector<BlockId> InUse(DeviceIndex device, Seq seq) const;
  IdleMemory IdleAfter(DeviceIndex device, Seq seq) const;

 private:
  class Sweep;
  bool OnDevice(size_t block, DeviceIndex device) const;
  // The part of a block in the sums: reserved, in use, ….
  MemoryAt ShareOf(size_t block) const;

  const Ran& trace_;
  std::vector<SegmentId> segments_;     // by block: that it is the memory of
  std::vector<DeviceIndex> device_of_;  // by block
  std::vector<DeviceIndex> devices_;
  std::vector<MemoryMoments> by_device_;  // as far as the last device
  MemoryMoments all_;
  std::vector<Usage> usage_;
};

// Memory asked of the driver, and its owners: device and managed memory, where most of it was
// asked for. Sizes rounded up to 512 B.
AskedMemory FindAskedMemory(const Ran& trace, const MemoryTimeline& timeline,
                            const Lifetimes& lives);

}  // namespace graphkit
