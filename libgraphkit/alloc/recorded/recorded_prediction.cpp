// Which reading of a file is the right one: the one that leaves the least unpredicted.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_replay.h"

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
    const bool back =
        e.action == TorchAction::kSegmentFree || e.action == TorchAction::kSegmentUnmap;
    if (!back || address - e.address >= e.size) continue;
    return e.pool == TorchEvent::kNoPool ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

// What was given back and may have been another pool's, as the first miss shows.
std::optional<uint32_t> Suspect(std::span<const TorchEvent> events, const PredictionMiss& miss) {
  const auto there = GivenBackBy(events, miss.event, miss.recorded);
  return there ? there : GivenBackBy(events, miss.event, miss.predicted);
}

// Leaves out one after the other what can't have been the default pool's.
Result<ScoredReading> LeaveOutSuspects(const TorchSnapshot& snapshot, size_t device,
                                       ScoredReading first, RecordedReading* reading) {
  constexpr size_t kAtMost = 100;
  const Slice run = snapshot.devices[device];
  const std::span<const TorchEvent> events(snapshot.events.data() + run.first, run.count);
  ScoredReading read = std::move(first);
  while (!read.explained && reading->pools.but.size() < kAtMost) {
    const std::optional<uint32_t> suspect = Suspect(events, read.score.misses.front());
    if (!suspect || std::ranges::count(reading->pools.but, *suspect) > 0) break;
    reading->pools.but.push_back(*suspect);
    Result<ScoredReading> next = BestEnds(snapshot, device, *reading);
    if (!next) return next.error();
    read = std::move(*next);
  }
  return read;
}

// The readings of files that say, and that don't say, to which pool memory was given back.
Result<ScoredReading> ReadNamed(const TorchSnapshot& snapshot, size_t device,
                                RecordedReading reading) {
  Result<ScoredReading> read = BestEnds(snapshot, device, reading);
  if (!read || read->pools_unknown) return read;
  return BestPools(snapshot, device, std::move(*read), &reading);
}

Result<ScoredReading> ReadUnnamed(const TorchSnapshot& snapshot, size_t device,
                                  const ScoredReading& first, RecordedReading reading) {
  Result<ScoredReading> read = LeaveOutSuspects(snapshot, device, first, &reading);
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
