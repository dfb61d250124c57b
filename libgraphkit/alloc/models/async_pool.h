// The driver's stream-ordered pool (cudaMallocAsync, cudaFreeAsync) as a model. What is documented:
// a free block goes back to its stream at once; to another stream by three policies; unused memory
// above the release threshold goes back to the system when something is synchronised. Source: CUDA
// C++ Programming Guide 13, "Stream Ordered Memory Allocator" (Memory Reuse Policies, Physical Page
// Caching Behavior), and cudaMemPoolAttr in driver_types.h. What isn't documented is a choice:
// best fit, growth by whole granules, and the order in which the policies are tried.
#pragma once

#include <unordered_map>

#include "libgraphkit/alloc/chunks/chunk_list.h"
#include "libgraphkit/alloc/models/allocator_model.h"

namespace graphkit {

struct AsyncPoolConfig {
  Bytes alignment = 512;
  Bytes granularity = Bytes{2} << 20;  // of what is got from the driver
  Bytes release_threshold = 0;         // cudaMemPoolAttrReleaseThreshold
  // cudaMemPoolReuseFollowEventDependencies: to a stream that waited for an event after the free.
  bool follow_event_dependencies = true;
  // cudaMemPoolReuseAllowOpportunistic: once the device has passed the free.
  bool allow_opportunistic = true;
  // cudaMemPoolReuseAllowInternalDependencies: the driver makes the stream wait for the free.
  bool allow_internal_dependencies = true;
  bool operator==(const AsyncPoolConfig&) const = default;
};

class AsyncPool final : public AllocatorModel {
 public:
  AsyncPool(const AsyncPoolConfig& config, DriverMemory* driver)
      : config_(config), driver_(driver) {}

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) override;
  void Free(uint32_t block, uint32_t stream) override;
  void Synchronize() override;
  // The device has passed all frees so far, and no stream waited for it: allow_opportunistic alone
  // sees that.
  void Progress() { passed_ = frees_; }
  ModelFigures figures() const override { return figures_; }

 private:
  static constexpr uint32_t kIdle = 0xffffffffu;  // the list of what every stream may take

  ChunkList::Chunk FindElsewhere(const ModelRequest& request, Bytes size,
                                 const ChunkList::Accept& accept) const;
  ChunkList::Chunk FindFree(const ModelRequest& request, Bytes size, const AfterFree& after);
  ChunkList::Chunk Grow(Bytes size);
  void Release(Bytes keep);

  AsyncPoolConfig config_;
  DriverMemory* driver_;
  ChunkList chunks_;  // lists are streams; the mark counts the frees
  std::unordered_map<uint32_t, ChunkList::Chunk> live_;
  std::vector<uint32_t> freed_;  // by mark: the block
  uint64_t frees_ = 0;
  uint64_t passed_ = 0;  // so many frees the device has passed
  ModelFigures figures_;
};

}  // namespace graphkit
