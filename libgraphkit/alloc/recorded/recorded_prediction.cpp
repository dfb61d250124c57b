// Picks the right reading of a file: the one that leaves the least unpredicted.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_run.h"

namespace graphkit {
namespace {

struct ScoredReading {
  PredictionScore score;
  std::vector<PoolHandle> missed_pools;  // private ones with a miss
  bool explained = false;                // every miss is an allocation whose record is wrong
  bool pools_unknown = false;
};

std::vector<PoolHandle> MissedPools(const RecordedRun& run, const PredictionScore& score) {
  std::vector<PoolHandle> pools;
  auto miss = score.misses.begin();
  for (const RecordedOperation& op : run.operations) {
    while (miss != score.misses.end() && miss->event < op.event) ++miss;
    if (miss == score.misses.end()) break;
    const bool missed = miss->event == op.event && op.pool != 0;
    if (missed && std::ranges::count(pools, op.pool) == 0) pools.push_back(op.pool);
  }
  return pools;
}

// Of the ends that allocations with a wrong address may have, those that leave the least open.
Result<ScoredReading> BestEnds(const TorchSnapshot& snapshot, size_t device,
                               RecordedReading reading) {
  constexpr uint32_t kReadings = 64;
  std::optional<ScoredReading> best;
  for (; reading.ends < kReadings; ++reading.ends) {
    const Result<RecordedRun> run = RewindSnapshot(snapshot, device, reading);
    if (!run) return run.error();
    PredictionScore score = ComparePrediction(*run, ReplayRecorded(*run));
    const bool explained = score.misses.size() <= run->repaired;
    if (!best || score.open() < best->score.open()) {
      std::vector<PoolHandle> pools = MissedPools(*run, score);
      best = {std::move(score), std::move(pools), explained, run->pools_unknown};
    }
    if (run->repaired == 0 || (explained && best->score.not_judged.events() == 0)) break;
  }
  return std::move(*best);
}

// No file says that a pool's blocks are never split, but what it does then tells it from others.
// Takes the pools one by one, the first that was missed first, as long as that explains misses.
Result<ScoredReading> BestPools(const TorchSnapshot& snapshot, size_t device, ScoredReading first,
                                RecordedReading* reading) {
  ScoredReading best = std::move(first);
  for (size_t i = 0; !best.explained && i < best.missed_pools.size();) {
    const PoolHandle pool = best.missed_pools[i++];
    if (std::ranges::count(reading->no_split, pool) > 0) continue;
    RecordedReading other = *reading;
    other.no_split.push_back(pool);
    Result<ScoredReading> next = BestEnds(snapshot, device, other);
    if (!next) return next;
    if (next->score.misses.size() >= best.score.misses.size()) continue;
    best = std::move(*next);
    *reading = std::move(other);
    i = 0;
  }
  return best;
}

// By which event the memory was given back that lay at the address; none: it stayed, or the event
// says to which pool.
std::optional<uint32_t> GivenBackBy(std::span<const TorchEvent> events, uint32_t from,
                                    Address address) {
  for (uint32_t i = from; i < events.size(); ++i) {
    const TorchEvent& e = events[i];
    if (!Unmaps(e.action) || address - e.address >= e.size) continue;
    return e.pool == TorchEvent::kNoPool ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

// Gives what can't have been the default pool's to others, one after the other: to a pool that was
// deduced before, where that explains it as well, else to a new one. What is split into more pools
// than there were is predicted right all the same: the best block of all is the best of fewer.
// A range that is missed even alone is left out.
class PoolFinder {
 public:
  PoolFinder(const TorchSnapshot& snapshot, size_t device, RecordedReading* reading)
      : snapshot_(snapshot), device_(device), reading_(*reading) {
    const Slice run = snapshot.devices[device];
    events_ = {snapshot.events.data() + run.first, run.count};
    named_ = static_cast<PoolHandle>(snapshot.pools.size());
  }

  Result<ScoredReading> Find(ScoredReading read) {
    for (size_t moves = 0; !read.explained && moves < kMoves; ++moves) {
      const std::optional<uint32_t> suspect = Suspect(read.score.misses);
      if (!suspect) break;
      Result<ScoredReading> next = Move(*suspect, read.score.misses.front().event);
      if (!next) return next;
      read = std::move(*next);
    }
    return read;
  }

 private:
  static constexpr size_t kMoves = 200;
  static constexpr uint32_t kJoins = 150;  // that are tried
  static constexpr uint32_t kLatest = 4;   // pools that one may join

  // A range given back that may have been another pool's, as the first misses show.
  std::optional<uint32_t> Suspect(std::span<const PredictionMiss> misses) const {
    if (const auto back = GivenBackAlone(misses)) return back;
    for (const PredictionMiss& miss : misses) {
      for (const Address address : {miss.recorded, miss.predicted}) {
        const auto back = GivenBackBy(events_, miss.event, address);
        if (back && PoolOf(*back) != PoolGuess::kUnknown) return back;
      }
    }
    return std::nullopt;
  }

  // Where the model emptied the cache of more than was given back, only a pool that had gone gave
  // something back.
  std::optional<uint32_t> GivenBackAlone(std::span<const PredictionMiss> misses) const {
    const uint32_t event = misses.front().event;
    const auto only_model = [&](const PredictionMiss& miss) {
      return miss.event == event && miss.segment && miss.recorded == 0;
    };
    const auto emptied = std::ranges::count_if(misses, only_model);
    std::optional<uint32_t> back;
    uint32_t first = event;
    for (; first > 0 && events_[first - 1].action == TorchAction::kSegmentFree; --first) {
      if (PoolOf(first - 1) == 0) back = first - 1;
    }
    return emptied >= event - first ? back : std::nullopt;
  }

  PoolHandle PoolOf(uint32_t back) const {
    const auto at = reading_.pools.of.find(back);
    return at == reading_.pools.of.end() ? 0 : at->second;
  }

  bool IsAlone(PoolHandle pool) const {
    const auto pool_of = [](const auto& entry) { return entry.second; };
    return pool != 0 && std::ranges::count(reading_.pools.of, pool, pool_of) == 1;
  }

  Result<ScoredReading> Move(uint32_t suspect, uint32_t missed_at) {
    PoolGuess& pools = reading_.pools;
    const PoolHandle before = PoolOf(suspect);
    if (IsAlone(before)) {
      pools.of[suspect] = PoolGuess::kUnknown;
      return BestEnds(snapshot_, device_, reading_);
    }
    const uint32_t oldest = pools.deduced > kLatest ? pools.deduced - kLatest : 0;
    for (uint32_t i = pools.deduced; before == 0 && i-- > oldest && joins_ < kJoins; ++joins_) {
      pools.of[suspect] = named_ + i;
      Result<ScoredReading> joined = BestEnds(snapshot_, device_, reading_);
      if (!joined) return joined;
      if (joined->explained || joined->score.misses.front().event > missed_at) return joined;
    }
    pools.of[suspect] = named_ + pools.deduced++;
    return BestEnds(snapshot_, device_, reading_);
  }

  const TorchSnapshot& snapshot_;
  size_t device_;
  RecordedReading& reading_;
  std::span<const TorchEvent> events_;
  PoolHandle named_ = 0;  // pools that the file names
  uint32_t joins_ = 0;
};

// The readings of files that say, and that don't say, to which pool memory was given back.
Result<ScoredReading> ReadNamed(const TorchSnapshot& snapshot, size_t device,
                                RecordedReading reading) {
  Result<ScoredReading> read = BestEnds(snapshot, device, reading);
  if (!read || read->pools_unknown) return read;
  return BestPools(snapshot, device, std::move(*read), &reading);
}

Result<ScoredReading> ReadUnnamed(const TorchSnapshot& snapshot, size_t device,
                                  const ScoredReading& first, RecordedReading reading) {
  Result<ScoredReading> read = PoolFinder(snapshot, device, &reading).Find(first);
  if (!read || read->explained) return read;
  return BestPools(snapshot, device, std::move(*read), &reading);
}

}  // namespace

Result<PredictionScore> PredictRecorded(const TorchSnapshot& snapshot, size_t device) {
  using Ties = CachingConfig::Ties;
  std::optional<ScoredReading> best;
  Ties ties_of_best = Ties::kLowest;
  const auto take = [&](Result<ScoredReading> read, Ties ties) -> Result<void> {
    if (!read) return read.error();
    if (best && read->score.misses.size() >= best->score.misses.size()) return {};
    best = std::move(*read);
    ties_of_best = ties;
    return {};
  };
  for (const Ties ties : {Ties::kLowest, Ties::kOldestSegment}) {
    if (best && best->explained) break;
    const auto taken = take(ReadNamed(snapshot, device, {.ties = ties}), ties);
    if (!taken) return taken.error();
  }
  if (best->explained || !best->pools_unknown) return std::move(best->score);
  RecordedReading reading{.ties = ties_of_best};
  auto taken = take(ReadUnnamed(snapshot, device, *best, reading), reading.ties);
  if (!taken) return taken.error();
  if (best->explained) return std::move(best->score);
  reading.pools = {.default_pool = false};
  taken = take(BestEnds(snapshot, device, reading), reading.ties);
  if (!taken) return taken.error();
  return std::move(best->score);
}

}  // namespace graphkit
