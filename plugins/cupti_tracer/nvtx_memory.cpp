// NVTX's memory extension: heaps are segments, regions are blocks.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtMem.h>

#include "plugins/cupti_tracer/nvtx_injection.h"
#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

const char* TextOf(const nvtxMemHeapDesc_t& heap) {
  bool ascii = heap.messageType == NVTX_MESSAGE_TYPE_ASCII && heap.message.ascii != nullptr;
  return ascii ? heap.message.ascii : "";
}

// The handle of a heap, and of a region, is its address: nothing needs to be kept for it.
nvtxMemHeapHandle_t HeapRegister(nvtxDomainHandle_t, nvtxMemHeapDesc_t const* heap) {
  if (heap == nullptr || heap->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS ||
      heap->typeSpecificDesc == nullptr) {
    return reinterpret_cast<nvtxMemHeapHandle_t>(intptr_t{-1});
  }
  const auto& range = *static_cast<const nvtxMemVirtualRangeDesc_t*>(heap->typeSpecificDesc);
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    recorder.memory().OnHeapRegistered(thread, CallAt(Address(range.ptr), range.size, thread, now),
                                       TextOf(*heap));
  });
  return reinterpret_cast<nvtxMemHeapHandle_t>(const_cast<void*>(range.ptr));
}

void HeapUnregister(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap) {
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    recorder.memory().OnHeapUnregistered(thread, CallAt(Address(heap), 0, thread, now));
  });
}

void HeapReset(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap) {
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    recorder.memory().OnHeapReset(thread, CallAt(Address(heap), 0, thread, now));
  });
}

void RegionsRegister(nvtxDomainHandle_t, nvtxMemRegionsRegisterBatch_t const* batch) {
  if (batch == nullptr || batch->regionType != NVTX_MEM_TYPE_VIRTUAL_ADDRESS) return;
  const auto say = [&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    const auto* element = static_cast<const char*>(batch->regionDescElements);
    for (size_t i = 0; i < batch->regionCount; ++i, element += batch->regionDescElementSize) {
      const auto& range = *reinterpret_cast<const nvtxMemVirtualRangeDesc_t*>(element);
      recorder.memory().OnRegion(thread, CallAt(Address(range.ptr), range.size, thread, now));
      if (batch->regionHandleElementsOut != nullptr) {
        batch->regionHandleElementsOut[i] =
            reinterpret_cast<nvtxMemRegionHandle_t>(const_cast<void*>(range.ptr));
      }
    }
  };
  Tracer::Get().With(say, true);
}

void RegionsResize(nvtxDomainHandle_t, nvtxMemRegionsResizeBatch_t const* batch) {
  if (batch == nullptr || batch->regionType != NVTX_MEM_TYPE_VIRTUAL_ADDRESS) return;
  const auto say = [&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    const auto* element = reinterpret_cast<const char*>(batch->regionDescElements);
    for (size_t i = 0; i < batch->regionDescCount; ++i, element += batch->regionDescElementSize) {
      const auto& range = *reinterpret_cast<const nvtxMemVirtualRangeDesc_t*>(element);
      Call call = CallAt(Address(range.ptr), range.size, thread, now);
      recorder.memory().OnFreeCompleted(thread, call);
      recorder.memory().OnRegion(thread, call);
    }
  };
  Tracer::Get().With(say, true);
}

// A reference by handle is one by address: see above.
void RegionsUnregister(nvtxDomainHandle_t, nvtxMemRegionsUnregisterBatch_t const* batch) {
  if (batch == nullptr) return;
  const auto say = [&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    const auto* element = reinterpret_cast<const char*>(batch->refElements);
    for (size_t i = 0; i < batch->refCount; ++i, element += batch->refElementSize) {
      const auto& region = *reinterpret_cast<const nvtxMemRegionRef_t*>(element);
      recorder.memory().OnFreeCompleted(thread, CallAt(Address(region.pointer), 0, thread, now));
    }
  };
  Tracer::Get().With(say, true);
}

template <typename Function>
void Fill(const NvtxSegment& segment, size_t slot, Function* function) {
  if (slot < segment.slot_count) segment.slots[slot] = reinterpret_cast<intptr_t>(function);
}

}  // namespace

bool AttachMemoryExtension(NvtxModuleInfo& module) {
  if (module.module_id != NVTX_EXT_MODULEID_MEM) return false;
  for (size_t i = 0; i < module.segment_count; ++i) {
    const NvtxSegment& segment = module.segments[i];
    if (segment.id != 1 || segment.slots == nullptr) continue;
    Fill(segment, NVTX3EXT_CBID_nvtxMemHeapRegister, HeapRegister);
    Fill(segment, NVTX3EXT_CBID_nvtxMemHeapUnregister, HeapUnregister);
    Fill(segment, NVTX3EXT_CBID_nvtxMemHeapReset, HeapReset);
    Fill(segment, NVTX3EXT_CBID_nvtxMemRegionsRegister, RegionsRegister);
    Fill(segment, NVTX3EXT_CBID_nvtxMemRegionsResize, RegionsResize);
    Fill(segment, NVTX3EXT_CBID_nvtxMemRegionsUnregister, RegionsUnregister);
    return true;
  }
  return false;
}

}  // namespace graphkit
