// What destroyed graphs leave to be done: addresses that no allocation node has any more, and user
// objects that are no longer held.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// Gives the addresses back and calls the destructors, with the lock released.
void Settle(Lock& lock);

// Gives the address of a graph allocation back if nothing can use it any more.
void ReleaseIfUnused(CUdeviceptr address);

}  // namespace graphkit::soft::driver
