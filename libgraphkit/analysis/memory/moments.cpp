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

// What a block brings when it is allocated, and takes when its free is complete.
Change ChangeBy(const Trace& trace, uint32_t id, bool backs_segment) {
  const Block& block = trace.blocks[id];
  const auto bytes = static_cast<int64_t>(RoundedSize(block));
  return {.reserved = FromDriver(trace, block) ? bytes : 0,
          .segments = backs_segment ? 1 : 0,
          .in_use = backs_segment ? 0 : bytes,
          .blocks = backs_segment ? 0 : 1};
}

Change Opposite(const Change& c) { return {c.seq, -c.reserved, -c.segments, -c.in_use, -c.blocks}; }

// Segments of which no driver allocation is known.
std::vector<Change> ChangesOfSegments(const Trace& trace, std::optional<DeviceIndex> device) {
  std::vector<Change> changes;
  for (const Segment& segment : trace.segments) {
    if (segment.block || (device && DeviceOf(trace, segment.stream) != *device)) continue;
    const Change change{
        .seq = segment.allocated, .reserved = static_cast<int64_t>(segment.size), .segments = 1};
    changes.push_back(change);
    if (segment.freed == kNever) continue;
    changes.push_back(Opposite(change));
    changes.back().seq = segment.freed;
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
  const std::vector<uint32_t> completed = BlocksBySeq(trace, &Block::free_completed);
  const std::vector<Change> segments = ChangesOfSegments(trace, device);
  const auto counts = [&](uint32_t id) {
    return (!device || devices[id] == *device) &&
           PoolKindOf(trace, trace.blocks[id]) != PoolKind::kHost;
  };
  size_t a = 0, c = 0, s = 0;
  while (true) {
    const Seq at_a = a < allocated.size() ? trace.blocks[allocated[a]].allocated : kNever;
    const Seq at_c = c < completed.size() ? trace.blocks[completed[c]].free_completed : kNever;
    const Seq at_s = s < segments.size() ? segments[s].seq : kNever;
    const Seq seq = std::min({at_a, at_c, at_s});
    if (seq == kNever) return;
    if (seq == at_s) {
      visit(segments[s++]);
      continue;
    }
    const bool comes = seq == at_a;
    const uint32_t id = comes ? allocated[a++] : completed[c++];
    if (!counts(id)) continue;
    Change change = ChangeBy(trace, id, backs_segment[id]);
    if (!comes) change = Opposite(change);
    change.seq = seq;
    visit(change);
  }
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

MemoryMoments FindMoments(const Trace& trace, std::optional<DeviceIndex> device) {
  MemoryMoments moments;
  MemoryAt now;
  // What one record changes counts together.
  const auto settle = [&] {
    if (now.reserved > moments.peak_reserved.reserved) moments.peak_reserved = now;
    if (now.in_use > moments.peak_in_use.in_use) moments.peak_in_use = now;
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
      at = std::max(at, block.address + RoundedSize(block));
    }
    if (at < end) free.Add(end - at, empty, is_private);
    covered = at;
  }
  return free.idle;
}

}  // namespace graphkit
