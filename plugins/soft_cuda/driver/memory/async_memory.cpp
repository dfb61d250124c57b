// Stream-ordered memory: in a capture an allocation or a free becomes a memory node.
#include "plugins/soft_cuda/driver/memory/async_memory.h"

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/memory/external_memory.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/graph_memory.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

CUresult CaptureAllocation(Stream* stream, Pool* pool, size_t bytes, CUdeviceptr* out) {
  const Graph& graph = *stream->capture->graph;
  if (graph.moved) return CUDA_ERROR_NOT_SUPPORTED;
  auto node = std::make_unique<MemAllocParams>();
  node->params.poolProps = pool->properties;
  node->params.bytesize = bytes;
  const std::vector<Edge> dependencies = stream->dependencies.edges();
  const CUresult placed = PlaceGraphAllocation(stream->capture->graph, dependencies, node->params);
  if (placed != CUDA_SUCCESS) return placed;
  *out = node->params.dptr;
  Device::Get().captures.AddNode(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, std::move(node),
                                 dependencies);
  return CUDA_SUCCESS;
}

// True if the limit that the pool was made with leaves room; 0: there is none.
bool HasRoom(const Pool& pool, uint64_t bytes) {
  const uint64_t most = pool.properties.maxSize;
  return most == 0 || (bytes <= most && pool.used <= most - bytes);
}

// Memory that the stream itself has freed, or another one before an event that the stream has
// waited for; else memory that is not used; else memory that another stream has freed and the
// stream then waits for.
uint64_t TakeMemory(Pool* pool, size_t bytes, Stream* stream) {
  Device& device = Device::Get();
  Gpu* gpu = device.GpuOf(pool->properties);
  const auto take = [&](auto&& may) {
    return device.TakeFreed(gpu, bytes, CurrentContext(), pool, may);
  };
  if (const uint64_t own = take([&](const auto& b) { return b.stream == stream->id; }); own != 0)
    return own;
  if (pool->reuse_follow_event != 0) {
    const uint64_t earlier =
        take([&](const auto& b) { return ComesAfter(stream->frees, b.stream, b.number); });
    if (earlier != 0) return earlier;
  }
  const uint64_t address =
      device.AllocateOn(gpu, AllocationKind::kPool, bytes, CurrentContext(), pool);
  if (address != 0 || pool->reuse_internal == 0) return address;
  WorkMark end;
  const uint64_t others = take([&](const auto& b) { return (end = b.mark, true); });
  if (others != 0) Push(stream, {.what = "memory that another stream freed", .after = {end}});
  return others;
}

CUresult AllocateFrom(Pool* pool, size_t bytes, CUstream handle, CUdeviceptr* out) {
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  if (out == nullptr || pool->imported != 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture != nullptr) return CaptureAllocation(stream, pool, bytes, out);
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS) return error;
  *out = 0;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!HasRoom(*pool, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t address = TakeMemory(pool, bytes, stream);
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Grow(*pool, bytes);
  *out = address;
  return CUDA_SUCCESS;
}

CUresult CaptureFree(Stream* stream, CUdeviceptr address) {
  Graph* graph = stream->capture->graph;
  if (graph->moved) return CUDA_ERROR_NOT_SUPPORTED;
  if (!CanFreeInGraph(*graph, address)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = Submit(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, MemFreeParams{address});
  if (result == CUDA_SUCCESS)
    graph->addresses.Free(address, stream->dependencies.edges().front().node);
  return result;
}

}  // namespace

CUresult FreeBlock(uint64_t address, Stream* stream) {
  Device& device = Device::Get();
  auto block = device.allocations.find(address);
  if (block == device.allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  if (block->second.kind == AllocationKind::kMapped) return CUDA_ERROR_INVALID_VALUE;
  if (block->second.kind == AllocationKind::kGraph) {
    if (!block->second.live) return CUDA_ERROR_INVALID_VALUE;
    FreeGraphAllocation(address, stream);  // the graph keeps the address
    return CUDA_SUCCESS;
  }
  ExternalMemory* external = block->second.external;
  if (external != nullptr && external->is_handle) return CUDA_ERROR_INVALID_VALUE;
  if (external != nullptr) Unmap(external);
  if (block->second.imports > 0) {
    --block->second.imports;
    return CUDA_SUCCESS;
  }
  if (block->second.pool != nullptr) Shrink(*block->second.pool, block->second.size);
  if (external != nullptr) {
    device.allocations.erase(block);
  } else if (block->second.pool != nullptr && stream != nullptr) {
    device.FreeAfter(address, stream, End(stream));
  } else {
    device.Release(address);
  }
  return CUDA_SUCCESS;
}

CUresult MemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  const Lock lock = LockDevice();
  // From the pool of the stream's device, which may not be the current one.
  const Context* context = CurrentContext();
  const Stream* on = FindStream(stream);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return AllocateFrom(on->context->gpu->current_pool, bytes, stream, out);
}

CUresult MemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool_handle,
                               CUstream stream) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(pool_handle);
  return pool != nullptr ? AllocateFrom(pool, bytes, stream, out) : CUDA_ERROR_INVALID_VALUE;
}

CUresult MemFreeAsync(CUdeviceptr address, CUstream handle) {
  Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  if (address == 0) return CUDA_SUCCESS;
  if (stream->capture != nullptr) return CaptureFree(stream, address);
  auto block = Device::Get().allocations.find(address);
  if (block == Device::Get().allocations.end() || block->second.kind == AllocationKind::kHost ||
      block->second.kind == AllocationKind::kRegistered) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (block->second.external != nullptr) {  // it goes at once
    if (CUresult error = WaitFor(lock, End(stream)); error != CUDA_SUCCESS) return error;
  }
  return FreeBlock(address, stream);
}

}  // namespace graphkit::soft::driver
