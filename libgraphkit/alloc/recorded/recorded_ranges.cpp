#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <algorithm>
#include <iterator>

namespace graphkit {
namespace {

// Memory that was given back, with the segment's other pages, or as the event says.
class Undoing {
 public:
  Undoing(const CachingConfig& config, const PoolGuess& guess, RewoundRanges* ranges)
      : config_(config), guess_(guess), ranges_(*ranges) {}

  void Undo(const TorchEvent& event, uint32_t index) {
    index_ = index;
    switch (event.action) {
      case TorchAction::kSegmentAlloc:
        ranges_.got[index] = GotBy(event);
        ranges_.start.erase(event.address);
        break;
      case TorchAction::kSegmentMap:
        ranges_.got[index] = GotBy(event);
        RemoveRange(&ranges_.start, event.address, event.size);
        break;
      case TorchAction::kSegmentFree:
        GiveBack(event, Named(event, IsSmall(event)));
        break;
      case TorchAction::kSegmentUnmap:
        GiveBack(event, PagesOf(event));
        break;
      default:
        break;
    }
  }

 private:
  void GiveBack(const TorchEvent& event, const RecordedRange& range) {
    AddRange(&ranges_.start, event.address, range);
    AddRange(&ranges_.ever, event.address, range);
  }

  // The range that an event got from the driver, as it is known from later.
  RecordedRange GotBy(const TorchEvent& event) {
    const auto* at = RangeOf(ranges_.start, event.address);
    const bool pages = event.action == TorchAction::kSegmentMap;
    RecordedRange range = at != nullptr ? at->second : Named(event, IsSmall(event));
    range.expandable |= pages;
    range.size = event.size;
    return range;
  }

  bool IsSmall(const TorchEvent& event) const {
    const bool pages =
        event.action == TorchAction::kSegmentMap || event.action == TorchAction::kSegmentUnmap;
    return pages ? event.size % config_.large_segment != 0 : event.size == config_.small_segment;
  }

  RecordedRange Named(const TorchEvent& event, bool small) {
    RecordedRange range{.size = event.size, .stream = event.stream, .small = small};
    if (event.pool != TorchEvent::kNoPool) {
      range.pool = event.pool;
    } else {
      ranges_.pools_unknown = true;
      const auto at = guess_.of.find(index_);
      const PoolHandle pool = at == guess_.of.end() ? PoolHandle{0} : at->second;
      const bool pages = event.action == TorchAction::kSegmentUnmap;
      const bool known = guess_.default_pool && pool != PoolGuess::kUnknown && !(pages && pool);
      if (known) range.pool = pool;
      if (!known) range.state = RangeState::kPoolUnknown;
    }
    return range;
  }

  // Unmapped pages belong to what they touch, or what lay there later, unless no page was left:
  // then the address space was given back, and another one may have come. Otherwise their size
  // tells which they were.
  RecordedRange PagesOf(const TorchEvent& event) {
    for (const RecordedRanges* ranges : {&ranges_.start, &ranges_.ever}) {
      for (const Address near : {event.address, event.address + event.size, event.address - 1}) {
        const auto* at = RangeOf(*ranges, near);
        if (at == nullptr || !at->second.expandable || at->second.stream != event.stream) continue;
        if (event.pool != TorchEvent::kNoPool && at->second.pool != event.pool) continue;
        if (!at->second.small && IsSmall(event)) continue;  // others lay there at another time
        if (ranges == &ranges_.ever && !HasPagesNow(at->second)) continue;
        RecordedRange pages = at->second;
        pages.size = event.size;
        return pages;
      }
    }
    RecordedRange pages = Named(event, IsSmall(event));
    pages.expandable = true;
    return pages;
  }

  bool HasPagesNow(const RecordedRange& pages) const {
    return std::ranges::any_of(ranges_.start,
                               [&](const auto& range) { return range.second.Joins(pages); });
  }

  const CachingConfig& config_;
  const PoolGuess& guess_;
  uint32_t index_ = 0;  // of the event
  RewoundRanges& ranges_;
};

// An expandable segment's address space is given back with its last page, so the pages that are
// mapped up to then are of the space that there was at the start.
class SpaceFinder {
 public:
  explicit SpaceFinder(RewoundRanges* ranges) : ranges_(*ranges) {
    for (const auto& [address, range] : ranges_.start) {
      if (range.expandable) Map(address, range);
    }
    at_start_ = ranges_.spaces.size();
  }

  void Take(const TorchEvent& event, uint32_t index) {
    if (event.action == TorchAction::kSegmentMap) {
      Map(event.address, ranges_.got.at(index));
    } else if (event.action == TorchAction::kSegmentUnmap) {
      Unmap(event);
    }
  }

 private:
  void Map(Address address, const RecordedRange& pages) {
    AddRange(&now_, address, pages);
    const size_t i = IndexOf(pages);
    if (i == ranges_.spaces.size()) {
      if (at_start_ != kNone) return;
      ranges_.spaces.push_back({pages, address, address});
      mapped_.push_back(0);
    }
    ExpandableSpace& space = ranges_.spaces[i];
    if (at_start_ != kNone && mapped_[i] == 0) return;  // it was given back
    space.begin = std::min(space.begin, address);
    space.end = std::max(space.end, address + pages.size);
    mapped_[i] += pages.size;
  }

  void Unmap(const TorchEvent& event) {
    const auto* at = RangeOf(now_, event.address);
    if (at == nullptr) return;
    const size_t i = IndexOf(at->second);
    if (i < mapped_.size()) mapped_[i] -= std::min(mapped_[i], event.size);
    RemoveRange(&now_, event.address, event.size);
  }

  size_t IndexOf(const RecordedRange& pages) const {
    return static_cast<size_t>(
        std::ranges::find_if(ranges_.spaces,
                             [&](const ExpandableSpace& s) { return s.pages.Joins(pages); }) -
        ranges_.spaces.begin());
  }

  static constexpr size_t kNone = ~size_t{0};

  RewoundRanges& ranges_;
  RecordedRanges now_;
  std::vector<Bytes> mapped_;  // by space
  size_t at_start_ = kNone;    // spaces
};

}  // namespace

void AddRange(RecordedRanges* ranges, Address address, RecordedRange range) {
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

void RemoveRange(RecordedRanges* ranges, Address address, Bytes size) {
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

RewoundRanges RewindRanges(const TorchSnapshot& snapshot, size_t device,
                           const CachingConfig& config, const PoolGuess& guess) {
  RewoundRanges ranges;
  for (const TorchSegment& s : snapshot.segments) {
    if (s.device != static_cast<int32_t>(device)) continue;
    AddRange(&ranges.start, s.address, {s.total_size, s.stream, s.pool, s.small, s.expandable});
  }
  ranges.ever = ranges.start;
  const Slice run = snapshot.devices[device];
  Undoing undoing(config, guess, &ranges);
  for (uint32_t i = run.count; i-- > 0;) undoing.Undo(snapshot.events[run.first + i], i);
  SpaceFinder spaces(&ranges);
  for (uint32_t i = 0; i < run.count; ++i) spaces.Take(snapshot.events[run.first + i], i);
  return ranges;
}

void LeaveOutSpace(RewoundRanges* ranges, const RecordedRange& pages) {
  ranges->left_out.push_back(pages);
  for (auto& [address, range] : ranges->start) {
    if (range.Joins(pages)) range.state = RangeState::kStartUnknown;
  }
}

bool IsLeftOut(const RewoundRanges& ranges, const RecordedRange& pages) {
  return std::ranges::any_of(ranges.left_out,
                             [&](const RecordedRange& other) { return other.Joins(pages); });
}

const RecordedRanges::value_type* RangeOf(const RecordedRanges& ranges, Address address) {
  const auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return nullptr;
  const auto at = std::prev(after);
  return address < at->first + at->second.size ? &*at : nullptr;
}

const ExpandableSpace& SpaceOf(const RewoundRanges& ranges, const RecordedRange& pages) {
  return *std::ranges::find_if(ranges.spaces,
                               [&](const ExpandableSpace& s) { return s.pages.Joins(pages); });
}

}  // namespace graphkit
