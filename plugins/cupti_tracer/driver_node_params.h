// What explicit nodes and captured work have in common in the driver's parameters.
#pragma once

#include <cuda.h>

#include "plugins/cupti_tracer/calls.h"
#include "plugins/cupti_tracer/driver_decoders.h"

namespace graphkit::decode {

// A kernel's arguments, as pointers or as one buffer.
void Arguments(void** arguments, void** extra, KernelWork& work);

// What a copy reads and writes.
void CopyEnds(const CUDA_MEMCPY3D& copy, Call& call);

// What waits for and writes of values touch, one after the other.
void MemoryOperations(const CallParams& params, const CUstreamBatchMemOpParams* operations,
                      size_t count, Call& call);

// Bytes from the first to the last of `height` rows in `depth` layers.
inline uint64_t Span(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch,
                     uint64_t rows) {
  if (width == 0 || height == 0 || depth == 0) return 0;
  return ((depth - 1) * rows + height - 1) * pitch + width;
}

// What a kernel node launches.
template <typename KernelParams>
void KernelNode(const KernelParams& p, uint64_t function, KernelWork& work) {
  work.function = function;
  work.grid[0] = p.gridDimX, work.grid[1] = p.gridDimY, work.grid[2] = p.gridDimZ;
  work.block[0] = p.blockDimX, work.block[1] = p.blockDimY, work.block[2] = p.blockDimZ;
  work.shared_bytes = p.sharedMemBytes;
  Arguments(p.kernelParams, p.extra, work);
}

// A node's parameters of any kind.
void AnyNode(const CallParams& params, const CUgraphNodeParams* p, Call& call);

// What a memset of rows writes.
void SetRange(uint64_t address, uint64_t pitch, uint64_t width_bytes, uint64_t height, Call& call);

}  // namespace graphkit::decode
