// CUDA's state per host thread: the current contexts, the capture mode, the runtime's last error.
#pragma once

#include <cuda.h>
#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace graphkit::soft {

struct Context;
struct Stream;

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  CUstream stream;
};

struct ThreadState {
  uint64_t number = 0;             // in order of first use, from 1
  std::vector<Context*> contexts;  // the context stack; the last one is current
  Stream* per_thread_stream = nullptr;
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int runtime_errors[2] = {};            // cudaGetLastError of CUDA 12 and of CUDA 13
  int runtime_device = 0;                // cudaSetDevice
  bool context_asked = false;            // the runtime made its context current once
  std::vector<CallConfiguration> calls;  // __cudaPushCallConfiguration
  // cuptiActivityPushExternalCorrelationId, by kind
  std::map<int, std::vector<uint64_t>> external_ids;
  uint32_t correlation = 0;       // of the outermost call in flight
  uint32_t depth = 0;             // calls in flight: a driver call inside a runtime call is 2
  bool in_host_function = false;  // CUDA calls are not permitted there
};

}  // namespace graphkit::soft
