// The lives and segments that there were before the first event.

#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace graphkit {
namespace {

using Key = std::pair<Address, Bytes>;

class Pairing {
 public:
  Pairing(const TorchSnapshot& snapshot, size_t device, const RecordedRanges& segments,
          uint32_t reading)
      : snapshot_(snapshot), device_(device), segments_(segments), reading_(reading) {}

  std::vector<RecordedLife> Run() {
    const Slice run = snapshot_.devices[device_];
    for (uint32_t i = 0; i < run.count; ++i) Take(snapshot_.events[run.first + i], i);
    for (const TorchSegment& segment : snapshot_.segments) {
      if (segment.device != static_cast<int32_t>(device_)) continue;
      for (uint32_t i = 0; i < segment.blocks.count; ++i)
        TakeFinal(segment, segment.blocks.first + i);
    }
    JoinLost();
    return std::move(lives_);
  }

 private:
  uint32_t Add(RecordedLife life) {
    lives_.push_back(life);
    return static_cast<uint32_t>(lives_.size() - 1);
  }

  using Open = std::map<Key, uint32_t>;  // lives

  // The life that the event goes on with; where there is none, one from before the first event.
  uint32_t TakeOut(const TorchEvent& event, Open* open) {
    const auto life = open->extract({event.address, event.size});
    return life ? life.mapped() : Add({event.address, event.size, event.stream});
  }

  void Take(const TorchEvent& event, uint32_t index) {
    const Key key{event.address, event.size};
    if (event.action == TorchAction::kAlloc) {
      live_[key] = Add({event.address, event.size, event.stream, index});
    } else if (event.action == TorchAction::kFreeRequested) {
      const uint32_t life = TakeOut(event, &live_);
      lives_[life].free_requested = index;
      pending_[key] = life;
    } else if (event.action == TorchAction::kFreeCompleted) {
      lives_[TakeOut(event, &pending_)].free_completed = index;
    }
  }

  void TakeFinal(const TorchSegment& segment, uint32_t index) {
    const TorchBlock& block = snapshot_.blocks[index];
    if (block.state == TorchBlockState::kInactive) return;
    const Key key{block.address, block.requested_size};
    for (auto* open : {&live_, &pending_}) {
      const auto at = open->find(key);
      if (at == open->end()) continue;
      lives_[at->second].final_block = index;
      return;
    }
    Add({block.address, block.requested_size, segment.stream, {}, {}, {}, index});
  }

  // The allocation at a wrong address is the one that its own free, or its block at the end, lacks.
  void JoinLost() {
    const bool lacks_segments = std::ranges::any_of(lives_, [&](const RecordedLife& life) {
      return life.alloc && life.free_requested && Outside(life);
    });
    std::vector<uint32_t> candidates;  // by size
    for (uint32_t i = 0; i < lives_.size(); ++i) {
      if (!lives_[i].at_start() || (lacks_segments && Outside(lives_[i]))) continue;
      candidates.push_back(i);
    }
    by_address_.resize(lives_.size());
    std::iota(by_address_.begin(), by_address_.end(), 0u);
    std::ranges::sort(by_address_, {}, [&](uint32_t i) { return lives_[i].address; });
    const auto size_of = [&](uint32_t i) { return lives_[i].requested; };
    std::ranges::stable_sort(candidates, {}, size_of);
    std::vector<bool> gone(lives_.size());
    for (RecordedLife& life : lives_) {
      if (!life.lost() || (lacks_segments && Outside(life))) continue;
      const auto first = std::ranges::lower_bound(candidates, life.requested, {}, size_of);
      const auto last = std::ranges::upper_bound(candidates, life.requested, {}, size_of);
      const std::span<const uint32_t> same_size(first, last);
      const std::optional<uint32_t> end = LikelyEnd(life, same_size, gone);
      if (!end) continue;
      life.free_requested = lives_[*end].free_requested;
      life.free_completed = lives_[*end].free_completed;
      life.final_block = lives_[*end].final_block;
      life.repaired = true;
      gone[*end] = true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < lives_.size(); ++i) {
      if (!gone[i]) lives_[kept++] = lives_[i];
    }
    lives_.resize(kept);
  }

  bool Outside(const RecordedLife& life) const { return segments_.Find(life.address) == nullptr; }

  // The candidates that end after the life began, likeliest first: those that can't have been live
  // at the start, then the closest. The reading says which of them to take.
  std::optional<uint32_t> LikelyEnd(const RecordedLife& life, std::span<const uint32_t> candidates,
                                    const std::vector<bool>& gone) const {
    std::vector<std::pair<std::pair<bool, Bytes>, uint32_t>> ranked;
    for (const uint32_t i : candidates) {
      const RecordedLife& other = lives_[i];
      if (gone[i] || (other.free_requested && *other.free_requested < *life.alloc)) continue;
      const Bytes distance =
          std::max(life.address, other.address) - std::min(life.address, other.address);
      ranked.push_back({{!BornInside(other), distance}, i});
    }
    if (ranked.empty()) return std::nullopt;
    const auto nth = ranked.begin() + std::min<ptrdiff_t>(reading_, std::ssize(ranked) - 1);
    std::nth_element(ranked.begin(), nth, ranked.end());
    return nth->second;
  }

  // True if another block lay where this one did, earlier among the events.
  bool BornInside(const RecordedLife& life) const {
    auto at = std::ranges::lower_bound(by_address_, life.address, {},
                                       [&](uint32_t i) { return lives_[i].address; });
    for (; at != by_address_.end() && lives_[*at].address < life.address + life.requested; ++at) {
      const RecordedLife& other = lives_[*at];
      if (&other == &life) continue;
      const std::optional<uint32_t> seen = other.alloc ? other.alloc : other.free_requested;
      if (seen && (!life.free_requested || *seen < *life.free_requested)) return true;
    }
    return false;
  }

  const TorchSnapshot& snapshot_;
  size_t device_;
  const RecordedRanges& segments_;
  uint32_t reading_;
  std::vector<RecordedLife> lives_;
  std::vector<uint32_t> by_address_;
  Open live_;
  Open pending_;
};

std::string Hex(Address address) {
  char digits[17];
  const auto [end, error] = std::to_chars(digits, digits + 17, address, 16);
  return "0x" + std::string(digits, end);
}

// A block in use at the start.
struct StartBlock {
  Address address = 0;
  Bytes size = 0;
  bool exact = false;  // the size is the block's own, not rounded from the request
  LifeId life = 0;
};

// Why a segment's start can't be told; empty: it can.
using Why = std::string;

class StartFiller {
 public:
  StartFiller(const CachingConfig& config, std::span<const PoolHandle> no_split,
              std::span<const RecordedLife> lives, std::span<const TorchBlock> final_blocks,
              RewoundRanges* ranges)
      : config_(config),
        no_split_(no_split),
        lives_(lives),
        final_blocks_(final_blocks),
        ranges_(*ranges) {}

  RecordedStart Run() {
    GatherBlocks();
    ranges_.start.ForEach([&](Interval<Address> at, RecordedRange* range) {
      PassBlocks(at.begin);
      if (range->state == RangeState::kKnown) {
        Why why = FillRange(at, *range);
        if (!why.empty()) LeaveOut(range, std::move(why));
      }
      PassBlocks(at.end);
    });
    for (SegmentState& segment : out_.segments) {
      const SegmentState::Block& last = segment.blocks.back();
      AddUnmapped(&segment, last.address + last.size, segment.address + segment.size);
    }
    return std::move(out_);
  }

 private:
  auto AddressOf() const {
    return [this](LifeId life) { return lives_[life].address; };
  }

  void GatherBlocks() {
    for (LifeId life = 0; life < lives_.size(); ++life) {
      const RecordedLife& l = lives_[life];
      if (l.alloc && !l.repaired) allocated_.push_back(life);
      if (!l.at_start()) continue;
      const bool exact = l.final_block.has_value();
      const Bytes size =
          exact ? final_blocks_[*l.final_block].size : RoundRequest(config_, l.requested);
      blocks_.push_back({l.address, size, exact, life});
    }
    std::ranges::sort(blocks_, {}, &StartBlock::address);
    std::ranges::sort(allocated_, {}, AddressOf());
  }

  // A segment of its own; pages join the segment before them if they are of the same one.
  SegmentState& SegmentFor(Interval<Address> at, const RecordedRange& range) {
    SegmentState segment{.address = at.begin,
                         .size = at.size(),
                         .stream = range.stream,
                         .pool = range.pool,
                         .small = range.small,
                         .expandable = range.expandable};
    if (range.expandable) {
      const ExpandableSpace& space = SpaceOf(ranges_, range);
      const Bytes page = range.small ? config_.small_segment : config_.large_segment;
      segment.address = space.begin;
      segment.size = std::max(space.end - space.begin,
                              RoundUp(config_.device_memory + config_.device_memory / 8, page));
      const bool open = !out_.segments.empty() && out_.segments.back().expandable &&
                        out_.segments.back().address == segment.address;
      if (open) return out_.segments.back();
    }
    lives_before_ = out_.lives.size();
    return out_.segments.emplace_back(std::move(segment));
  }

  Why FillRange(Interval<Address> bytes, const RecordedRange& range) {
    SegmentState& segment = SegmentFor(bytes, range);
    const Address filled = segment.blocks.empty()
                               ? segment.address
                               : segment.blocks.back().address + segment.blocks.back().size;
    if (range.expandable) AddUnmapped(&segment, filled, bytes.begin);
    Address at = bytes.begin;
    const Address end = bytes.end;
    const size_t first = next_block_;
    for (; next_block_ < blocks_.size() && blocks_[next_block_].address < end; ++next_block_) {
      Why misplaced = Place(&segment, blocks_[next_block_], end, &at);
      if (!misplaced.empty()) return misplaced;
    }
    const bool last_exact = next_block_ > first && blocks_[next_block_ - 1].exact;
    return CloseGap(&segment, at, end, last_exact);
  }

  // The blocks up to an address aren't placed.
  void PassBlocks(Address end) {
    while (next_block_ < blocks_.size() && blocks_[next_block_].address < end) ++next_block_;
  }

  // Takes the last segment out again; of an expandable one all its pages.
  void LeaveOut(RecordedRange* range, Why why) {
    if (out_.why_unknown.empty()) out_.why_unknown = std::move(why);
    out_.lives.resize(lives_before_);
    out_.segments.pop_back();
    range->state = RangeState::kStartUnknown;
    if (range->expandable) LeaveOutSpace(&ranges_, *range);
  }

  void AddUnmapped(SegmentState* segment, Address begin, Address end) {
    if (begin < end) {
      segment->blocks.push_back({.address = begin, .size = end - begin, .mapped = false});
    }
  }

  Why Place(SegmentState* segment, const StartBlock& block, Address end, Address* at) {
    const RecordedLife& life = lives_[block.life];
    if (block.address < *at || block.size > end - block.address) {
      return Why("the block at " + Hex(block.address) + " overlaps another one");
    }
    const bool last_exact = next_block_ > 0 && blocks_[next_block_ - 1].exact;
    Why unclosed = CloseGap(segment, *at, block.address, last_exact);
    if (!unclosed.empty()) return unclosed;
    segment->blocks.push_back({.address = block.address,
                               .size = block.size,
                               .requested = life.requested,
                               .used = true,
                               .pending = !life.free_requested && life.free_completed.has_value()});
    out_.lives.push_back(block.life);
    *at = block.address + block.size;
    return {};
  }

  // In an expandable segment of a pool that is never split a block takes whole pages, of a free
  // stretch all of it: up to where another block was allocated while it lived.
  Address EndOfPages(SegmentState* segment, Address begin, Address end) {
    const Bytes page = segment->small ? config_.small_segment : config_.large_segment;
    const Address last = std::min(segment->address + RoundUp(begin - segment->address, page), end);
    const std::optional<uint32_t> freed = lives_[blocks_[next_block_ - 1].life].free_completed;
    Address taken = end;
    for (const RecordedLife& life : lives_) {
      const bool beside = life.alloc && (!freed || *life.alloc < *freed);
      if (beside && life.address >= last) taken = std::min(taken, life.address);
    }
    segment->blocks.back().size += taken - begin;
    return taken;
  }

  // How much of the bytes behind a block of the large pool is its own, as the first allocation
  // there shows that was made while it lived: that took the begin of what was free.
  Bytes ShownRest(LifeId block, Address begin, Address end) {
    const std::optional<uint32_t> freed = lives_[block].free_completed;
    std::optional<LifeId> first;
    for (auto at = std::ranges::lower_bound(allocated_, begin, {}, AddressOf());
         at != allocated_.end() && lives_[*at].address < end &&
         lives_[*at].address <= begin + config_.small_size;
         ++at) {
      const std::optional<uint32_t> alloc = lives_[*at].alloc;
      if (freed && *alloc > *freed) continue;
      if (!first || *alloc < *lives_[*first].alloc) first = *at;
    }
    if (!first || lives_[*first].address == begin) return 0;
    out_.shows_begin.push_back(*first);
    return lives_[*first].address - begin;
  }

  // The bytes between two blocks in use, or at a segment's end. In the large pool a rest of at most
  // 1 MiB isn't split off: it is part of the block before it.
  Why CloseGap(SegmentState* segment, Address begin, Address end, bool last_exact) {
    const bool after_oversize = !segment->blocks.empty() && segment->blocks.back().used &&
                                segment->blocks.back().size >= config_.max_split_size;
    const bool after_whole = !segment->blocks.empty() && segment->blocks.back().used &&
                             std::ranges::count(no_split_, segment->pool) > 0;
    if (after_whole && segment->expandable && !last_exact) begin = EndOfPages(segment, begin, end);
    const Bytes gap = end - begin;
    if (gap == 0) return {};
    const bool rest =
        !segment->expandable &&
        (after_whole || (!segment->small && (gap <= config_.small_size || after_oversize)));
    if (!rest) {
      const bool after_block = !segment->blocks.empty() && segment->blocks.back().used;
      if (after_block && !last_exact && !segment->small && !segment->expandable) {
        const Bytes unsplit = ShownRest(blocks_[next_block_ - 1].life, begin, end);
        segment->blocks.back().size += unsplit;
        begin += unsplit;
      }
      segment->blocks.push_back({.address = begin, .size = end - begin});
      return {};
    }
    if (segment->blocks.empty() || last_exact) {
      return Why("no block explains the " + std::to_string(gap) + " bytes at " + Hex(begin));
    }
    segment->blocks.back().size += gap;
    return {};
  }

  const CachingConfig& config_;
  std::span<const PoolHandle> no_split_;
  std::span<const RecordedLife> lives_;
  std::span<const TorchBlock> final_blocks_;
  RewoundRanges& ranges_;
  std::vector<StartBlock> blocks_;  // by address
  std::vector<LifeId> allocated_;   // among the events, by address
  size_t next_block_ = 0;
  size_t lives_before_ = 0;  // out_.lives of the segments before the last one
  RecordedStart out_;
};

}  // namespace

std::vector<RecordedLife> FindLives(const TorchSnapshot& snapshot, size_t device,
                                    const RecordedRanges& segments, uint32_t reading) {
  return Pairing(snapshot, device, segments, reading).Run();
}

RecordedStart FillStart(const CachingConfig& config, std::span<const PoolHandle> no_split,
                        std::span<const RecordedLife> lives,
                        std::span<const TorchBlock> final_blocks, RewoundRanges* ranges) {
  return StartFiller(config, no_split, lives, final_blocks, ranges).Run();
}

}  // namespace graphkit
