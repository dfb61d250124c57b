#include "libgraphkit/io/import/torch/snapshot_memory.h"

#include <unordered_set>

namespace graphkit {
namespace {

constexpr size_t kMostDevices = 1024;

std::span<const TorchEvent> EventsOf(const TorchSnapshot& snapshot, size_t device) {
  if (device >= snapshot.devices.size()) return {};
  const Slice run = snapshot.devices[device];
  return std::span(snapshot.events).subspan(run.first, run.count);
}

struct Rewinding {
  const TorchSnapshot& s;
  size_t device;
  SnapshotStart start = {};
  std::unordered_map<Address, Bytes> live = {};  // allocated among the events and not yet freed
  std::unordered_set<Address> pending = {};
  size_t completions = 0;
  size_t never_completed = 0;  // frees requested of blocks that weren't held back in the end

  SnapshotStart Run() {
    RewindRanges();
    CountFrees();
    for (const TorchEvent& event : EventsOf(s, device)) Walk(event);
    TakeFinalBlocks();
    start.completions_skipped = completions == 0 && never_completed > 0;
    if (!start.completions_skipped) start.unmatched += never_completed;
    start.unmatched += live.size();
    return std::move(start);
  }

  void RewindRanges() {
    start.ranges = OwnersAtEnd(s, device);
    const std::span<const TorchEvent> events = EventsOf(s, device);
    for (size_t i = events.size(); i-- > 0;) {
      const TorchEvent& event = events[i];
      if (Maps(event.action)) start.ranges.Remove(RangeOf(event));
      if (!Unmaps(event.action)) continue;
      const bool unknown = event.pool == TorchEvent::kNoPool;
      start.ranges.Add(RangeOf(event), {event.stream, unknown ? uint16_t{0} : event.pool,
                                        event.action == TorchAction::kSegmentUnmap});
    }
  }

  void CountFrees() {
    size_t requests = 0;
    for (const TorchEvent& event : EventsOf(s, device)) {
      requests += event.action == TorchAction::kFreeRequested;
      completions += event.action == TorchAction::kFreeCompleted;
    }
    start.requests_skipped = requests == 0 && completions > 0;
  }

  void Walk(const TorchEvent& event) {
    switch (event.action) {
      case TorchAction::kAlloc:
        if (!live.insert_or_assign(event.address, event.size).second) ++start.unmatched;
        if (!pending.empty()) never_completed += pending.erase(event.address);
        break;
      case TorchAction::kFreeRequested:
        if (live.erase(event.address) == 0) {
          start.blocks.push_back({event.address, event.size, event.stream, {}, false});
        }
        pending.insert(event.address);
        break;
      case TorchAction::kFreeCompleted:
        if (pending.erase(event.address) > 0) break;
        if (start.requests_skipped ? live.erase(event.address) > 0 : live.contains(event.address)) {
          break;
        }
        start.blocks.push_back(
            {event.address, event.size, event.stream, {}, !start.requests_skipped});
        break;
      default:
        break;
    }
  }

  // A block that lives at the end and wasn't allocated among the events was there before them.
  void TakeFinalBlocks() {
    bool segments = false;
    size_t still_pending = 0;
    for (const TorchSegment& segment : s.segments) {
      if (segment.device != static_cast<int32_t>(device)) continue;
      segments = true;
      for (uint32_t i = 0; i < segment.blocks.count; ++i) {
        const TorchBlock& block = s.blocks[segment.blocks.first + i];
        if (block.state == TorchBlockState::kInactive || live.erase(block.address) > 0) continue;
        const bool held_back = block.state == TorchBlockState::kPendingFree;
        if (held_back && pending.contains(block.address)) {
          ++still_pending;
          continue;
        }
        start.blocks.push_back(
            {block.address, block.requested_size, segment.stream, block.stack, held_back});
      }
    }
    if (segments) never_completed += pending.size() - still_pending;
  }
};

}  // namespace

size_t DeviceCount(const TorchSnapshot& snapshot) {
  size_t count = snapshot.devices.size();
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device >= 0 && static_cast<size_t>(segment.device) < kMostDevices) {
      count = std::max(count, static_cast<size_t>(segment.device) + 1);
    }
  }
  return std::min(count, kMostDevices);
}

IntervalMap<RangeOwner> OwnersAtEnd(const TorchSnapshot& snapshot, size_t device) {
  IntervalMap<RangeOwner> ranges;
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device != static_cast<int32_t>(device)) continue;
    ranges.Add({segment.address, segment.address + segment.total_size},
               {segment.stream, segment.pool, segment.expandable});
  }
  return ranges;
}

SnapshotStart FindStart(const TorchSnapshot& snapshot, size_t device) {
  return Rewinding{snapshot, device}.Run();
}

std::vector<uint32_t> CountAllocs(const TorchSnapshot& snapshot, size_t device,
                                  const SnapshotStart& start) {
  std::vector<uint32_t> counts(snapshot.pools.size());
  if (counts.size() < 2) return counts;
  const IntervalMap<RangeOwner> at_end = OwnersAtEnd(snapshot, device);
  IntervalMap<RangeOwner> ranges = start.ranges;
  for (const TorchEvent& event : EventsOf(snapshot, device)) {
    const auto pool_in = [&](const IntervalMap<RangeOwner>& in) {
      if (event.pool < counts.size()) return event.pool;
      const RangeOwner* owner = in.Find(event.address);
      return owner ? owner->pool : uint16_t{0};
    };
    if (event.action == TorchAction::kAlloc) ++counts[pool_in(ranges)];
    if (Maps(event.action)) ranges.Add(RangeOf(event), {event.stream, pool_in(at_end), false});
    if (Unmaps(event.action)) ranges.Remove(RangeOf(event));
  }
  return counts;
}

}  // namespace graphkit
