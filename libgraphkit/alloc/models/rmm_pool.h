// RMM's pool_memory_resource as a model: a coalescing best-fit pool with a free list for each
// stream. A request looks at its stream's list; then at each other stream's, and takes over the
// whole list in which it found something; then takes over list after list until something has
// coalesced; then the pool grows, to twice its size when it can, otherwise by less. Before a list
// is taken over the stream is made to wait for the last free of the other one. Source:
// rmm/mr/device/pool_memory_resource.hpp and detail/stream_ordered_memory_resource.hpp.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "libgraphkit/alloc/chunks/chunk_list.h"
#include "libgraphkit/alloc/models/allocator_model.h"

namespace graphkit {

struct RmmPoolConfig {
  Bytes alignment = 256;
  Bytes initial_size = 0;             // RMM's default: half of the device's memory
  std::optional<Bytes> maximum_size;  // with it the pool grows by half of what is left
  bool add_waits = true;              // false: a list is taken over only where order is there
  bool operator==(const RmmPoolConfig&) const = default;
};

class RmmPool final : public AllocatorModel {
 public:
  RmmPool(const RmmPoolConfig& config, DriverMemory* driver);

  std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) override;
  void Free(uint32_t block, uint32_t stream) override;
  ModelFigures figures() const override { return figures_; }

 private:
  ChunkList::Chunk HoldIn(uint32_t list, Bytes size);
  ChunkList::Chunk HoldFree(const ModelRequest& request, Bytes size, const AfterFree& after);
  bool MayTakeOver(uint32_t list, const AfterFree& after) const;
  void TakeOver(uint32_t list, uint32_t stream);
  ChunkList::Chunk Grow(Bytes size, uint32_t stream);
  Bytes SizeToGrow(Bytes size) const;
  ChunkList::Chunk Adopt(Address address, Bytes size, uint32_t stream);

  RmmPoolConfig config_;
  DriverMemory* driver_;
  ChunkList chunks_;  // lists are streams
  // By list: the frees that everything in it comes after.
  std::map<uint32_t, std::vector<uint32_t>> latest_;
  std::unordered_map<uint32_t, ChunkList::Chunk> live_;
  ModelFigures figures_;
};

}  // namespace graphkit
