#include "libgraphkit/io/import/torch/snapshot_start.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace graphkit {
namespace {

constexpr size_t kMostDevices = 1024;

std::span<const TorchEvent> EventsOf(const TorchSnapshot& snapshot, size_t device) {
  if (device >= snapshot.devices.size()) return {};
  const Slice run = snapshot.devices[device];
  return std::span(snapshot.events).subspan(run.first, run.count);
}

Interval<Address> RangeOf(const TorchEvent& event) {
  return {event.address, event.address + event.size};
}
bool Maps(const TorchEvent& event) {
  return event.action == TorchAction::kSegmentAlloc || event.action == TorchAction::kSegmentMap;
}
bool Unmaps(const TorchEvent& event) {
  return event.action == TorchAction::kSegmentFree || event.action == TorchAction::kSegmentUnmap;
}

class Rewinding {
 public:
  Rewinding(const TorchSnapshot& snapshot, size_t device) : s_(snapshot), device_(device) {}

  SnapshotStart Run() {
    RewindRanges();
    CountFrees();
    for (const TorchEvent& event : EventsOf(s_, device_)) Walk(event);
    TakeFinalBlocks();
    start_.completions_skipped = completions_ == 0 && never_completed_ > 0;
    if (!start_.completions_skipped) start_.unmatched += never_completed_;
    start_.unmatched += live_.size();
    return std::move(start_);
  }

 private:
  void RewindRanges() {
    start_.ranges = OwnersAtEnd(s_, device_);
    const std::span<const TorchEvent> events = EventsOf(s_, device_);
    for (size_t i = events.size(); i-- > 0;) {
      const TorchEvent& event = events[i];
      if (Maps(event)) start_.ranges.Remove(RangeOf(event));
      if (!Unmaps(event)) continue;
      const bool unknown = event.pool == TorchEvent::kNoPool;
      start_.ranges.Add(RangeOf(event), {event.stream, unknown ? uint16_t{0} : event.pool,
                                         event.action == TorchAction::kSegmentUnmap});
    }
  }

  void CountFrees() {
    size_t requests = 0;
    for (const TorchEvent& event : EventsOf(s_, device_)) {
      requests += event.action == TorchAction::kFreeRequested;
      completions_ += event.action == TorchAction::kFreeCompleted;
    }
    start_.requests_skipped = requests == 0 && completions_ > 0;
  }

  void Walk(const TorchEvent& event) {
    switch (event.action) {
      case TorchAction::kAlloc:
        if (!live_.insert_or_assign(event.address, event.size).second) ++start_.unmatched;
        if (!pending_.empty()) never_completed_ += pending_.erase(event.address);
        break;
      case TorchAction::kFreeRequested:
        if (live_.erase(event.address) == 0) {
          start_.blocks.push_back({event.address, event.size, event.stream, {}, false});
        }
        pending_.insert(event.address);
        break;
      case TorchAction::kFreeCompleted:
        if (pending_.erase(event.address) > 0) break;
        if (start_.requests_skipped ? live_.erase(event.address) > 0
                                    : live_.contains(event.address)) {
          break;
        }
        start_.blocks.push_back(
            {event.address, event.size, event.stream, {}, !start_.requests_skipped});
        break;
      default:
        break;
    }
  }

  // A block that lives at the end and wasn't allocated among the events was there before them.
  void TakeFinalBlocks() {
    bool segments = false;
    size_t still_pending = 0;
    for (const TorchSegment& segment : s_.segments) {
      if (segment.device != static_cast<int32_t>(device_)) continue;
      segments = true;
      for (uint32_t i = 0; i < segment.blocks.count; ++i) {
        const TorchBlock& block = s_.blocks[segment.blocks.first + i];
        if (block.state == TorchBlockState::kInactive || live_.erase(block.address) > 0) continue;
        const bool pending = block.state == TorchBlockState::kPendingFree;
        if (pending && pending_.contains(block.address)) {
          ++still_pending;
          continue;
        }
        start_.blocks.push_back(
            {block.address, block.requested_size, segment.stream, block.stack, pending});
      }
    }
    if (segments) never_completed_ += pending_.size() - still_pending;
  }

  const TorchSnapshot& s_;
  size_t device_;
  SnapshotStart start_;
  std::unordered_map<Address, Bytes> live_;  // allocated among the events and not yet freed
  std::unordered_set<Address> pending_;
  size_t completions_ = 0;
  size_t never_completed_ = 0;  // frees requested of blocks that weren't held back in the end
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

RangeMap<RangeOwner> OwnersAtEnd(const TorchSnapshot& snapshot, size_t device) {
  RangeMap<RangeOwner> ranges;
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device != static_cast<int32_t>(device)) continue;
    ranges.Add({segment.address, segment.address + segment.total_size},
               {segment.stream, segment.pool, segment.expandable});
  }
  return ranges;
}

SnapshotStart FindStart(const TorchSnapshot& snapshot, size_t device) {
  return Rewinding(snapshot, device).Run();
}

std::vector<uint32_t> CountAllocs(const TorchSnapshot& snapshot, size_t device,
                                  const SnapshotStart& start) {
  std::vector<uint32_t> counts(snapshot.pools.size());
  if (counts.size() < 2) return counts;
  const RangeMap<RangeOwner> at_end = OwnersAtEnd(snapshot, device);
  RangeMap<RangeOwner> ranges = start.ranges;
  for (const TorchEvent& event : EventsOf(snapshot, device)) {
    const auto pool_in = [&](const RangeMap<RangeOwner>& in) {
      if (event.pool < counts.size()) return event.pool;
      const RangeOwner* owner = in.Find(event.address);
      return owner ? owner->pool : uint16_t{0};
    };
    if (event.action == TorchAction::kAlloc) ++counts[pool_in(ranges)];
    if (Maps(event)) ranges.Add(RangeOf(event), {event.stream, pool_in(at_end), false});
    if (Unmaps(event)) ranges.Remove(RangeOf(event));
  }
  return counts;
}

}  // namespace graphkit
