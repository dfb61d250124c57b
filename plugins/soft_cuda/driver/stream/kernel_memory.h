// Memory that a kernel gets when it is launched: the device doesn't know what is in it from then on
// (ground/contents.h).
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/model/node_params.h"
#include "plugins/soft_cuda/model/stream.h"

namespace graphkit::soft::driver {

// The arguments are those of cuLaunchKernel.
void PassMemory(Stream* stream, Function& function, void** kernel_params, void** extra);
// Of a node; none: nothing that it writes.
std::vector<Work> PassedBy(const KernelParams& params);

}  // namespace graphkit::soft::driver
