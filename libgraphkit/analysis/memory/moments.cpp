#include "libgraphkit/analysis/memory/moments.h"

#include <algorithm>
#include <utility>

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

// By how much one record changes a moment.
struct Change {
  Seq seq = 0;
  MemoryAt by = {};
  bool less = false;
};

// What a block brings when it is allocated, and takes when its free is complete, or, of what is
// allocated, requested.
MemoryAt ShareOf(const Trace& trace, uint32_t id, bool backs_segment) {
  const Block& block = trace.blocks[id];
  MemoryAt share{.reserved = FromDriver(trace, block) ? AllocatedSize(block) : 0,
                 .segments = backs_segment};
  if (PoolKindOf(trace, block) == PoolKind::kGraph) share.of_graphs = share.reserved;
  if (backs_segment) return share;
  share.in_use = share.allocated = AllocatedSize(block);
  share.requested = block.size;
  share.blocks = 1;
  return share;
}

// Segments of which no driver allocation is known.
std::vector<Change> ChangesOfSegments(const Trace& trace, std::optional<DeviceIndex> device) {
  std::vector<Change> changes;
  for (const Segment& segment : trace.segments) {
    if (segment.block || (device && DeviceOf(trace, segment.stream) != *device)) continue;
    const MemoryAt share{.reserved = segment.size, .segments = 1};
    changes.push_back({segment.allocated, share, false});
    if (segment.freed != kNever) changes.push_back({segment.freed, share, true});
  }
  std::ranges::stable_sort(changes, {}, &Change::seq);
  return changes;
}

// Calls visit(change) for everything that changes, in the order of the records. Blocks are merged
// from their sorted columns: there may be millions.
template <typename Visit>
void ForEachChange(const Trace& trace, std::optional<DeviceIndex> device, Visit visit) {
  const std::vector<bool> backs_segment = BacksSegment(trace);
  const std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  const std::vector<uint32_t> allocated = BlocksBySeq(trace, &Block::allocated);
  const std::vector<uint32_t> requested = BlocksBySeq(trace, &Block::free_requested);
  const std::vector<uint32_t> completed = BlocksBySeq(trace, &Block::free_completed);
  const std::vector<Change> segments = ChangesOfSegments(trace, device);
  size_t a = 0, r = 0, c = 0, s = 0;
  const auto next = [&](const std::vector<uint32_t>& ids, size_t at, Seq Block::*place) {
    return at < ids.size() ? trace.blocks[ids[at]].*place : kNever;
  };
  while (true) {
    const Seq at_a = next(allocated, a, &Block::allocated);
    const Seq at_r = next(requested, r, &Block::free_requested);
    const Seq at_c = next(completed, c, &Block::free_completed);
    const Seq at_s = s < segments.size() ? segments[s].seq : kNever;
    const Seq seq = std::min({at_a, at_r, at_c, at_s});
    if (seq == kNever) return;
    if (seq == at_s) {
      visit(segments[s++]);
      continue;
    }
    const uint32_t id = seq == at_a   ? allocated[a++]
                        : seq == at_r ? requested[r++]
                                      : completed[c++];
    if (device && devices[id] != *device) continue;
    if (PoolKindOf(trace, trace.blocks[id]) == PoolKind::kHost) continue;
    MemoryAt share = ShareOf(trace, id, backs_segment[id]);
    if (seq != at_a && seq == at_r) {
      share = {.allocated = share.allocated};
    } else if (seq != at_a) {
      share.allocated = 0;
    }
    visit(Change{seq, share, seq != at_a});
  }
}

void Apply(const Change& change, MemoryAt* now) {
  now->seq = change.seq;
  for (const auto member :
       {&MemoryAt::reserved, &MemoryAt::segments, &MemoryAt::in_use, &MemoryAt::allocated,
        &MemoryAt::requested, &MemoryAt::blocks, &MemoryAt::of_graphs}) {
    now->*member += change.less ? 0 - change.by.*member : change.by.*member;
  }
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

bool FromDriver(const Trace& trace, const Block& block) {
  const PoolKind kind = PoolKindOf(trace, block);
  return !block.segment && (kind == PoolKind::kDevice || kind == PoolKind::kStream ||
                            kind == PoolKind::kGraph || kind == PoolKind::kManaged);
}

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

MemoryMoments FindMoments(const Trace& trace, std::optional<DeviceIndex> device) {
  MemoryMoments moments;
  MemoryAt now;
  // What one record changes counts together.
  const auto settle = [&] {
    const MemoryAt& reserved = moments.peak_reserved;
    if (std::pair(now.reserved, now.in_use) > std::pair(reserved.reserved, reserved.in_use)) {
      moments.peak_reserved = now;
    }
    if (now.in_use > moments.peak_in_use.in_use) moments.peak_in_use = now;
    if (now.allocated > moments.peak_allocated.allocated) moments.peak_allocated = now;
    if (now.requested > moments.peak_requested.requested) moments.peak_requested = now;
    const Bytes outside = now.reserved - now.of_graphs;
    moments.peak_outside_graphs = std::max(moments.peak_outside_graphs, outside);
  };
  ForEachChange(trace, device, [&](const Change& change) {
    if (change.seq != now.seq) settle();
    Apply(change, &now);
  });
  settle();
  moments.end = now;
  moments.end.seq = trace.records;
  return moments;
}

MemoryAt MemoryAfter(const Trace& trace, DeviceIndex device, Seq seq) {
  MemoryAt now;
  ForEachChange(trace, device, [&](const Change& change) {
    if (change.seq <= seq) Apply(change, &now);
  });
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
      at = std::max(at, block.address + AllocatedSize(block));
    }
    if (at < end) free.Add(end - at, empty, is_private);
    covered = at;
  }
  return free.idle;
}

}  // namespace graphkit
