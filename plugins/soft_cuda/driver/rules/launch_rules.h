// Rules for launches, from the documentation of the functions that make them.
#pragma once

#include <cuda.h>
#include <span>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

CUresult CheckShape(const LaunchShape& shape);
// Is this a window that a stream, a launch or a kernel node can have?
bool IsWindow(const CUaccessPolicyWindow& window);
// Block and shared memory: those of a node are checked when it is added, too.
CUresult CheckFunction(const Function& f, const LaunchShape& shape);
CUresult CheckAttributes(const Function& f, const LaunchShape& shape,
                         std::span<const CUlaunchAttribute> attributes, const Gpu& gpu);

}  // namespace graphkit::soft::driver
