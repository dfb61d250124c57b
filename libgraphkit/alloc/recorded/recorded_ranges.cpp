#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <algorithm>

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
      case TorchAction::kSegmentMap:
        ranges_.got[index] = GotBy(event);
        ranges_.start.Remove(RangeOf(event));
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
    AddRange(&ranges_.start, RangeOf(event), range);
    AddRange(&ranges_.ever, RangeOf(event), range);
  }

  // The range that an event got from the driver, as it is known from later.
  RecordedRange GotBy(const TorchEvent& event) {
    const RecordedRange* at = ranges_.start.Find(event.address);
    RecordedRange range = at != nullptr ? *at : Named(event, IsSmall(event));
    range.expandable |= event.action == TorchAction::kSegmentMap;
    return range;
  }

  bool IsSmall(const TorchEvent& event) const {
    const bool pages =
        event.action == TorchAction::kSegmentMap || event.action == TorchAction::kSegmentUnmap;
    return pages ? event.size % config_.large_segment != 0 : event.size == config_.small_segment;
  }

  RecordedRange Named(const TorchEvent& event, bool small) {
    RecordedRange range{.stream = event.stream, .small = small};
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
        const RecordedRange* at = ranges->Find(near);
        if (at == nullptr || !at->expandable || at->stream != event.stream) continue;
        if (event.pool != TorchEvent::kNoPool && at->pool != event.pool) continue;
        if (!at->small && IsSmall(event)) continue;  // others lay there at another time
        if (ranges == &ranges_.ever && !HasPagesNow(*at)) continue;
        return *at;
      }
    }
    RecordedRange pages = Named(event, IsSmall(event));
    pages.expandable = true;
    return pages;
  }

  bool HasPagesNow(const RecordedRange& pages) const {
    return std::ranges::any_of(ranges_.start.all(),
                               [&](const auto& at) { return at.second.value.Joins(pages); });
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
    for (const auto& [begin, at] : ranges_.start.all()) {
      if (at.value.expandable) Map(at.range, at.value);
    }
    at_start_ = ranges_.spaces.size();
  }

  void Take(const TorchEvent& event, uint32_t index) {
    if (event.action == TorchAction::kSegmentMap) {
      Map(RangeOf(event), ranges_.got.at(index));
    } else if (event.action == TorchAction::kSegmentUnmap) {
      Unmap(event);
    }
  }

 private:
  void Map(Interval<Address> range, const RecordedRange& pages) {
    AddRange(&now_, range, pages);
    const size_t i = IndexOf(pages);
    if (i == ranges_.spaces.size()) {
      if (at_start_ != kNone) return;
      ranges_.spaces.push_back({pages, range.begin, range.begin});
      mapped_.push_back(0);
    }
    ExpandableSpace& space = ranges_.spaces[i];
    if (at_start_ != kNone && mapped_[i] == 0) return;  // it was given back
    space.begin = std::min(space.begin, range.begin);
    space.end = std::max(space.end, range.end);
    mapped_[i] += range.size();
  }

  void Unmap(const TorchEvent& event) {
    const RecordedRange* at = now_.Find(event.address);
    if (at == nullptr) return;
    const size_t i = IndexOf(*at);
    if (i < mapped_.size()) mapped_[i] -= std::min(mapped_[i], event.size);
    now_.Remove(RangeOf(event));
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

void AddRange(RecordedRanges* ranges, Interval<Address> range, const RecordedRange& value) {
  const Interval<Address> near{range.begin - std::min<Address>(range.begin, 1), range.end + 1};
  ranges->Visit(near, [&](const RecordedRanges::Entry& at) {
    if (!at.value.Joins(value)) return true;
    range = {std::min(range.begin, at.range.begin), std::max(range.end, at.range.end)};
    return true;
  });
  ranges->Add(range, value);
}

RewoundRanges RewindRanges(const TorchSnapshot& snapshot, size_t device,
                           const CachingConfig& config, const PoolGuess& guess) {
  RewoundRanges ranges;
  for (const TorchSegment& s : snapshot.segments) {
    if (s.device != static_cast<int32_t>(device)) continue;
    AddRange(&ranges.start, {s.address, s.address + s.total_size},
             {s.stream, s.pool, s.small, s.expandable});
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
  ranges->start.ForEach([&](Interval<Address>, RecordedRange* range) {
    if (range->Joins(pages)) range->state = RangeState::kStartUnknown;
  });
}

bool IsLeftOut(const RewoundRanges& ranges, const RecordedRange& pages) {
  return std::ranges::any_of(ranges.left_out,
                             [&](const RecordedRange& other) { return other.Joins(pages); });
}

const ExpandableSpace& SpaceOf(const RewoundRanges& ranges, const RecordedRange& pages) {
  return *std::ranges::find_if(ranges.spaces,
                               [&](const ExpandableSpace& s) { return s.pages.Joins(pages); });
}

}  // namespace graphkit
