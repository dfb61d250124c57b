// The interface of the software device's libcuda.so.1 to its libcudart and libcupti: one C symbol.
#pragma once

#include "plugins/soft_cuda/ground/hub.h"
#include "plugins/soft_cuda/ground/thread_state.h"

namespace graphkit::soft {

// NVML's information about a device of the machine, also of one that the program doesn't see.
struct DeviceFacts {
  char name[96];
  char bus_id[16];  // "0000:01:00.0"
  char uuid[48];    // "GPU-67726170-…"
  uint64_t bytes;
  uint64_t free_bytes;
  unsigned architecture;  // 90: compute capability 9.0
};

struct Shared {
  Hub* hub;
  ThreadState* (*thread)();
  CUcontext (*current_context)(uint32_t* uid);
  const char* (*symbol)(const void* function_or_kernel);  // kernel name, or null
  // Says so on stderr, once for each library that asks; `caller` is an address in its code.
  void (*not_modelled)(const char* function, const void* caller);
  bool (*driver_ready)();  // cuInit was called
  // Ids as CUPTI counts them; false for a handle that isn't one.
  bool (*graph_id)(CUgraph, uint32_t*);
  bool (*node_id)(CUgraphNode, uint64_t*);
  bool (*exec_id)(CUgraphExec, uint32_t*);
  bool (*stream_id)(CUcontext, CUstream, bool per_thread, uint32_t*);
  bool (*context_id)(CUcontext, uint32_t*);
  bool (*device_id)(CUcontext, uint32_t*);
  uint64_t (*host_time)();           // nanoseconds
  CUcontext (*primary)(int device);  // the primary context, or null where it isn't active
  CUresult (*check_unsafe)();        // of a call that a capture may forbid to this thread
  int (*device_count)();
  bool (*device_facts)(int place, DeviceFacts*);
};

}  // namespace graphkit::soft

extern "C" __attribute__((visibility("default"))) const graphkit::soft::Shared*
graphkit_soft_shared();
