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

// The options of what a GPU's driver compiles; here nothing is.
bool AreOptions(const void* options, const void* values, unsigned count);
// The logs are empty, and no time was spent.
void GiveLogs(const CUjit_option* options, void** values, unsigned count);

}  // namespace graphkit::soft::driver
