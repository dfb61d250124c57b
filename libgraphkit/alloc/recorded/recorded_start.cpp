#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "libgraphkit/alloc/recorded/recorded_run.h"

namespace graphkit {
namespace {

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
    for (auto& [address, range] : ranges_.start) {
      PassBlocks(address);
      if (range.size == 0) continue;
      if (range.state == RangeState::kKnown) {
        Why why = FillRange(address, range);
        if (!why.empty()) LeaveOut(&range, std::move(why));
      }
      PassBlocks(address + range.size);
    }
    for (SegmentState& segment : out_.segments) {
      const SegmentState::Block& last = segment.blocks.back();
      AddUnmapped(&segment, last.address + last.size, segment.address + segment.size);
    }
    return std::move(out_);
  }

 private:
  void GatherBlocks() {
    for (LifeId life = 0; life < lives_.size(); ++life) {
      const RecordedLife& l = lives_[life];
      if (!l.at_start()) continue;
      const bool exact = l.final_block.has_value();
      const Bytes size =
          exact ? final_blocks_[*l.final_block].size : RoundRequest(config_, l.requested);
      blocks_.push_back({l.address, size, exact, life});
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const StartBlock& a, const StartBlock& b) { return a.address < b.address; });
  }

  // A segment of its own; pages join the segment before them if they are of the same one.
  SegmentState& SegmentFor(Address address, const RecordedRange& range) {
    SegmentState segment{.address = address,
                         .size = range.size,
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

  Why FillRange(Address address, const RecordedRange& range) {
    SegmentState& segment = SegmentFor(address, range);
    const Address filled = segment.blocks.empty()
                               ? segment.address
                               : segment.blocks.back().address + segment.blocks.back().size;
    if (range.expandable) AddUnmapped(&segment, filled, address);
    Address at = address;
    const Address end = address + range.size;
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
        out_.unsure_begins.push_back(begin);
      }
      segment->blocks.push_back({.address = begin, .size = gap});
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
  size_t next_block_ = 0;
  size_t lives_before_ = 0;  // out_.lives of the segments before the last one
  RecordedStart out_;
};

}  // namespace

RecordedStart FillStart(const CachingConfig& config, std::span<const PoolHandle> no_split,
                        std::span<const RecordedLife> lives,
                        std::span<const TorchBlock> final_blocks, RewoundRanges* ranges) {
  return StartFiller(config, no_split, lives, final_blocks, ranges).Run();
}

}  // namespace graphkit
