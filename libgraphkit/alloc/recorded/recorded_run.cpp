#include "libgraphkit/alloc/recorded/recorded_run.h"

namespace graphkit {
namespace {

bool OfSegment(const TorchEvent& event) { return Maps(event.action) || Unmaps(event.action); }

class Rewinder {
 public:
  Rewinder(const TorchSnapshot& snapshot, size_t device, const RecordedReading& reading)
      : snapshot_(snapshot), device_(device), reading_(reading) {
    const Slice run = snapshot.devices[device];
    events_ = {snapshot.events.data() + run.first, run.count};
  }

  RecordedRun Run() {
    run_.config = ConfigOf(snapshot_.settings);
    run_.config.ties = reading_.ties;
    run_.pools = static_cast<uint32_t>(snapshot_.pools.size()) + reading_.pools.deduced;
    run_.no_split = reading_.no_split;
    ranges_ = RewindRanges(snapshot_, device_, run_.config, reading_.pools);
    lives_ = FindLives(snapshot_, device_, ranges_.ever, reading_.ends);
    run_.lives = static_cast<uint32_t>(lives_.size());
    run_.pools_unknown = ranges_.pools_unknown;
    NumberLives();
    LeaveOutTorn();
    TakeStart();
    Operations();
    return std::move(run_);
  }

 private:
  // Of a life: whether its events are among the operations, else why not.
  enum class Standing : uint8_t { kJudged, kInNoSegment, kStartUnknown, kPoolUnknown };

  void NumberLives() {
    life_of_.resize(events_.size());
    for (LifeId life = 0; life < lives_.size(); ++life) {
      const RecordedLife& l = lives_[life];
      for (const auto& event : {l.alloc, l.free_requested, l.free_completed}) {
        if (event) life_of_[*event] = life;
      }
      run_.recorded_addresses.push_back(l.address);
      run_.repaired += l.repaired;
    }
    standing_.resize(lives_.size());
  }

  // A block that lies in no segment, in a run with expandable ones, lay in pages
  // of it that the file lacks: what else happened in its address space can't be told.
  void LeaveOutTorn() {
    if (!run_.config.expandable_segments) return;
    const auto torn = [&](const RecordedLife& life, PoolHandle first, PoolHandle last) {
      const bool small = RoundRequest(run_.config, life.requested) <= run_.config.small_size;
      for (PoolHandle pool = first; pool <= last; ++pool) {
        const RecordedRange pages{
            .stream = life.stream, .pool = pool, .small = small, .expandable = true};
        if (!IsLeftOut(ranges_, pages)) LeaveOutSpace(&ranges_, pages);
      }
    };
    now_ = ranges_.start;
    for (const RecordedLife& life : lives_) {
      if (life.at_start() && now_.Find(life.address) == nullptr) torn(life, 0, run_.pools - 1);
    }
    for (uint32_t i = 0; i < events_.size(); ++i) {
      const TorchEvent& e = events_[i];
      if (OfSegment(e)) {
        MoveOn(e, i);
      } else if (e.action == TorchAction::kAlloc && !lives_[life_of_[i]].repaired &&
                 now_.Find(e.address) == nullptr) {
        const bool said = e.pool != TorchEvent::kNoPool;
        torn(lives_[life_of_[i]], said ? e.pool : 0, said ? e.pool : run_.pools - 1);
      }
    }
  }

  void TakeStart() {
    RecordedStart start = FillStart(run_.config, run_.no_split, lives_, snapshot_.blocks, &ranges_);
    run_.start = std::move(start.segments);
    run_.start_lives = std::move(start.lives);
    run_.shows_begin = std::move(start.shows_begin);
    run_.not_judged.why_unknown = std::move(start.why_unknown);
    for (LifeId life = 0; life < lives_.size(); ++life) {
      if (!lives_[life].at_start()) continue;
      standing_[life] = StandingOf(ranges_.start.Find(lives_[life].address));
    }
  }

  void Operations() {
    now_ = ranges_.start;
    for (uint32_t i = 0; i < events_.size(); ++i) {
      const TorchEvent& e = events_[i];
      if (OfSegment(e)) {
        const PoolHandle pool = PoolOf(e);
        if (Judged(MoveOn(e, i))) Add(e, i, 0, pool);
      } else if (e.action == TorchAction::kAlloc || e.action == TorchAction::kFreeRequested ||
                 e.action == TorchAction::kFreeCompleted) {
        TakeBlock(e, i, life_of_[i]);
      } else if (e.action == TorchAction::kOom) {
        Add(e, i, 0, e.pool != TorchEvent::kNoPool ? e.pool : PoolHandle{0});
      }
    }
  }

  void Add(const TorchEvent& e, uint32_t index, LifeId life, PoolHandle pool,
           bool restores = false) {
    run_.operations.push_back({e.action, restores, index, life, e.size, e.stream, pool,
                               OfSegment(e) ? e.address : Address{0}});
  }

  // Applies the event to the present ranges; returns how it is judged.
  Standing MoveOn(const TorchEvent& event, uint32_t index) {
    Standing standing = Standing::kJudged;
    if (Maps(event.action)) {
      RecordedRange range = ranges_.got.at(index);
      if (IsLeftOut(ranges_, range)) range.state = RangeState::kStartUnknown;
      AddRange(&now_, RangeOf(event), range);
      return StandingOf(now_.Find(event.address));
    }
    if (const auto* range = now_.Find(event.address)) standing = StandingOf(range);
    now_.Remove(RangeOf(event));
    return standing;
  }

  // An allocation whose address is repaired lies where its end was recorded, which isn't known to
  // be anywhere else.
  void TakeBlock(const TorchEvent& event, uint32_t index, LifeId life) {
    const bool alloc = event.action == TorchAction::kAlloc;
    if (alloc && !lives_[life].repaired) {
      standing_[life] = StandingOf(now_.Find(event.address));
    }
    if (!Judged(standing_[life])) return;
    if (alloc && index >= restored_until_) restored_until_ = RestoredUntil(index);
    Add(event, index, life, alloc ? PoolOf(event) : 0, alloc && index < restored_until_);
  }

  // A private pool's checkpoint is restored segment by segment: all blocks of a segment that is
  // free are allocated, one after the other, from its begin to its end, whatever their sizes are;
  // then those are freed that are free in the checkpoint. Returns the event after the last
  // allocation; the event itself where nothing shows that it isn't an ordinary one.
  //
  //   segment  |  A  | B |   C   |    events  alloc A, B, C   free A, C   alloc D, …
  uint32_t RestoredUntil(uint32_t index) const {
    uint32_t until = index;
    bool shown = false;
    std::vector<Bytes> whole;  // segments of a single block that were freed again
    for (uint32_t at = index; at < events_.size();) {
      const auto* range = now_.FindEntry(events_[at].address);
      const uint32_t filled = FilledUntil(at, range);
      if (filled == at) break;
      const Bytes last = events_[filled - 1].size;
      const bool too_large = range->value.small && last > run_.config.small_size;
      const bool single = filled == at + 1;
      shown = shown || too_large || !single || std::ranges::count(whole, last) > 0;
      until = filled;
      at = FreesUntil(filled, range);
      if (single && at > filled) whole.push_back(last);
    }
    return shown ? until : index;
  }

  // The event after those that allocate all of a private pool's range in order, or its first pages:
  // an expandable segment may have had fewer then. `index`: there are no such.
  uint32_t FilledUntil(uint32_t index, const RecordedRanges::Entry* range) const {
    const bool fresh = index > 0 && OfSegment(events_[index - 1]);
    if (range == nullptr || range->value.pool == 0 || fresh) return index;
    const auto& [bytes, pages] = *range;
    const Bytes page = pages.small ? run_.config.small_segment : run_.config.large_segment;
    uint32_t until = index;
    Address at = bytes.begin;
    for (uint32_t i = index; i < events_.size() && at < bytes.end;) {
      const TorchEvent& e = events_[i++];
      if (e.action != TorchAction::kAlloc || e.address != at) break;
      at += e.size;
      const bool whole_pages = pages.expandable && (at - bytes.begin) % page == 0;
      if (whole_pages || at == bytes.end) until = i;
    }
    return until;
  }

  // The event after the frees in the range that follow.
  uint32_t FreesUntil(uint32_t index, const RecordedRanges::Entry* range) const {
    const auto frees = [&](const TorchEvent& e) {
      const bool free =
          e.action == TorchAction::kFreeRequested || e.action == TorchAction::kFreeCompleted;
      return free && now_.FindEntry(e.address) == range;
    };
    while (index < events_.size() && frees(events_[index])) ++index;
    return index;
  }

  // Counts the event when it isn't.
  bool Judged(Standing standing) {
    NotJudged& left = run_.not_judged;
    left.in_no_segment += standing == Standing::kInNoSegment;
    left.start_unknown += standing == Standing::kStartUnknown;
    left.pool_unknown += standing == Standing::kPoolUnknown;
    return standing == Standing::kJudged;
  }

  Standing StandingOf(const RecordedRange* range) {
    if (range == nullptr) return Standing::kInNoSegment;
    switch (range->state) {
      case RangeState::kStartUnknown:
        return Standing::kStartUnknown;
      case RangeState::kPoolUnknown:
        return Standing::kPoolUnknown;
      default:
        return Standing::kJudged;
    }
  }

  // Events of older snapshots don't name the pool; the segment that served them does.
  PoolHandle PoolOf(const TorchEvent& event) const {
    if (event.pool != TorchEvent::kNoPool) return event.pool;
    const auto* range = now_.Find(event.address);
    return range == nullptr ? 0 : range->pool;
  }

  const TorchSnapshot& snapshot_;
  size_t device_;
  RecordedReading reading_;
  std::vector<RecordedLife> lives_;
  std::span<const TorchEvent> events_;
  RewoundRanges ranges_;
  RecordedRanges now_;              // at the event that is being taken
  uint32_t restored_until_ = 0;     // the event after what RestoredUntil found last
  std::vector<LifeId> life_of_;     // by event
  std::vector<Standing> standing_;  // by life
  RecordedRun run_;
};

}  // namespace

Result<RecordedRun> RewindSnapshot(const TorchSnapshot& snapshot, size_t device,
                                   const RecordedReading& reading) {
  if (device >= snapshot.devices.size())
    return Error{.message = "the snapshot has no device " + std::to_string(device)};
  return Rewinder(snapshot, device, reading).Run();
}

}  // namespace graphkit
