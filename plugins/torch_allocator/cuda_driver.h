// What the allocator asks of the CUDA driver, from the libcuda that is in the process: the one
// library that programs with any CUDA runtime share. Versioned names say which ABI is meant.
// Nothing here is called from CUPTI's callbacks; all of it is legal while streams are captured.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "libgraphkit/alloc/live/live_order.h"
#include "libgraphkit/units.h"

namespace graphkit::torch {

// The capture that a stream is in.
struct StreamCapture {
  bool active = false;
  uint64_t id = 0;
  bool known = false;  // the frontier is
  std::vector<LiveEdge> frontier = {};
};

class CudaDriver {
 public:
  // The process's; null: there is no driver, or it lacks what is needed.
  static CudaDriver* Get();

  std::optional<Address> Malloc(int device, Bytes size);
  void Free(int device, Address address);
  Bytes TotalMemory(int device);

  // Whether the stream is in a capture, and where it stands.
  StreamCapture CaptureOf(uint64_t stream, bool frontier);
  bool EdgesInto(uint64_t node, std::vector<LiveEdge>* in);

  // An event at the end of what the stream has to do; null: none could be had.
  CUevent Record(int device, uint64_t stream);
  bool Done(CUevent event);
  void Wait(CUevent event);
  void Drop(CUevent event);

 private:
  class Scope;
  bool Open();
  CUcontext ContextOf(int device);
  CUresult Relaxed(CUresult (*call)(CUevent), CUevent event);
  bool ReadInfo(CUstream stream, StreamCapture* capture, bool frontier);

  using CaptureInfo3 = CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                    const CUgraphNode**, const CUgraphEdgeData**, size_t*);
  using CaptureInfo2 = CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                    const CUgraphNode**, size_t*);
  using Edges2 = CUresult (*)(CUgraphNode, CUgraphNode*, CUgraphEdgeData*, size_t*);
  using Edges1 = CUresult (*)(CUgraphNode, CUgraphNode*, size_t*);

  CUresult (*init_)(unsigned) = nullptr;
  CUresult (*mem_alloc_)(CUdeviceptr*, size_t) = nullptr;
  CUresult (*mem_free_)(CUdeviceptr) = nullptr;
  CUresult (*device_get_)(CUdevice*, int) = nullptr;
  CUresult (*total_memory_)(size_t*, CUdevice) = nullptr;
  CUresult (*retain_)(CUcontext*, CUdevice) = nullptr;
  CUresult (*push_)(CUcontext) = nullptr;
  CUresult (*pop_)(CUcontext*) = nullptr;
  CUresult (*exchange_mode_)(CUstreamCaptureMode*) = nullptr;
  CUresult (*event_create_)(CUevent*, unsigned) = nullptr;
  CUresult (*event_record_)(CUevent, CUstream) = nullptr;
  CUresult (*event_query_)(CUevent) = nullptr;
  CUresult (*event_wait_)(CUevent) = nullptr;
  CUresult (*event_destroy_)(CUevent) = nullptr;
  CaptureInfo3 capture_info3_ = nullptr;
  CaptureInfo2 capture_info2_ = nullptr;
  Edges2 edges2_ = nullptr;
  Edges1 edges1_ = nullptr;

  std::mutex mutex_;                 // of contexts_
  std::vector<CUcontext> contexts_;  // by device: primary ones, retained to the end
};

}  // namespace graphkit::torch
