#include "libgraphkit/alloc/recorded/recorded_ranges.h"

#include <algorithm>
#include <iterator>

namespace graphkit {
namespace {

// Pages become one range with those that they overlap or touch.
void Join(RecordedRanges* ranges, Address address, RecordedRange range) {
  Address end = address + range.size;
  auto at = ranges->upper_bound(address);
  if (at != ranges->begin() && std::prev(at)->second.Joins(range)) {
    const auto before = std::prev(at);
    if (before->first + before->second.size >= address) at = before;
  }
  while (range.expandable && at != ranges->end() && at->first <= end && at->second.Joins(range)) {
    address = std::min(address, at->first);
    end = std::max(end, at->first + at->second.size);
    at = ranges->erase(at);
  }
  range.size = end - address;
  (*ranges)[address] = range;
}

// Takes [address, address + size) out of the range that it lies in.
void Cut(RecordedRanges* ranges, Address address, Bytes size) {
  const auto* found = RangeOf(*ranges, address);
  if (found == nullptr) return;
  const Address begin = found->first;
  const RecordedRange range = found->second;
  const Address end = begin + range.size;
  ranges->erase(begin);
  const auto keep = [&](Address from, Address to) {
    if (from >= to) return;
    RecordedRange kept = range;
    kept.size = to - from;
    (*ranges)[from] = kept;
  };
  keep(begin, address);
  keep(address + size, end);
}

// Pages that were unmapped belong to what they touch; otherwise their size tells which they were.
RecordedRange PagesOf(const TorchEvent& event, const RecordedRanges& ever,
                      const CachingConfig& config) {
  const auto same_stream = [&](const RecordedRanges::value_type* at) {
    return at != nullptr && at->second.expandable && at->second.stream == event.stream;
  };
  for (const Address near : {event.address, event.address + event.size, event.address - 1}) {
    const auto* at = RangeOf(ever, near);
    if (!same_stream(at)) continue;
    RecordedRange pages = at->second;
    pages.size = event.size;
    return pages;
  }
  const PoolHandle pool = event.pool == TorchEvent::kNoPool ? 0 : event.pool;
  return {event.size, event.stream, pool, event.size % config.large_segment != 0, true};
}

void Undo(const TorchEvent& event, const CachingConfig& config, RewoundRanges* ranges) {
  RecordedRange range;
  switch (event.action) {
    case TorchAction::kSegmentAlloc:
      ranges->start.erase(event.address);
      return;
    case TorchAction::kSegmentMap:
      Cut(&ranges->start, event.address, event.size);
      return;
    case TorchAction::kSegmentFree:
      range.size = event.size;
      range.stream = event.stream;
      range.pool = event.pool == TorchEvent::kNoPool ? 0 : event.pool;
      range.small = event.size == config.small_segment;
      break;
    case TorchAction::kSegmentUnmap:
      range = PagesOf(event, ranges->ever, config);
      break;
    default:
      return;
  }
  Join(&ranges->start, event.address, range);
  Join(&ranges->ever, event.address, range);
}

}  // namespace

RewoundRanges RewindRanges(const TorchSnapshot& snapshot, size_t device,
                           const CachingConfig& config) {
  RewoundRanges ranges;
  for (const TorchSegment& s : snapshot.segments) {
    if (s.device != static_cast<int32_t>(device)) continue;
    Join(&ranges.start, s.address, {s.total_size, s.stream, s.pool, s.small, s.expandable});
  }
  ranges.ever = ranges.start;
  const Slice run = snapshot.devices[device];
  for (uint32_t i = run.count; i-- > 0;) Undo(snapshot.events[run.first + i], config, &ranges);
  return ranges;
}

const RecordedRanges::value_type* RangeOf(const RecordedRanges& ranges, Address address) {
  const auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return nullptr;
  const auto at = std::prev(after);
  return address < at->first + at->second.size ? &*at : nullptr;
}

Address SpaceBegin(const RecordedRanges& ever, Address address, const RecordedRange& pages) {
  for (const auto& [begin, range] : ever) {
    if (range.Joins(pages)) return std::min(begin, address);
  }
  return address;
}

Bytes SpaceSize(const RecordedRanges& ever, Address begin, const RecordedRange& pages,
                const CachingConfig& config) {
  const Bytes page = pages.small ? config.small_segment : config.large_segment;
  Bytes size = RoundUp(config.device_memory + config.device_memory / 8, page);
  for (const auto& [at, range] : ever) {
    if (range.Joins(pages)) size = std::max(size, at + range.size - begin);
  }
  return size;
}

}  // namespace graphkit
