#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <deque>
#include <iterator>

namespace graphkit {
namespace {

using Told = PredictedRun::Told;

// The driver of a recorded run: answers the allocator's model as the real one answered then, and
// notes where the model asks for something else.
class RecordedDriver final : public DriverMemory {
 public:
  void Expect(const RecordedOperation& operation) { due_.push_back(operation); }
  const std::deque<RecordedOperation>& due() const { return due_; }
  // True if memory was given back next.
  bool GivesBack() const { return !due_.empty() && Unmaps(due_.front().action); }

  // Recorded operations that the model didn't make.
  void Settle() {
    for (const RecordedOperation& left : due_) {
      misses_.push_back({.event = left.event, .segment = true, .recorded = left.address});
    }
    due_.clear();
  }
  void set_event(uint32_t event) { event_ = event; }
  void set_exhausted(bool exhausted) { exhausted_ = exhausted; }  // it refuses all
  uint64_t hits() const { return hits_; }
  uint64_t told() const { return told_; }  // recorded, and nothing else tells it
  std::vector<PredictionMiss> TakeMisses() { return std::move(misses_); }

  // The recorded allocator gave memory back before it got more.
  bool Exhausted() const override { return GivesBack() || exhausted_; }
  std::optional<Address> Allocate(Bytes size) override {
    if (!due_.empty() && due_.front().size == size) {
      const Address address = due_.front().address;
      due_.pop_front();
      ++hits_;
      return address;
    }
    const Address address = Reserve(size);
    Miss(address);
    return address;
  }
  void Free(Address address, Bytes size) override {
    Match(TorchAction::kSegmentFree, address, size);
  }
  // Of an expandable segment the lowest page is mapped first.
  Address Reserve(Bytes size) override {
    if (!due_.empty() && due_.front().action == TorchAction::kSegmentMap) {
      return due_.front().address;
    }
    const Address address = unrecorded_;
    unrecorded_ += RoundUp(size, Bytes{2} << 20);
    return address;
  }
  bool Map(Address address, Bytes size) override {
    Match(TorchAction::kSegmentMap, address, size);
    return true;
  }
  void Unmap(Address address, Bytes size) override {
    Match(TorchAction::kSegmentUnmap, address, size);
  }
  bool Collected(std::span<const Address> segments) const override {
    return std::ranges::all_of(segments, [&](Address segment) { return IsFreed(segment); });
  }
  // Where all were, the model frees them whatever their ages are.
  std::vector<Address> CollectedOf(std::span<const Address> segments) override {
    std::vector<Address> collected;
    std::ranges::copy_if(segments, std::back_inserter(collected),
                         [&](Address segment) { return IsFreed(segment); });
    if (collected.size() < segments.size()) {
      told_ += collected.size();
      hits_ -= collected.size();  // what counting their frees adds
    }
    return collected;
  }

 private:
  bool IsFreed(Address segment) const {
    return std::ranges::any_of(due_, [&](const RecordedOperation& op) {
      return op.action == TorchAction::kSegmentFree && op.address == segment;
    });
  }
  // An operation of the model that wasn't recorded.
  void Miss(Address address) {
    misses_.push_back({.event = event_, .segment = true, .predicted = address});
  }
  void Match(TorchAction action, Address address, Bytes size) {
    const auto at = std::find_if(due_.begin(), due_.end(), [&](const RecordedOperation& op) {
      return op.action == action && op.address == address && op.size == size;
    });
    if (at == due_.end()) {
      Miss(address);
      return;
    }
    due_.erase(at);
    ++hits_;
  }

  std::deque<RecordedOperation> due_;  // recorded and not yet asked for
  std::vector<PredictionMiss> misses_;
  uint64_t hits_ = 0;
  uint64_t told_ = 0;
  uint32_t event_ = 0;
  bool exhausted_ = false;
  Address unrecorded_ = Address{1} << 60;  // above every recorded address
};

class Replay {
 public:
  explicit Replay(const RecordedRun& run)
      : run_(run), allocator_(run.config, &driver_), handle_of_(run.lives, kNone) {
    out_.addresses.resize(run.lives);
    out_.told.resize(run.lives);
    for (const LifeId life : run.shows_begin) out_.told[life] = Told::kWhereItBegins;
    allocator_.set_tie_breaker(
        [this](std::span<const Address> equals) { return OldestOf(equals); });
    for (PoolHandle pool = 1; pool < run.pools; ++pool) {
      allocator_.CreatePool({.no_split = std::ranges::count(run.no_split, pool) > 0});
    }
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
    GiveBack();
    driver_.Settle();
    out_.segment_misses = driver_.TakeMisses();
    out_.segment_hits = driver_.hits();
    out_.segments_told = driver_.told();
    return std::move(out_);
  }

 private:
  static constexpr BlockHandle kNone = 0xffffffffu;

  void Take(const RecordedOperation& op) {
    if (Maps(op.action) || Unmaps(op.action)) return driver_.Expect(op);
    driver_.set_event(op.event);
    const bool fails = op.action == TorchAction::kOom;
    if (fails || (op.action == TorchAction::kAlloc && !op.restores)) {
      driver_.set_exhausted(fails);
      Allocate(op);
      driver_.Settle();
      return;
    }
    GiveBack();
    driver_.Settle();
    if (op.restores) return Restore(op);
    if (handle_of_[op.life] == kNone) return;
    if (op.action == TorchAction::kFreeRequested) allocator_.RequestFree(handle_of_[op.life]);
    if (op.action == TorchAction::kFreeCompleted) allocator_.CompleteFree(handle_of_[op.life]);
  }

  // Takes in frees between two calls: of a pool that was destroyed, or of the whole cache.
  void GiveBack() {
    EmptyDestroyedPools(0);
    if (driver_.GivesBack()) allocator_.EmptyCache();
  }

  // A private pool that gave memory back is held by no graph any more, unless it gives some for
  // itself: then it is the one in use.
  void EmptyDestroyedPools(PoolHandle in_use) {
    for (const RecordedOperation& due : driver_.due()) {
      if (due.pool != 0 && due.pool != in_use && Unmaps(due.action)) {
        allocator_.ReleasePool(due.pool);
      }
    }
    size_t before = 0;
    while (driver_.GivesBack() && driver_.due().size() != before) {
      before = driver_.due().size();
      const PoolHandle pool = driver_.due().front().pool;
      if (pool == 0 || pool == in_use) break;
      allocator_.EmptyPool(pool);
    }
  }

  // Segments that were freed before an allocation: for lack of memory, if the allocation then had
  // to get another one; else torch.cuda.empty_cache was called, as torch.cuda.graph does before it
  // captures: in a capture nothing is freed for lack of memory but garbage and oversize segments.
  bool CacheWasEmptied(const AllocationRequest& request, const RecordedOperation& op) const {
    if (!driver_.GivesBack()) return false;
    const bool got_nothing = Unmaps(driver_.due().back().action);
    if (allocator_.CanServe(request) || (op.action == TorchAction::kAlloc && got_nothing))
      return true;
    return op.pool != 0 && driver_.Collected(allocator_.CachedSegments());
  }

  // True if a request can have failed in this pool: older files don't say in which it did.
  bool FailedHere(const AllocationRequest& request) const {
    if (allocator_.CanServe(request)) return false;
    return driver_.GivesBack() || allocator_.CachedSegments().empty();
  }

  // The file doesn't say which segment of the start is the oldest: what was taken is.
  Address OldestOf(std::span<const Address> equals) {
    const Address recorded = run_.recorded_addresses[now_->life];
    const bool known = now_->action != TorchAction::kAlloc || now_->restores ||
                       std::ranges::find(equals, recorded) == equals.end();
    if (known) return equals.front();
    out_.told[now_->life] = Told::kWhichBlock;
    return recorded;
  }

  // A block that an ordinary allocation would place there counts as ordinary.
  void Restore(const RecordedOperation& op) {
    now_ = &op;
    const Address address = run_.recorded_addresses[op.life];
    std::optional<BlockHandle> block;
    const AllocationRequest request{op.size, op.stream, op.pool};
    if (allocator_.CanServe(request)) block = allocator_.Malloc(request);
    if (block && (allocator_.address(*block) != address || allocator_.size(*block) != op.size)) {
      allocator_.Free(*block);
      block.reset();
    }
    if (!block) {
      out_.told[op.life] = Told::kWhichBlock;
      block = allocator_.Restore(address, op.size);
    }
    if (!block) return;
    handle_of_[op.life] = *block;
    out_.addresses[op.life] = address;
  }

  void Allocate(const RecordedOperation& op) {
    now_ = &op;
    const AllocationRequest request{op.size, op.stream, op.pool};
    EmptyDestroyedPools(op.pool);
    if (CacheWasEmptied(request, op)) allocator_.EmptyCache();
    std::optional<BlockHandle> block;
    const bool succeeds = op.action == TorchAction::kAlloc;
    if (succeeds || FailedHere(request)) block = allocator_.Malloc(request);
    // A MemPool gives back its oversize segments first, and then, unlike a capture, what is cached.
    if (!block && succeeds && !driver_.GivesBack()) block = allocator_.Malloc(request);
    if (!block || !succeeds) return;
    handle_of_[op.life] = *block;
    out_.addresses[op.life] = allocator_.address(*block);
  }

  const RecordedRun& run_;
  RecordedDriver driver_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> handle_of_;  // by life
  const RecordedOperation* now_ = nullptr;
  PredictedRun out_;
};

uint64_t& CountOf(const RecordedOperation& op, Told told, NotJudged* left) {
  if (op.restores) return left->restored;
  return told == Told::kWhichBlock ? left->age_unknown : left->size_unknown;
}

}  // namespace

PredictedRun ReplayRecorded(const RecordedRun& run) { return Replay(run).Run(); }

PredictionScore ComparePrediction(const RecordedRun& run, const PredictedRun& predicted) {
  PredictionScore score;
  score.not_judged = run.not_judged;
  score.not_judged.age_unknown += predicted.segments_told;
  for (const RecordedOperation& op : run.operations) {
    if (op.action != TorchAction::kAlloc) continue;
    if (predicted.told[op.life] != Told::kNothing) {
      ++CountOf(op, predicted.told[op.life], &score.not_judged);
      continue;
    }
    ++score.addresses;
    const Address recorded = run.recorded_addresses[op.life];
    const Address guess = predicted.addresses[op.life];
    if (recorded == guess) {
      ++score.addresses_hit;
    } else {
      score.misses.push_back({op.event, false, recorded, guess});
    }
  }
  score.misses.insert(score.misses.end(), predicted.segment_misses.begin(),
                      predicted.segment_misses.end());
  score.segments_hit = predicted.segment_hits;
  score.segments = predicted.segment_hits + predicted.segment_misses.size();
  std::ranges::stable_sort(score.misses, {}, &PredictionMiss::event);
  return score;
}

}  // namespace graphkit
