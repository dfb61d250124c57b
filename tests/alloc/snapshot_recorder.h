// Snapshots of random programs as PyTorch would write them, made with the allocator's model.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/torch_snapshot.h"
#include "tests/alloc/allocator_segments.h"

namespace graphkit {

// Gives ever lower addresses, so that the oldest segment isn't the lowest. Keeps what it was asked.
class FallingDriver final : public DriverMemory {
 public:
  explicit FallingDriver(Bytes capacity) : capacity_(capacity) {}
  std::optional<Address> Allocate(Bytes size) override {
    if (used_ + size > capacity_) return std::nullopt;
    used_ += size;
    const Address address = Reserve(size);
    Keep(TorchAction::kSegmentAlloc, address, size);
    return address;
  }
  void Free(Address address, Bytes size) override {
    used_ -= size;
    Keep(TorchAction::kSegmentFree, address, size);
  }
  Address Reserve(Bytes size) override { return next_ -= RoundUp(size, kSegmentAlignment); }
  bool Map(Address address, Bytes size) override {
    if (used_ + size > capacity_) return false;
    used_ += size;
    Keep(TorchAction::kSegmentMap, address, size);
    return true;
  }
  void Unmap(Address address, Bytes size) override {
    used_ -= size;
    Keep(TorchAction::kSegmentUnmap, address, size);
  }

  std::vector<TorchEvent> asked;

 private:
  void Keep(TorchAction action, Address address, Bytes size) {
    asked.push_back({.action = action, .address = address, .size = size});
  }

  Bytes capacity_;
  Bytes used_ = 0;
  Address next_ = Address{1} << 50;
};

// The model's own calls, recorded as PyTorch would.
class Recorder {
 public:
  explicit Recorder(CachingConfig config, Bytes capacity, uint32_t pools, PoolOptions options = {})
      : driver_(capacity), model_(config, &driver_) {
    snapshot_.settings.expandable_segments = config.expandable_segments;
    snapshot_.settings.garbage_collection_threshold = config.garbage_collection_threshold;
    if (config.max_split_size != CachingConfig::kNoLimit) {
      snapshot_.settings.max_split_size = static_cast<int64_t>(config.max_split_size);
    }
    snapshot_.pools = {{0, 0}};
    for (uint32_t pool = 1; pool < pools; ++pool) {
      snapshot_.pools.push_back({0, pool});
      model_.CreatePool(options);
    }
  }

  std::optional<BlockHandle> Malloc(Bytes size, uint64_t stream, PoolHandle pool) {
    const std::optional<BlockHandle> block = model_.Malloc({size, stream, pool});
    TakeSegmentEvents(pool, stream);
    if (block) Add(TorchAction::kAlloc, model_.address(*block), size, stream, pool);
    if (block) requested_[*block] = {size, stream};
    if (!block) Add(TorchAction::kOom, 0, RoundRequest(model_.config(), size), stream, pool);
    return block;
  }
  void RequestFree(BlockHandle b) {
    model_.RequestFree(b);
    Add(TorchAction::kFreeRequested, model_.address(b), requested_[b].first, requested_[b].second,
        0);
  }
  void CompleteFree(BlockHandle b) {
    Add(TorchAction::kFreeCompleted, model_.address(b), requested_[b].first, requested_[b].second,
        0);
    model_.CompleteFree(b);
  }
  BlockHandle Restore(Address address, Bytes size, uint64_t stream, PoolHandle pool) {
    const std::optional<BlockHandle> block = model_.Restore(address, size);
    REQUIRE(block.has_value());
    Add(TorchAction::kAlloc, address, size, stream, pool);
    requested_[*block] = {size, stream};
    return *block;
  }
  Address AddressOf(BlockHandle block) const { return model_.address(block); }
  void Free(BlockHandle block) {
    RequestFree(block);
    CompleteFree(block);
  }
  void EmptyCache() {
    model_.EmptyCache();
    TakeSegmentEvents(0);
  }

  void ReleasePool(PoolHandle pool) {
    model_.ReleasePool(pool);
    model_.EmptyCache();
    TakeSegmentEvents(pool);
  }

  // The snapshot with the last `keep` events.
  TorchSnapshot Take(size_t keep) {
    TorchSnapshot s = snapshot_;
    if (s.events.size() > keep)
      s.events.erase(s.events.begin(), s.events.end() - static_cast<std::ptrdiff_t>(keep));
    s.devices = {{0, static_cast<uint32_t>(s.events.size())}};
    for (const SegmentState& segment : AllocatorSegments::Of(model_)) AddSegment(segment, &s);
    return s;
  }

 private:
  // As PyTorch writes it: a segment for each stretch of an expandable one that has memory.
  static void AddSegment(const SegmentState& segment, TorchSnapshot* s) {
    bool open = false;
    for (const SegmentState::Block& b : segment.blocks) {
      if (b.mapped && !open) {
        s->segments.push_back({.address = b.address,
                               .stream = segment.stream,
                               .pool = static_cast<uint16_t>(segment.pool),
                               .small = segment.small,
                               .expandable = segment.expandable,
                               .blocks = {static_cast<uint32_t>(s->blocks.size()), 0}});
      }
      open = b.mapped;
      if (!open) continue;
      s->segments.back().total_size += b.size;
      ++s->segments.back().blocks.count;
      s->blocks.push_back({b.address,
                           b.size,
                           b.requested,
                           b.pending ? TorchBlockState::kPendingFree
                           : b.used  ? TorchBlockState::kActive
                                     : TorchBlockState::kInactive,
                           {}});
    }
  }

  // Of a call for a pool, and a stream.
  void TakeSegmentEvents(PoolHandle pool, uint64_t stream = 0) {
    for (const TorchEvent& e : std::exchange(driver_.asked, {})) {
      if (Maps(e.action)) owners_.Add({e.address, e.address + e.size}, {pool, stream});
      const auto [of_pool, of_stream] = *owners_.Find(e.address);
      const bool freed = e.action == TorchAction::kSegmentFree;
      Add(e.action, e.address, e.size, of_stream, freed ? of_pool : pool);
    }
  }
  void Add(TorchAction action, Address address, Bytes size, uint64_t stream, PoolHandle pool) {
    snapshot_.events.push_back({.action = action,
                                .pool = static_cast<uint16_t>(pool),
                                .address = address,
                                .size = size,
                                .stream = stream});
  }

  FallingDriver driver_;
  CachingAllocator model_;
  TorchSnapshot snapshot_;
  IntervalMap<std::pair<PoolHandle, uint64_t>> owners_;  // of segments and pages: pool, stream
  std::map<BlockHandle, std::pair<Bytes, uint64_t>> requested_;
};

// Any program on several streams and pools, with segments that come and go.
enum class RunEnd { kAsItIs, kCacheEmptied };

inline TorchSnapshot RandomRun(unsigned seed, size_t keep, const CachingConfig& config = {},
                               RunEnd end = RunEnd::kAsItIs) {
  std::mt19937_64 random(seed);
  Recorder recorder(config, Bytes{900} << 20, 3);
  std::vector<BlockHandle> live;
  std::vector<BlockHandle> pending;
  for (int step = 0; step < 3000; ++step) {
    const uint64_t what = random() % 100;
    if (what == 0 && step % 5 == 0) recorder.EmptyCache();
    if (what < 48 && !live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      recorder.RequestFree(live.back());
      pending.push_back(live.back());
      live.pop_back();
      if (what % 4) recorder.CompleteFree(pending.back());
      if (what % 4) pending.pop_back();
    } else if (what < 60 && !pending.empty()) {
      std::swap(pending[random() % pending.size()], pending.back());
      recorder.CompleteFree(pending.back());
      pending.pop_back();
    } else {
      // One draw a statement: the order in which arguments are evaluated is the compiler's.
      const bool small = random() % 2 != 0;
      const Bytes size =
          small ? 1 + random() % 900000 : (Bytes{1} << 20) + 1 + random() % (Bytes{23} << 20);
      const uint64_t stream = random() % 3;
      const uint64_t pool = random() % 6;  // 0, 1: a private one
      const auto block =
          recorder.Malloc(size, stream, static_cast<PoolHandle>(pool < 2 ? 1 + pool : 0));
      if (block) live.push_back(*block);
    }
  }
  if (end == RunEnd::kCacheEmptied) recorder.EmptyCache();
  return recorder.Take(keep);
}

}  // namespace graphkit
