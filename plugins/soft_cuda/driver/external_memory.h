// External memory: what freeing a buffer and an array that are mapped onto it does.
#pragma once

#include "plugins/soft_cuda/model/external_memory.h"

namespace graphkit::soft::driver {

// One buffer or array less is mapped onto it.
void Unmap(ExternalMemory* external);

}  // namespace graphkit::soft::driver
