// TensorFlow's BFC allocator (best fit with coalescing) as a model. It knows one stream: a freed
// chunk is anybody's at once, which is right for a program that uses memory on one stream only. A
// chunk is split when it is at least twice the request, or by splitting saves 128 MiB. Regions grow
// by doubling, from 1 MiB on; out of memory, 9/10 of the region is tried, and so on.
// Source: tensorflow/core/common_runtime/bfc_allocator.{h,cc} (in XLA tsl/framework).
#pragma once

#include <unordered_map>

#include "libgraphkit/alloc/chunks/chunk_list.h"
#include "libgraphkit/alloc/models/allocator_model.h"

namespace graphkit {

struct BfcConfig {
  Bytes alignment = 256;
  Bytes first_region = Bytes{1} << 20;         // with allow_growth
  Bytes max_fragmentation = Bytes{128} << 20;  // more than that isn't left unused in a chunk
  bool operator==(const BfcConfig&) const = default;
};

class BfcAllocator final : public AllocatorModel {
 public:
  BfcAllocator(const BfcConfig& config, DriverMemory* driver)
      : config_(config), driver_(driver), next_region_(config.first_region) {}

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) override;
  void Free(uint32_t block, uint32_t stream) override;
  ModelFigures figures() const override { return figures_; }

 private:
  bool Extend(Bytes size);
  std::optional<Address> AllocateRegion(Bytes size, Bytes* region);

  BfcConfig config_;
  DriverMemory* driver_;
  Bytes next_region_;
  ChunkList chunks_;
  std::unordered_map<uint32_t, ChunkList::Chunk> live_;
  ModelFigures figures_;
};

}  // namespace graphkit
