#include "libgraphkit/alloc/models/allocator_model.h"

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "libgraphkit/alloc/models/async_pool.h"
#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {
namespace {

constexpr std::array<ModelInfo, 2> kModels = {{
    {ModelKind::kCaching, "caching"},
    {ModelKind::kAsyncPool, "cuda-async"},
}};

// PyTorch's caching allocator: a block that was recorded on another stream is free once the device
// has been synchronised.
class CachingModel final : public AllocatorModel {
 public:
  explicit CachingModel(DriverMemory* driver) : allocator_({}, driver) {}

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree&) override {
    const std::optional<BlockHandle> handle = allocator_.Malloc({request.size, request.stream, 0});
    if (!handle) return std::nullopt;
    live_[request.block] = *handle;
    return allocator_.address(*handle);
  }
  void RecordStream(uint32_t block, uint32_t) override { elsewhere_.insert(block); }
  void Free(uint32_t block, uint32_t) override {
    allocator_.RequestFree(live_[block]);
    if (elsewhere_.count(block) != 0) {
      pending_.push_back(live_[block]);
    } else {
      allocator_.CompleteFree(live_[block]);
    }
    live_.erase(block);
  }
  void Synchronize() override {
    for (const BlockHandle block : pending_) allocator_.CompleteFree(block);
    pending_.clear();
  }
  ModelFigures figures() const override {
    const AllocatorStatistics& s = allocator_.statistics();
    return {s.allocated, s.reserved, s.peak_reserved, 0};
  }

 private:
  CachingAllocator allocator_;
  std::unordered_map<uint32_t, BlockHandle> live_;
  std::unordered_set<uint32_t> elsewhere_;
  std::vector<BlockHandle> pending_;
};

}  // namespace

std::span<const ModelInfo> Models() { return kModels; }

const ModelInfo& InfoOf(ModelKind kind) { return kModels[static_cast<size_t>(kind)]; }

std::optional<ModelKind> FindModel(std::string_view name) {
  for (const ModelInfo& model : kModels) {
    if (name == model.name) return model.kind;
  }
  return std::nullopt;
}

std::unique_ptr<AllocatorModel> MakeModel(ModelKind kind, DriverMemory* driver) {
  switch (kind) {
    case ModelKind::kCaching:
      return std::make_unique<CachingModel>(driver);
    case ModelKind::kAsyncPool:
      return std::make_unique<AsyncPool>(AsyncPoolConfig{.allow_internal_dependencies = false},
                                         driver);
  }
  return nullptr;
}

}  // namespace graphkit
