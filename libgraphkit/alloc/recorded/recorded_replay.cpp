#include "libgraphkit/alloc/recorded/recorded_replay.h"

#include <algorithm>
#include <deque>

namespace graphkit {
namespace {

using Kind = RecordedOperation::Kind;

// Answers as the recorded driver did.
class RecordedDriver final : public DriverMemory {
 public:
  void Expect(const RecordedOperation& operation) { due_.push_back(operation); }
  const std::deque<RecordedOperation>& due() const { return due_; }
  // Whether memory was given back next.
  bool GivesBack() const { return !due_.empty() && IsRelease(due_.front()); }
  static bool IsRelease(const RecordedOperation& operation) {
    return operation.segment.kind == SegmentEvent::Kind::kFree ||
           operation.segment.kind == SegmentEvent::Kind::kUnmap;
  }

  // What was recorded and the model didn't do.
  void Settle() {
    for (const RecordedOperation& left : due_) misses_.push_back(left.event);
    due_.clear();
  }
  void set_event(uint32_t event) { event_ = event; }
  uint64_t hits() const { return hits_; }
  std::vector<uint32_t> TakeMisses() { return std::move(misses_); }

  // Memory is refused when the recorded allocator gave some back before it got more.
  std::optional<Address> Allocate(Bytes size) override {
    if (GivesBack()) return std::nullopt;
    if (!due_.empty() && due_.front().segment.size == size) {
      const Address address = due_.front().segment.address;
      due_.pop_front();
      ++hits_;
      return address;
    }
    misses_.push_back(event_);
    return Reserve(size);
  }
  void Free(Address address, Bytes size) override {
    Match(SegmentEvent::Kind::kFree, address, size);
  }
  // Of an expandable segment the lowest page is mapped first.
  Address Reserve(Bytes size) override {
    if (!due_.empty() && due_.front().segment.kind == SegmentEvent::Kind::kMap) {
      return due_.front().segment.address;
    }
    const Address address = unrecorded_;
    unrecorded_ += RoundUp(size, Bytes{2} << 20);
    return address;
  }
  void Unreserve(Address, Bytes) override {}
  bool Map(Address address, Bytes size) override {
    if (GivesBack()) return false;
    Match(SegmentEvent::Kind::kMap, address, size);
    return true;
  }
  void Unmap(Address address, Bytes size) override {
    Match(SegmentEvent::Kind::kUnmap, address, size);
  }

 private:
  void Match(SegmentEvent::Kind kind, Address address, Bytes size) {
    const auto at = std::find_if(due_.begin(), due_.end(), [&](const RecordedOperation& op) {
      return op.segment.kind == kind && op.segment.address == address && op.segment.size == size;
    });
    if (at == due_.end()) {
      misses_.push_back(event_);
      return;
    }
    due_.erase(at);
    ++hits_;
  }

  std::deque<RecordedOperation> due_;  // recorded and not yet asked for
  std::vector<uint32_t> misses_;
  uint64_t hits_ = 0;
  uint32_t event_ = 0;
  Address unrecorded_ = Address{1} << 60;  // above every recorded address
};

class Replay {
 public:
  explicit Replay(const RecordedRun& run)
      : run_(run), allocator_(run.config, &driver_), handle_of_(run.lives, kNone) {
    out_.addresses.resize(run.lives);
    for (uint32_t pool = 1; pool < run.pools; ++pool) allocator_.CreatePool();
    size_t used = 0;
    for (const SegmentState& segment : run.start) {
      const std::vector<BlockHandle> handles = allocator_.AdoptSegment(segment);
      for (size_t i = 0; i < handles.size(); ++i) {
        if (segment.blocks[i].used) handle_of_[run.start_lives[used++]] = handles[i];
      }
    }
  }

  PredictedRun Run() {
    for (const RecordedOperation& operation : run_.operations) Take(operation);
    if (driver_.GivesBack()) EmptyCache();
    driver_.Settle();
    out_.segment_misses = driver_.TakeMisses();
    out_.segment_hits = driver_.hits();
    out_.statistics = allocator_.statistics();
    return std::move(out_);
  }

 private:
  static constexpr BlockHandle kNone = 0xffffffffu;

  void Take(const RecordedOperation& op) {
    if (op.kind == Kind::kSegment) {
      driver_.Expect(op);
      return;
    }
    driver_.set_event(op.event);
    if (op.kind == Kind::kAlloc) {
      Allocate(op);
      driver_.Settle();
      return;
    }
    if (!driver_.due().empty()) {
      EmptyCache();
      driver_.Settle();
    }
    if (handle_of_[op.life] == kNone) return;
    if (op.kind == Kind::kFreeRequested) allocator_.RequestFree(handle_of_[op.life]);
    if (op.kind == Kind::kFreeCompleted) allocator_.CompleteFree(handle_of_[op.life]);
  }

  // A private pool that gave memory back had no graph any more.
  void EmptyCache() {
    for (const RecordedOperation& due : driver_.due()) {
      if (due.pool != 0 && RecordedDriver::IsRelease(due)) allocator_.ReleasePool(due.pool);
    }
    allocator_.EmptyCache();
  }

  // Segments that were freed before an allocation: for lack of memory, if the allocation then had
  // to get another one; else torch.cuda.empty_cache was called, as torch.cuda.graph does before it
  // captures: in a capture nothing is freed for lack of memory.
  bool CacheWasEmptied(const AllocationRequest& request, PoolHandle pool) const {
    const auto& due = driver_.due();
    return driver_.GivesBack() &&
           (pool != 0 || RecordedDriver::IsRelease(due.back()) || allocator_.CanServe(request));
  }

  void Allocate(const RecordedOperation& op) {
    const AllocationRequest request{op.size, op.stream, 0};
    if (CacheWasEmptied(request, op.pool)) EmptyCache();
    if (op.pool) allocator_.BeginAllocateToPool(op.pool);
    const std::optional<BlockHandle> block = allocator_.Malloc(request);
    if (op.pool) allocator_.EndAllocateToPool(op.pool);
    if (!block) return;
    handle_of_[op.life] = *block;
    out_.addresses[op.life] = allocator_.address(*block);
  }

  const RecordedRun& run_;
  RecordedDriver driver_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> handle_of_;  // by life
  PredictedRun out_;
};

}  // namespace

PredictedRun ReplayRecorded(const RecordedRun& run) { return Replay(run).Run(); }

PredictionScore ComparePrediction(const RecordedRun& run, const PredictedRun& predicted) {
  PredictionScore score;
  score.not_judged = run.not_judged;
  for (const RecordedOperation& op : run.operations) {
    if (op.kind != Kind::kAlloc) continue;
    ++score.addresses;
    const Address recorded = run.recorded_addresses[op.life];
    const Address guess = predicted.addresses[op.life];
    if (recorded == guess) {
      ++score.addresses_hit;
    } else {
      score.misses.push_back({op.event, false, recorded, guess});
    }
  }
  for (const uint32_t event : predicted.segment_misses) score.misses.push_back({event, true, 0, 0});
  score.segments_hit = predicted.segment_hits;
  score.segments = predicted.segment_hits + predicted.segment_misses.size();
  std::stable_sort(
      score.misses.begin(), score.misses.end(),
      [](const PredictionMiss& a, const PredictionMiss& b) { return a.event < b.event; });
  return score;
}

namespace {

struct ScoredReading {
  PredictionScore score;
  bool explained = false;  // every miss is an allocation whose record is wrong
  bool pools_unknown = false;
};

// Of the ends that allocations with a wrong address may have, those that leave the least open.
Result<ScoredReading> BestEnds(const TorchSnapshot& snapshot, size_t device, bool guess_pools) {
  constexpr uint32_t kReadings = 64;
  const auto open = [](const PredictionScore& score) {
    return score.misses.size() + score.not_judged.events();
  };
  std::optional<ScoredReading> best;
  for (uint32_t ends = 0; ends < kReadings; ++ends) {
    const Result<RecordedRun> run =
        RewindSnapshot(snapshot, device, {.ends = ends, .guess_pools = guess_pools});
    if (!run) return run.error();
    PredictionScore score = ComparePrediction(*run, ReplayRecorded(*run));
    const bool explained = score.misses.size() <= run->repaired;
    if (!best || open(score) < open(best->score)) {
      best = {std::move(score), explained, run->pools_unknown};
    }
    if (run->repaired == 0 || (explained && best->score.not_judged.events() == 0)) break;
  }
  return std::move(*best);
}

}  // namespace

Result<PredictionScore> PredictRecorded(const TorchSnapshot& snapshot, size_t device) {
  Result<ScoredReading> guessed = BestEnds(snapshot, device, true);
  if (!guessed) return guessed.error();
  if (guessed->explained || !guessed->pools_unknown) return std::move(guessed->score);
  Result<ScoredReading> left_out = BestEnds(snapshot, device, false);
  if (!left_out) return left_out.error();
  const bool better = left_out->score.misses.size() < guessed->score.misses.size();
  return std::move(better ? left_out->score : guessed->score);
}

}  // namespace graphkit
