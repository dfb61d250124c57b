// Freeing memory, of all kinds that a stream can free.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// Frees an allocation of any kind but the host's; one of a graph keeps its address.
CUresult FreeBlock(uint64_t address, Stream* stream);

}  // namespace graphkit::soft::driver
