#include "libgraphkit/analysis/memory/moments.h"

#include <algorithm>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

DeviceIndex DeviceOf(const Trace& trace, StreamId stream) {
  return stream ? std::max<DeviceIndex>(trace[stream].device, 0) : DeviceIndex{0};
}

PoolKind PoolKindOf(const Trace& trace, const Block& block) {
  return block.pool ? trace[block.pool].kind : PoolKind::kDevice;
}

// Memory that the driver gave, and that isn't handed out of a segment.
bool FromDriver(const Trace& trace, const Block& block) {
  const PoolKind kind = PoolKindOf(trace, block);
  return !block.segment && (kind == PoolKind::kDevice || kind == PoolKind::kStream ||
                            kind == PoolKind::kGraph || kind == PoolKind::kManaged);
}

// What one record changes.
struct Change {
  Seq seq = 0;
  int64_t reserved = 0;
  int64_t segments = 0;
  int64_t in_use = 0;
  int64_t blocks = 0;
};

// What comes with `change`, and goes at `end`.
void AddLife(const Change& change, Seq end, std::vector<Change>* changes) {
  changes->push_back(change);
  if (end == kNever) return;
  changes->push_back({end, -change.reserved, -change.segments, -change.in_use, -change.blocks});
}

std::vector<Change> ChangesOf(const Trace& trace, DeviceIndex device) {
  const std::vector<bool> backs_segment = BacksSegment(trace);
  const std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  std::vector<Change> changes;
  changes.reserve(2 * trace.blocks.size());
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (devices[i] != device || PoolKindOf(trace, block) == PoolKind::kHost) continue;
    const auto bytes = static_cast<int64_t>(RoundedSize(block));
    const bool handed_out = !backs_segment[i];
    AddLife({.seq = block.allocated,
             .reserved = FromDriver(trace, block) ? bytes : 0,
             .segments = handed_out ? 0 : 1,
             .in_use = handed_out ? bytes : 0,
             .blocks = handed_out ? 1 : 0},
            block.free_completed, &changes);
  }
  for (const Segment& segment : trace.segments) {
    if (segment.block || DeviceOf(trace, segment.stream) != device) continue;
    AddLife(
        {.seq = segment.allocated, .reserved = static_cast<int64_t>(segment.size), .segments = 1},
        segment.freed, &changes);
  }
  std::ranges::stable_sort(changes, {}, &Change::seq);
  return changes;
}

void Apply(const Change& change, MemoryAt* now) {
  now->seq = change.seq;
  now->reserved += static_cast<Bytes>(change.reserved);
  now->segments += static_cast<uint64_t>(change.segments);
  now->in_use += static_cast<Bytes>(change.in_use);
  now->blocks += static_cast<uint64_t>(change.blocks);
}

struct FreeRanges {
  IdleMemory idle;

  void Add(Bytes bytes, bool empty, bool is_private) {
    if (bytes == 0) return;
    (empty ? idle.empty_bytes : idle.gap_bytes) += bytes;
    ++(empty ? idle.empty_segments : idle.gaps);
    idle.largest = std::max(idle.largest, bytes);
    if (is_private) idle.private_bytes += bytes;
  }
};

}  // namespace

std::vector<DeviceIndex> DevicesOfBlocks(const Trace& trace) {
  std::vector<DeviceIndex> devices;
  devices.reserve(trace.blocks.size());
  for (const Block& block : trace.blocks) devices.push_back(DeviceOf(trace, block.stream));
  for (const Segment& segment : trace.segments) {
    if (segment.block) devices[segment.block.index()] = DeviceOf(trace, segment.stream);
  }
  return devices;
}

std::vector<DeviceIndex> DevicesWithMemory(const Trace& trace) {
  std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

MemoryMoments FindMoments(const Trace& trace, DeviceIndex device) {
  const std::vector<Change> changes = ChangesOf(trace, device);
  MemoryMoments moments;
  MemoryAt now;
  for (size_t i = 0; i < changes.size(); ++i) {
    Apply(changes[i], &now);
    if (i + 1 < changes.size() && changes[i + 1].seq == now.seq) continue;
    if (now.reserved > moments.peak_reserved.reserved) moments.peak_reserved = now;
    if (now.in_use > moments.peak_in_use.in_use) moments.peak_in_use = now;
  }
  moments.end = now;
  moments.end.seq = trace.records;
  return moments;
}

MemoryAt MemoryAfter(const Trace& trace, DeviceIndex device, Seq seq) {
  MemoryAt now;
  for (const Change& change : ChangesOf(trace, device)) {
    if (change.seq > seq) break;
    Apply(change, &now);
  }
  now.seq = seq;
  return now;
}

std::vector<BlockId> BlocksInUse(const Trace& trace, DeviceIndex device, Seq seq) {
  const std::vector<bool> backs_segment = BacksSegment(trace);
  const std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  std::vector<BlockId> blocks;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    const bool alive = block.allocated <= seq && seq < block.free_completed;
    if (!alive || backs_segment[i] || devices[i] != device) continue;
    if (PoolKindOf(trace, block) != PoolKind::kHost) blocks.emplace_back(i);
  }
  return blocks;
}

IdleMemory FindIdle(const Trace& trace, DeviceIndex device, Seq seq) {
  std::vector<Segment> segments;
  for (const Segment& segment : trace.segments) {
    const bool alive = segment.allocated <= seq && seq < segment.freed;
    if (alive && DeviceOf(trace, segment.stream) == device) segments.push_back(segment);
  }
  std::ranges::sort(segments, {}, &Segment::address);
  std::vector<BlockId> blocks = BlocksInUse(trace, device, seq);
  std::ranges::sort(blocks, {}, [&](BlockId id) { return trace[id].address; });
  FreeRanges free;
  size_t next = 0;
  Address covered = 0;  // a block may lie in several stretches of pages
  for (const Segment& segment : segments) {
    const Address end = segment.address + segment.size;
    const bool is_private = segment.pool && trace[segment.pool].kind == PoolKind::kPrivate;
    while (next < blocks.size() && trace[blocks[next]].address < segment.address) ++next;
    Address at = std::max(segment.address, covered);
    const bool empty =
        at == segment.address && (next == blocks.size() || trace[blocks[next]].address >= end);
    for (; next < blocks.size() && trace[blocks[next]].address < end; ++next) {
      const Block& block = trace[blocks[next]];
      if (block.address > at) free.Add(block.address - at, false, is_private);
      at = std::max(at, block.address + RoundedSize(block));
    }
    if (at < end) free.Add(end - at, empty, is_private);
    covered = at;
  }
  return free.idle;
}

}  // namespace graphkit
