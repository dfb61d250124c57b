// The options of what a GPU's driver compiles; here nothing is.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

bool AreOptions(const void* options, const void* values, unsigned count);
// The logs are empty, and no time was spent.
void GiveLogs(const CUjit_option* options, void** values, unsigned count);

}  // namespace graphkit::soft::driver
