#include "libgraphkit/alloc/models/allocator_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "libgraphkit/alloc/chunks/sorted_chunks.h"
#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {
namespace {

constexpr std::array<ModelInfo, 2> kModels = {{
    {ModelKind::kCaching, "caching", MakeCachingModel},
    {ModelKind::kAsyncPool, "cuda-async", MakeAsyncPool},
}};

// PyTorch's caching allocator: a block that was recorded on another stream is free once the device
// has been synchronised, and so not before the capture ends.
class CachingModel final : public AllocatorModel {
 public:
  explicit CachingModel(DriverMemory* driver) : allocator_({}, driver) {}

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree&) override {
    const std::optional<BlockHandle> handle = allocator_.Malloc({request.size, request.stream});
    if (!handle) return std::nullopt;
    live_[request.block] = *handle;
    return allocator_.address(*handle);
  }
  void RecordStream(uint32_t block, uint32_t) override { elsewhere_.insert(block); }
  void Free(uint32_t block, uint32_t) override {
    allocator_.RequestFree(live_[block]);
    deferred_.push_back(live_[block]);
    live_.erase(block);
    if (elsewhere_.contains(block)) return;
    allocator_.CompleteFree(deferred_.back());
    deferred_.pop_back();
  }
  void EndCapture() override {
    for (const BlockHandle handle : std::exchange(deferred_, {})) allocator_.CompleteFree(handle);
  }
  Bytes reserved() const override { return allocator_.statistics().reserved; }

 private:
  CachingAllocator allocator_;
  std::unordered_map<uint32_t, BlockHandle> live_;
  std::unordered_set<uint32_t> elsewhere_;
  std::vector<BlockHandle> deferred_;
};

// The driver's stream-ordered pool (cudaMallocAsync, cudaFreeAsync) as a model: a free block goes
// back to its stream at once, and to another stream that waited for an event after the free
// (cudaMemPoolReuseFollowEventDependencies). The pool's two other policies don't come into it: the
// device passes no free while a graph is captured, and a recorded graph can't be given waits that
// the pool adds. Source: CUDA C++ Programming Guide 13, "Stream Ordered Memory Allocator" (Memory
// Reuse Policies). What isn't documented is a choice: best fit, growth by whole granules, and one's
// own stream first, then what was never used.

constexpr Bytes kAlignment = 512;
constexpr Bytes kGranularity = Bytes{2} << 20;  // of what is got from the driver
constexpr uint32_t kIdle = 0xffffffffu;         // the list of what every stream may take
constexpr uint32_t kNone = 0xffffffffu;

// Regions are cut into chunks. A free chunk is in the list of the stream that freed it; free
// neighbours of one region and list are one chunk, which counts as freed with the later of them.
//
//     region   | held | free, stream 1 | free, idle | held |
class AsyncPool final : public AllocatorModel {
 public:
  explicit AsyncPool(DriverMemory* driver) : driver_(driver) {}

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) override {
    const Bytes size = RoundUp(request.size, kAlignment);
    uint32_t chunk = Find(request.stream, size, nullptr);
    if (chunk == kNone) chunk = Find(kIdle, size, nullptr);
    if (chunk == kNone) chunk = FindElsewhere(request.stream, size, after);
    if (chunk == kNone) chunk = Grow(size);
    if (chunk == kNone) return std::nullopt;
    Erase(chunk);
    Trim(chunk, size);
    live_[request.block] = chunk;
    return chunks_[chunk].address;
  }

  void Free(uint32_t block, uint32_t stream) override {
    const auto live = live_.find(block);
    freed_.push_back(block);
    Chunk& chunk = chunks_[live->second];
    chunk.list = stream;
    chunk.frees = static_cast<uint32_t>(freed_.size());
    Release(live->second);
    live_.erase(live);
  }

  Bytes reserved() const override { return reserved_; }

 private:
  struct Chunk {
    Address address = 0;
    Bytes size = 0;
    uint32_t prev = kNone;
    uint32_t next = kNone;
    uint32_t list = kIdle;
    uint32_t frees = 0;  // how many there were with its own; 0: it was never used
    bool free = false;
  };
  struct Key {
    Bytes size = 0;
    Address address = 0;
    uint32_t chunk = kNone;
    bool operator<(const Key& o) const {
      return size != o.size ? size < o.size : address < o.address;
    }
  };

  Key KeyOf(uint32_t chunk) const { return {chunks_[chunk].size, chunks_[chunk].address, chunk}; }

  void Erase(uint32_t chunk) {
    free_[chunks_[chunk].list].Erase(KeyOf(chunk));
    chunks_[chunk].free = false;
  }

  // The smallest of a list that is large enough, the lowest of equals; with `after`, one whose last
  // free the request comes after.
  uint32_t Find(uint32_t list, Bytes size, const AfterFree& after) const {
    const auto keys = free_.find(list);
    if (keys == free_.end()) return kNone;
    const SortedChunks<Key>& of = keys->second;
    for (auto at = of.LowerBound({size, 0, 0}); at != of.end(); at = of.next(at)) {
      const uint32_t chunk = of[at].chunk;
      if (!after || after(freed_[chunks_[chunk].frees - 1])) return chunk;
    }
    return kNone;
  }

  uint32_t FindElsewhere(uint32_t stream, Bytes size, const AfterFree& after) const {
    uint32_t best = kNone;
    for (const auto& [list, keys] : free_) {
      const uint32_t chunk = list == stream || list == kIdle ? kNone : Find(list, size, after);
      if (chunk == kNone) continue;
      if (best == kNone || chunks_[chunk].size < chunks_[best].size) best = chunk;
    }
    return best;
  }

  uint32_t Grow(Bytes size) {
    const Bytes region = RoundUp(size, kGranularity);
    const std::optional<Address> address = driver_->Allocate(region);
    if (!address) return kNone;
    reserved_ += region;
    chunks_.push_back({.address = *address, .size = region});
    Release(static_cast<uint32_t>(chunks_.size() - 1));
    return static_cast<uint32_t>(chunks_.size() - 1);
  }

  // The rest beyond `size` stays in its list.
  void Trim(uint32_t chunk, Bytes size) {
    if (chunks_[chunk].size == size) return;
    Chunk rest = chunks_[chunk];
    rest.address += size;
    rest.size -= size;
    rest.prev = chunk;
    const auto made = static_cast<uint32_t>(chunks_.size());
    if (rest.next != kNone) chunks_[rest.next].prev = made;
    chunks_[chunk].next = made;
    chunks_[chunk].size = size;
    chunks_.push_back(rest);
    Release(made);
  }

  // The neighbour's memory becomes the chunk's, if it is free and of the same list.
  bool Absorb(uint32_t chunk, uint32_t next) {
    if (chunk == kNone || next == kNone || chunks_[chunk].list != chunks_[next].list) return false;
    for (const uint32_t one : {chunk, next}) {
      if (chunks_[one].free) Erase(one);
    }
    Chunk& into = chunks_[chunk];
    into.size += chunks_[next].size;
    into.frees = std::max(into.frees, chunks_[next].frees);
    into.next = chunks_[next].next;
    if (into.next != kNone) chunks_[into.next].prev = chunk;
    return true;
  }

  void Release(uint32_t chunk) {
    const auto free = [&](uint32_t other) { return other != kNone && chunks_[other].free; };
    if (free(chunks_[chunk].next)) Absorb(chunk, chunks_[chunk].next);
    const uint32_t prev = chunks_[chunk].prev;
    if (free(prev) && Absorb(prev, chunk)) chunk = prev;
    chunks_[chunk].free = true;
    free_[chunks_[chunk].list].Insert(KeyOf(chunk));
  }

  DriverMemory* driver_;
  Bytes reserved_ = 0;
  std::vector<Chunk> chunks_;                   // some of them taken in by others
  std::map<uint32_t, SortedChunks<Key>> free_;  // by list
  std::unordered_map<uint32_t, uint32_t> live_;
  std::vector<uint32_t> freed_;  // blocks, in the order of their frees
};

}  // namespace

std::unique_ptr<AllocatorModel> MakeCachingModel(DriverMemory* driver) {
  return std::make_unique<CachingModel>(driver);
}

std::span<const ModelInfo> Models() { return kModels; }

const ModelInfo& InfoOf(ModelKind kind) { return kModels[static_cast<size_t>(kind)]; }

std::optional<ModelKind> FindModel(std::string_view name) {
  const auto* model = std::ranges::find(kModels, name, &ModelInfo::name);
  return model == kModels.end() ? std::nullopt : std::optional(model->kind);
}

std::unique_ptr<AllocatorModel> MakeAsyncPool(DriverMemory* driver) {
  return std::make_unique<AsyncPool>(driver);
}

}  // namespace graphkit
