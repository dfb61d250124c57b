// External memory, as arrays and buffers that are mapped onto it hold it.
#pragma once

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// One buffer or array less is mapped onto it.
void Unmap(ExternalMemory* external);

}  // namespace graphkit::soft::driver
