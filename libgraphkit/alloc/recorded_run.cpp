#include "libgraphkit/alloc/recorded_run.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <string_view>

#include "libgraphkit/alloc/recorded_lives.h"
#include "libgraphkit/alloc/recorded_ranges.h"

namespace graphkit {
namespace {

Error CannotRewind(std::string why) {
  return {.message = "the state before the first event can't be told: " + std::move(why),
          .hint = "record with a larger max_entries, or from the start of the program"};
}

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

class Rewinder {
 public:
  Rewinder(const TorchSnapshot& snapshot, size_t device, uint32_t reading)
      : snapshot_(snapshot), device_(device), lives_(FindLives(snapshot, device, reading)) {
    const Slice run = snapshot.devices[device];
    events_ = {snapshot.events.data() + run.first, run.count};
  }

  Result<RecordedRun> Run();

 private:
  void GatherBlocks();
  SegmentState& SegmentFor(Address address, const RecordedRange& range);
  Result<void> FillRange(Address address, const RecordedRange& range);
  Result<void> FillRanges();
  void AddUnmapped(SegmentState* segment, Address begin, Address end) const;
  Result<void> CheckCovered() const;
  Result<void> Place(SegmentState* segment, const StartBlock& block, Address end, Address* at);
  Result<void> CloseGap(SegmentState* segment, Address begin, Address end, bool last_exact);
  void Operations();
  PoolHandle PoolOf(const TorchEvent& event) const;

  const TorchSnapshot& snapshot_;
  size_t device_;
  std::vector<RecordedLife> lives_;
  std::span<const TorchEvent> events_;
  RewoundRanges ranges_;
  std::vector<StartBlock> blocks_;
  size_t next_block_ = 0;
  RecordedRun run_;
};

void Rewinder::GatherBlocks() {
  for (LifeId life = 0; life < lives_.size(); ++life) {
    const RecordedLife& l = lives_[life];
    if (!l.at_start()) continue;
    const bool exact = l.final_block.has_value();
    const Bytes size =
        exact ? snapshot_.blocks[*l.final_block].size : RoundRequest(run_.config, l.requested);
    blocks_.push_back({l.address, size, exact, life});
  }
  std::sort(blocks_.begin(), blocks_.end(),
            [](const StartBlock& a, const StartBlock& b) { return a.address < b.address; });
}

// What lies between two blocks in use, or at a segment's end. In the large pool a rest of at most
// 1 MiB isn't split off: it is part of the block before it.
Result<void> Rewinder::CloseGap(SegmentState* segment, Address begin, Address end,
                                bool last_exact) {
  const Bytes gap = end - begin;
  if (gap == 0) return {};
  const CachingConfig& config = run_.config;
  const bool after_oversize = !segment->blocks.empty() && segment->blocks.back().used &&
                              segment->blocks.back().size >= config.max_split_size;
  const bool rest =
      !segment->small && !segment->expandable && (gap <= config.small_size || after_oversize);
  if (!rest) {
    segment->blocks.push_back({.address = begin, .size = gap});
    return {};
  }
  if (segment->blocks.empty() || last_exact) {
    return CannotRewind("no block explains the " + std::to_string(gap) + " bytes at " + Hex(begin));
  }
  segment->blocks.back().size += gap;
  return {};
}

Result<void> Rewinder::Place(SegmentState* segment, const StartBlock& block, Address end,
                             Address* at) {
  const RecordedLife& life = lives_[block.life];
  if (block.address < *at || block.address + block.size > end) {
    return CannotRewind("the block at " + Hex(block.address) + " overlaps another one");
  }
  const bool last_exact = next_block_ > 0 && blocks_[next_block_ - 1].exact;
  Result<void> closed = CloseGap(segment, *at, block.address, last_exact);
  if (!closed) return closed;
  segment->blocks.push_back({.address = block.address,
                             .size = block.size,
                             .requested = life.requested,
                             .used = true,
                             .pending = !life.free_requested && life.free_completed.has_value()});
  run_.start_lives.push_back(block.life);
  *at = block.address + block.size;
  return {};
}

// A segment of its own; pages join the segment before them if they are of the same one.
SegmentState& Rewinder::SegmentFor(Address address, const RecordedRange& range) {
  SegmentState segment{.address = address,
                       .size = range.size,
                       .stream = range.stream,
                       .pool = range.pool,
                       .small = range.small,
                       .expandable = range.expandable};
  if (range.expandable) {
    segment.address = SpaceBegin(ranges_.ever, address, range);
    segment.size = SpaceSize(ranges_.ever, segment.address, range, run_.config);
    const bool open = !run_.start.empty() && run_.start.back().expandable &&
                      run_.start.back().address == segment.address;
    if (open) return run_.start.back();
  }
  return run_.start.emplace_back(std::move(segment));
}

void Rewinder::AddUnmapped(SegmentState* segment, Address begin, Address end) const {
  if (begin < end) {
    segment->blocks.push_back({.address = begin, .size = end - begin, .mapped = false});
  }
}

Result<void> Rewinder::FillRange(Address address, const RecordedRange& range) {
  SegmentState& segment = SegmentFor(address, range);
  const Address filled = segment.blocks.empty()
                             ? segment.address
                             : segment.blocks.back().address + segment.blocks.back().size;
  if (range.expandable) AddUnmapped(&segment, filled, address);
  Address at = address;
  const Address end = address + range.size;
  const size_t first = next_block_;
  for (; next_block_ < blocks_.size() && blocks_[next_block_].address < end; ++next_block_) {
    Result<void> placed = Place(&segment, blocks_[next_block_], end, &at);
    if (!placed) return placed;
  }
  const bool last_exact = next_block_ > first && blocks_[next_block_ - 1].exact;
  return CloseGap(&segment, at, end, last_exact);
}

Result<void> Rewinder::FillRanges() {
  for (const auto& [address, range] : ranges_.start) {
    if (next_block_ < blocks_.size() && blocks_[next_block_].address < address) break;
    Result<void> filled = FillRange(address, range);
    if (!filled) return filled;
  }
  if (next_block_ != blocks_.size()) {
    return CannotRewind("the block at " + Hex(blocks_[next_block_].address) +
                        " lies in no segment");
  }
  for (SegmentState& segment : run_.start) {
    const SegmentState::Block& last = segment.blocks.back();
    AddUnmapped(&segment, last.address + last.size, segment.address + segment.size);
  }
  return {};
}

// Every block lies in a segment that was there at some time.
Result<void> Rewinder::CheckCovered() const {
  for (const RecordedLife& life : lives_) {
    if (life.repaired) continue;
    const bool inside = RangeOf(ranges_.ever, life.address) != nullptr;
    if (!inside) return CannotRewind("the block at " + Hex(life.address) + " lies in no segment");
  }
  return {};
}

// Events of older snapshots don't name the pool; the segment that served them does.
PoolHandle Rewinder::PoolOf(const TorchEvent& event) const {
  if (event.pool != TorchEvent::kNoPool) return event.pool;
  if (run_.pools == 1) return 0;
  const auto* range = RangeOf(ranges_.ever, event.address);
  return range == nullptr ? 0 : range->second.pool;
}

void Rewinder::Operations() {
  using Kind = RecordedOperation::Kind;
  std::vector<LifeId> life_of(events_.size());
  for (LifeId life = 0; life < lives_.size(); ++life) {
    const RecordedLife& l = lives_[life];
    for (const auto& event : {l.alloc, l.free_requested, l.free_completed}) {
      if (event) life_of[*event] = life;
    }
    run_.recorded_addresses.push_back(l.address);
    run_.repaired += l.repaired;
  }
  const auto segment_kind = [](TorchAction action) -> std::optional<SegmentEvent::Kind> {
    switch (action) {
      case TorchAction::kSegmentAlloc:
        return SegmentEvent::Kind::kAllocate;
      case TorchAction::kSegmentFree:
        return SegmentEvent::Kind::kFree;
      case TorchAction::kSegmentMap:
        return SegmentEvent::Kind::kMap;
      case TorchAction::kSegmentUnmap:
        return SegmentEvent::Kind::kUnmap;
      default:
        return std::nullopt;
    }
  };
  for (uint32_t i = 0; i < events_.size(); ++i) {
    const TorchEvent& e = events_[i];
    if (const auto kind = segment_kind(e.action)) {
      run_.operations.push_back(
          {.kind = Kind::kSegment, .event = i, .segment = {*kind, e.address, e.size, e.stream}});
    } else if (e.action == TorchAction::kAlloc) {
      run_.operations.push_back({.kind = Kind::kAlloc,
                                 .event = i,
                                 .life = life_of[i],
                                 .size = e.size,
                                 .stream = e.stream,
                                 .pool = PoolOf(e),
                                 .segment = {}});
    } else if (e.action == TorchAction::kFreeRequested || e.action == TorchAction::kFreeCompleted) {
      const Kind kind =
          e.action == TorchAction::kFreeRequested ? Kind::kFreeRequested : Kind::kFreeCompleted;
      run_.operations.push_back({.kind = kind, .event = i, .life = life_of[i], .segment = {}});
    }
  }
}

Result<RecordedRun> Rewinder::Run() {
  run_.config = ConfigOf(snapshot_.settings);
  run_.pools = static_cast<uint32_t>(snapshot_.pools.size());
  run_.lives = static_cast<uint32_t>(lives_.size());
  ranges_ = RewindRanges(snapshot_, device_, run_.config);
  GatherBlocks();
  Result<void> filled = FillRanges();
  if (!filled) return filled.error();
  Result<void> covered = CheckCovered();
  if (!covered) return covered.error();
  Operations();
  return std::move(run_);
}

}  // namespace

CachingConfig ConfigOf(const TorchSettings& settings) {
  CachingConfig config;
  if (settings.max_split_size > 0)
    config.max_split_size = static_cast<Bytes>(settings.max_split_size);
  config.expandable_segments = settings.expandable_segments;
  config.garbage_collection_threshold = settings.garbage_collection_threshold;
  for (const auto& [megabytes, divisions] : settings.roundup_power2_divisions) {
    if (megabytes == 0) continue;
    const auto slot = static_cast<size_t>(std::bit_width(megabytes) - 1);
    if (slot < config.roundup_power2_divisions.size())
      config.roundup_power2_divisions[slot] = divisions;
  }
  constexpr std::string_view kLarge = "large_segment_size_mb:";
  const size_t at = settings.conf.find(kLarge);
  Bytes megabytes = 0;
  if (at != std::string::npos) {
    const char* begin = settings.conf.data() + at + kLarge.size();
    std::from_chars(begin, settings.conf.data() + settings.conf.size(), megabytes);
  }
  if (megabytes > 0) config.large_segment = megabytes << 20;
  return config;
}

Result<RecordedRun> RewindSnapshot(const TorchSnapshot& snapshot, size_t device, uint32_t reading) {
  if (device >= snapshot.devices.size())
    return Error{.message = "the snapshot has no device " + std::to_string(device)};
  return Rewinder(snapshot, device, reading).Run();
}

}  // namespace graphkit
