// How copies of every kind enter a stream.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

// In stream order. The call waits where pageable memory takes part.
CUresult EnqueueCopy(const CUDA_MEMCPY3D& copy, CUstream stream);
// On the legacy stream; the host waits for it.
CUresult CopyAtOnce(const CUDA_MEMCPY3D& copy);

// Is it a value of CUmemcpySrcAccessOrder that says something?
bool IsAccessOrder(CUmemcpySrcAccessOrder order);

}  // namespace graphkit::soft::driver
