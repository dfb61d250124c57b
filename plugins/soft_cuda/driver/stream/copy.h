// Copies that no graph holds.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

// A copy of any kind. The call waits where pageable memory takes part.
CUresult EnqueueCopy(const CUDA_MEMCPY3D& copy, CUstream stream);
// On the legacy stream; the host waits for it.
CUresult CopyAtOnce(const CUDA_MEMCPY3D& copy);

}  // namespace graphkit::soft::driver
