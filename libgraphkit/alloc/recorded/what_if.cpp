#include "libgraphkit/alloc/recorded/recorded_run.h"

#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {
namespace {

class ChangedRun {
 public:
  ChangedRun(const RecordedRun& run, const CachingConfig& config, std::optional<Bytes> capacity)
      : run_(run),
        driver_(capacity.value_or(~Bytes{0})),
        allocator_(Limited(config, capacity), &driver_),
        handle_of_(run.lives, kNone) {
    for (uint32_t pool = 1; pool < run.pools; ++pool) allocator_.CreatePool();
  }

  AllocatorOutcome Run() {
    AllocateStart();
    for (const RecordedOperation& operation : run_.operations) Take(operation);
    GiveBack();
    const AllocatorStatistics& statistics = allocator_.statistics();
    return {.peak_reserved = statistics.peak_reserved,
            .reserved_at_end = statistics.reserved,
            .peak_in_use = statistics.peak_active,
            .segments = statistics.segment_allocations,
            .failures = statistics.ooms};
  }

 private:
  static constexpr BlockHandle kNone = 0xffffffffu;

  static CachingConfig Limited(CachingConfig config, std::optional<Bytes> capacity) {
    config.memory_limit = capacity;
    return config;
  }

  std::optional<BlockHandle> Malloc(Bytes size, uint64_t stream, PoolHandle pool) {
    return allocator_.Malloc({std::max<Bytes>(size, 1), stream, pool});
  }

  void AllocateStart() {
    size_t used = 0;
    for (const SegmentState& segment : run_.start) {
      for (const SegmentState::Block& block : segment.blocks) {
        if (!block.used) continue;
        const LifeId life = run_.start_lives[used++];
        const auto handle = Malloc(block.requested, segment.stream, segment.pool);
        if (!handle) continue;
        handle_of_[life] = *handle;
        if (block.pending) allocator_.RequestFree(*handle);
      }
    }
  }

  void GiveBack() {
    for (const PoolHandle pool : gave_back_) {
      if (pool == 0) continue;
      allocator_.ReleasePool(pool);
      allocator_.EmptyPool(pool);
    }
    if (std::ranges::find(gave_back_, PoolHandle{0}) != gave_back_.end()) allocator_.EmptyCache();
    gave_back_.clear();
  }

  void Take(const RecordedOperation& op) {
    if (Unmaps(op.action)) gave_back_.push_back(op.pool);
    if (Maps(op.action) || Unmaps(op.action)) return;
    GiveBack();
    if (op.action == TorchAction::kFreeRequested || op.action == TorchAction::kFreeCompleted) {
      const BlockHandle block = handle_of_[op.life];
      if (block == kNone) return;
      op.action == TorchAction::kFreeRequested ? allocator_.RequestFree(block)
                                               : allocator_.CompleteFree(block);
      return;
    }
    const auto block = Malloc(op.size, op.stream, op.pool);
    if (!block) return;
    if (op.action == TorchAction::kOom) return allocator_.Free(*block);
    handle_of_[op.life] = *block;
  }

  const RecordedRun& run_;
  BumpDriver driver_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> handle_of_;  // by life
  std::vector<PoolHandle> gave_back_;   // pools of what was given back since the last call
};

// Sums over the events of a device, from what there is at the end.
struct RecordedSums {
  AllocatorOutcome outcome;
  std::optional<Bytes> capacity;  // as failures show
};

int64_t ReservedBy(const TorchEvent& event) {
  const auto size = static_cast<int64_t>(event.size);
  return Maps(event.action) ? size : Unmaps(event.action) ? -size : 0;
}

int64_t UsedBy(const TorchEvent& event) {
  const auto size = static_cast<int64_t>(RoundUp(event.size, kBlockGranularity));
  if (event.action == TorchAction::kAlloc) return size;
  return event.action == TorchAction::kFreeCompleted ? -size : 0;
}

RecordedSums SumRecorded(const TorchSnapshot& snapshot, size_t device) {
  const Slice slice = snapshot.devices[device];
  const std::span<const TorchEvent> events(snapshot.events.data() + slice.first, slice.count);
  int64_t reserved = 0, used = 0;
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device != static_cast<int32_t>(device)) continue;
    reserved += static_cast<int64_t>(segment.total_size);
    for (uint32_t i = 0; i < segment.blocks.count; ++i) {
      const TorchBlock& block = snapshot.blocks[segment.blocks.first + i];
      if (block.state == TorchBlockState::kInactive) continue;
      used += static_cast<int64_t>(RoundUp(block.requested_size, kBlockGranularity));
    }
  }
  RecordedSums sums;
  sums.outcome.reserved_at_end = static_cast<Bytes>(reserved);
  for (const TorchEvent& event : events) {
    reserved -= ReservedBy(event);
    used -= UsedBy(event);
  }
  int64_t peak_reserved = reserved, peak_used = used;
  for (const TorchEvent& event : events) {
    peak_reserved = std::max(peak_reserved, reserved += ReservedBy(event));
    peak_used = std::max(peak_used, used += UsedBy(event));
    sums.outcome.segments += ReservedBy(event) > 0;
    if (event.action != TorchAction::kOom) continue;
    ++sums.outcome.failures;
    const auto held = static_cast<Bytes>(std::max<int64_t>(reserved, 0));
    const Bytes more = event.address < event.size ? event.address : 0;  // else a limit refused it
    sums.capacity = std::max(sums.capacity.value_or(0), held + more);
  }
  sums.outcome.peak_reserved = static_cast<Bytes>(std::max<int64_t>(peak_reserved, 0));
  if (sums.capacity) sums.capacity = std::max(*sums.capacity, sums.outcome.peak_reserved);
  sums.outcome.peak_in_use = static_cast<Bytes>(std::max<int64_t>(peak_used, 0));
  return sums;
}

}  // namespace

Result<WhatIf> ReplayWhatIf(const TorchSnapshot& snapshot, size_t device,
                            std::span<const std::string> settings, std::optional<Bytes> capacity) {
  const Result<RecordedRun> run = RewindSnapshot(snapshot, device);
  if (!run) return run.error();
  const RecordedSums sums = SumRecorded(snapshot, device);
  WhatIf result{.device = device,
                .recorded_settings = snapshot.settings.conf,
                .recorded = sums.outcome,
                .capacity = capacity ? capacity : sums.capacity,
                .left_out = run->not_judged.events()};
  result.rows.push_back({"", ChangedRun(*run, run->config, result.capacity).Run()});
  for (const std::string& setting : settings) {
    const Result<CachingConfig> config = WithAllocConf(run->config, setting);
    if (!config) return config.error();
    if (config->garbage_collection_threshold > 0 && !result.capacity) {
      return Error{.message =
                       "garbage_collection_threshold is a share of the device's memory, "
                       "which the file doesn't say",
                   .hint = "give it with --capacity 80GiB"};
    }
    result.rows.push_back({setting, ChangedRun(*run, *config, result.capacity).Run()});
  }
  return result;
}

}  // namespace graphkit
