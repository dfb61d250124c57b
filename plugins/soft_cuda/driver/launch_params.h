// A kernel launch as data: what a kernel node keeps.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>

#include "plugins/soft_cuda/model/module.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

CUresult CheckShape(const LaunchShape& shape);
// Copies the argument values by the kernel's layout, out of `kernel_params` or the buffer in
// `extra`. Where the layout isn't known nothing is read.
CUresult CopyArguments(const Function& function, void** kernel_params, void** extra,
                       KernelArguments* out);
// One pointer per parameter, into the copy; null where there is none.
void** ArgumentPointers(const Function& function, KernelArguments& arguments);

// The same for values that were given as one buffer.
void** BufferPointers(KernelArguments& arguments);

}  // namespace graphkit::soft::driver
