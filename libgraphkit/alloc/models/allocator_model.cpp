#include "libgraphkit/alloc/models/allocator_model.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

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
    if (!elsewhere_.contains(block)) allocator_.CompleteFree(live_[block]);
    live_.erase(block);
  }
  Bytes reserved() const override { return allocator_.statistics().reserved; }

 private:
  CachingAllocator allocator_;
  std::unordered_map<uint32_t, BlockHandle> live_;
  std::unordered_set<uint32_t> elsewhere_;
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

}  // namespace graphkit
