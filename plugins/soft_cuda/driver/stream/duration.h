// How long work takes on the modelled clock.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

// How long work takes on the modelled clock. A kernel takes as long as its blocks have to wait for
// each other: one step for each time that they fill all multiprocessors.
uint64_t KernelNs(const Function& function, const LaunchShape& shape, const Gpu& gpu);
uint64_t DurationNs(const NodeParams& params, const Gpu& gpu);

}  // namespace graphkit::soft::driver
