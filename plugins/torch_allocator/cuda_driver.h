// The allocator's calls of the CUDA driver, to the libcuda that is in the process: the one library
// that programs with any CUDA runtime share. Versioned names mark the ABI. Nothing here is called
// from CUPTI's callbacks; all of it is legal while streams are captured.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "libgraphkit/units.h"
#include "plugins/torch_allocator/live_pool.h"

namespace graphkit::torch {

// The driver's functions, by their names without "cu". Of pairs one is enough; the other is null.
struct DriverCalls {
  CUresult (*init)(unsigned) = nullptr;
  CUresult (*mem_alloc)(CUdeviceptr*, size_t) = nullptr;
  CUresult (*mem_free)(CUdeviceptr) = nullptr;
  CUresult (*device_get)(CUdevice*, int) = nullptr;
  CUresult (*total_memory)(size_t*, CUdevice) = nullptr;
  CUresult (*retain)(CUcontext*, CUdevice) = nullptr;
  CUresult (*push)(CUcontext) = nullptr;
  CUresult (*pop)(CUcontext*) = nullptr;
  CUresult (*synchronize)() = nullptr;
  CUresult (*exchange_mode)(CUstreamCaptureMode*) = nullptr;
  CUresult (*event_create)(CUevent*, unsigned) = nullptr;
  CUresult (*event_record)(CUevent, CUstream) = nullptr;
  CUresult (*event_query)(CUevent) = nullptr;
  CUresult (*event_wait)(CUevent) = nullptr;
  CUresult (*event_destroy)(CUevent) = nullptr;
  CUresult (*stream_wait)(CUstream, CUevent, unsigned) = nullptr;
  CUresult (*capture_info3)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                            const CUgraphNode**, const CUgraphEdgeData**, size_t*) = nullptr;
  CUresult (*capture_info2)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                            const CUgraphNode**, size_t*) = nullptr;
  CUresult (*edges2)(CUgraphNode, CUgraphNode*, CUgraphEdgeData*, size_t*) = nullptr;
  CUresult (*edges1)(CUgraphNode, CUgraphNode*, size_t*) = nullptr;
};

// Those of the libcuda in the process; nothing: there is none, or it lacks what is needed.
std::optional<DriverCalls> LoadDriverCalls();

// The capture that a stream is in.
struct StreamCapture {
  bool active = false;
  bool unsure = false;  // the driver didn't say: it may be in one
  uint64_t id = 0;
  bool known = false;  // the frontier is
  std::vector<LiveEdge> frontier = {};

  bool maybe() const { return active || unsure; }
};

// A mark at the end of a stream's work. Neither: nothing is known about that work.
struct StreamMark {
  CUevent event = nullptr;
  bool over = false;  // the context is gone, and all that ran in it
};

// Only what the driver's documentation says to mean it (cuda.h, CUresult) is taken for the end of
// a context. After any other failure work may still be going on: nothing is given away on it.
class CudaDriver {
 public:
  explicit CudaDriver(const DriverCalls& calls) : calls_(calls) {}

  // The process's; null: there is no driver, or it lacks what is needed.
  static CudaDriver* Get();

  std::optional<Address> Malloc(int device, Bytes size);
  void Free(int device, Address address);
  std::optional<Bytes> TotalMemory(int device);

  // The stream's capture, if any, and its position in it.
  StreamCapture CaptureOf(uint64_t stream, bool frontier);
  bool EdgesInto(uint64_t node, std::vector<LiveEdge>* in);

  // Marks the end of what the stream has to do.
  StreamMark Record(int device, uint64_t stream);
  bool Done(CUevent event);
  void Wait(CUevent event);
  void Drop(CUevent event);
  // Orders the stream's later work after the event. False: that failed.
  bool LetWait(int device, uint64_t stream, CUevent event);
  // Waits until the device has nothing left to do; false: it may have. Not while a stream is
  // captured.
  bool WaitForDevice(int device);

 private:
  class Scope;
  CUcontext ContextOf(int device);
  CUresult Relaxed(CUresult (*call)(CUevent), CUevent event);
  bool ReadInfo(CUstream stream, StreamCapture* capture, bool frontier);

  const DriverCalls calls_;
  std::mutex mutex_;                 // of contexts_
  std::vector<CUcontext> contexts_;  // by device: primary ones, retained to the end
};

}  // namespace graphkit::torch
