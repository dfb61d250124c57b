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

// Regions are cut into chunks. A free chunk is in the list of the stream that freed it; free
// neighbours of one region and list are one chunk, which counts as freed with the later of them.
//
//     region   | held | free, stream 1 | free, idle | held |
class AsyncPool final : public AllocatorModel {
 public:
  explicit AsyncPool(DriverMemory* driver) : driver_(driver) {}

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) override {
    const Bytes size = RoundUp(request.size, kAlignment);
    At chunk = Find(request.stream, size, nullptr);
    if (chunk == chunks_.end()) chunk = Find(kIdle, size, nullptr);
    if (chunk == chunks_.end()) chunk = FindElsewhere(request.stream, size, after);
    if (chunk == chunks_.end()) chunk = Grow(size);
    if (chunk == chunks_.end()) return std::nullopt;
    Erase(chunk);
    Trim(chunk, size);
    live_.emplace(request.block, chunk);
    return chunk->first;
  }

  void Free(uint32_t block, uint32_t stream) override {
    freed_.push_back(block);
    const At chunk = live_.extract(block).mapped();
    chunk->second.list = stream;
    chunk->second.frees = static_cast<uint32_t>(freed_.size());
    Release(chunk);
  }

  Bytes reserved() const override { return reserved_; }

 private:
  struct Chunk {
    Bytes size = 0;
    Address region = 0;  // that it is cut from
    uint32_t list = kIdle;
    uint32_t frees = 0;  // how many there were with its own; 0: it was never used
    bool free = false;
  };
  using Chunks = std::map<Address, Chunk>;
  using At = Chunks::iterator;
  using Key = std::pair<Bytes, Address>;  // of a free one: its size, and where it is

  static Key KeyOf(At chunk) { return {chunk->second.size, chunk->first}; }

  void Erase(At chunk) {
    free_[chunk->second.list].Erase(KeyOf(chunk));
    chunk->second.free = false;
  }

  // The smallest of a list that is large enough, the lowest of equals; with `after`, one whose last
  // free the request comes after.
  At Find(uint32_t list, Bytes size, const AfterFree& after) {
    const SortedChunks<Key>& of = free_[list];
    for (auto at = of.LowerBound({size, 0}); at != of.end(); at = of.next(at)) {
      const At chunk = chunks_.find(of[at].second);
      if (!after || after(freed_[chunk->second.frees - 1])) return chunk;
    }
    return chunks_.end();
  }

  At FindElsewhere(uint32_t stream, Bytes size, const AfterFree& after) {
    At best = chunks_.end();
    for (const auto& [list, keys] : free_) {
      const At chunk = list == stream || list == kIdle ? chunks_.end() : Find(list, size, after);
      if (chunk == chunks_.end()) continue;
      if (best == chunks_.end() || chunk->second.size < best->second.size) best = chunk;
    }
    return best;
  }

  At Grow(Bytes size) {
    const Bytes region = RoundUp(size, kGranularity);
    const std::optional<Address> address = driver_->Allocate(region);
    if (!address) return chunks_.end();
    reserved_ += region;
    return Release(chunks_.emplace(*address, Chunk{.size = region, .region = *address}).first);
  }

  // The rest beyond `size` stays in its list.
  void Trim(At chunk, Bytes size) {
    Chunk rest = chunk->second;
    chunk->second.size = size;
    rest.size -= size;
    if (rest.size > 0) Release(chunks_.emplace(chunk->first + size, rest).first);
  }

  bool Joins(At chunk, At next) const {
    return chunk->second.region == next->second.region && chunk->second.list == next->second.list;
  }

  // The neighbour's memory becomes the chunk's.
  void Absorb(At chunk, At next) {
    for (const At one : {chunk, next}) {
      if (one->second.free) Erase(one);
    }
    chunk->second.size += next->second.size;
    chunk->second.frees = std::max(chunk->second.frees, next->second.frees);
    chunks_.erase(next);
  }

  At Release(At chunk) {
    const At next = std::next(chunk);
    if (next != chunks_.end() && next->second.free && Joins(chunk, next)) Absorb(chunk, next);
    const At before = chunk == chunks_.begin() ? chunks_.end() : std::prev(chunk);
    if (before != chunks_.end() && before->second.free && Joins(before, chunk)) {
      Absorb(before, chunk);
      chunk = before;
    }
    chunk->second.free = true;
    free_[chunk->second.list].Insert(KeyOf(chunk));
    return chunk;
  }

  DriverMemory* driver_;
  Bytes reserved_ = 0;
  Chunks chunks_;
  std::map<uint32_t, SortedChunks<Key>> free_;  // by list
  std::unordered_map<uint32_t, At> live_;
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
