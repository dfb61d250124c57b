// What a function may ask for and how much of it one multiprocessor holds.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// Of a block: what the code was compiled for, and what its registers allow.
int MostThreads(const Function& f);
// Bytes of dynamic shared memory that a launch may ask for.
int MostDynamic(const Function& f);
// Blocks of a cluster; 1 on devices without clusters.
unsigned MostInCluster(const Function& f, const Gpu& gpu);
// Blocks of this size that one multiprocessor holds at once.
int ActiveBlocksOf(const Gpu& gpu, const Function& f, int block, size_t dynamic);

}  // namespace graphkit::soft::driver
