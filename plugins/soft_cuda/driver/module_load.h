// Turning images into modules of the device.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// Loads the image that fits the device; its variables get memory, its kernels become functions.
CUresult LoadModule(const void* data, bool library, Module** out);
// Gives the variables memory on a device, where they have none.
CUresult PlaceVariables(Module* module, Gpu* gpu);
Function* AddFunction(Module* module, KernelInfo info);
void UnloadModule(Module* module);
Function* FindFunction(const Module& module, std::string_view name);

}  // namespace graphkit::soft::driver
