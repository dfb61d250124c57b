// An allocator's annotations for tools: segments and blocks through the NVTX memory extension,
// streams and waiting frees through graphkit's annotation header. Costs nothing when nobody
// listens.
#pragma once

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExtMem.h>

#include "plugins/cupti_tracer/graphkit_annotate.h"

inline nvtxMemVirtualRangeDesc_t NvtxRange(const void* address, size_t size) {
  nvtxMemVirtualRangeDesc_t range = {};
  range.size = size;
  range.ptr = address;
  return range;
}

// [address, address + size) came from the driver and will be handed out in blocks of `pool`.
inline nvtxMemHeapHandle_t AnnounceSegment(const void* address, size_t size, const char* pool) {
  const nvtxMemVirtualRangeDesc_t range = NvtxRange(address, size);
  nvtxMemHeapDesc_t heap = {};
  heap.extCompatID = NVTX_EXT_COMPATID_MEM;
  heap.structSize = sizeof heap;
  heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDescSize = sizeof range;
  heap.typeSpecificDesc = &range;
  heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
  heap.message.ascii = pool;
  graphkit_pool(address, size, pool);
  return nvtxMemHeapRegister(nullptr, &heap);
}

inline void AnnounceSegmentFreed(nvtxMemHeapHandle_t heap) { nvtxMemHeapUnregister(nullptr, heap); }

inline void AnnounceBlock(nvtxMemHeapHandle_t heap, const void* address, size_t size,
                          cudaStream_t stream) {
  const nvtxMemVirtualRangeDesc_t range = NvtxRange(address, size);
  nvtxMemRegionHandle_t region = nullptr;
  nvtxMemRegionsRegisterBatch_t batch = {};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  batch.heap = heap;
  batch.regionCount = 1;
  batch.regionDescElementSize = sizeof range;
  batch.regionDescElements = &range;
  batch.regionHandleElementsOut = &region;
  nvtxMemRegionsRegister(nullptr, &batch);
  graphkit_block_stream(address, size, stream);
}

// The memory may be handed out again.
inline void AnnounceFreeCompleted(const void* address) {
  nvtxMemRegionRef_t reference = {};
  reference.pointer = address;
  nvtxMemRegionsUnregisterBatch_t batch = {};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  batch.refCount = 1;
  batch.refElementSize = sizeof reference;
  batch.refElements = &reference;
  nvtxMemRegionsUnregister(nullptr, &batch);
}
