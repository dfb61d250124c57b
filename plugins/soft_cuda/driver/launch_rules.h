// What a launch may ask for, of a kernel and a device.
#pragma once

#include <span>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

// Block and shared memory: those of a node are checked when it is added, too.
// Is this a window that a stream, a launch or a kernel node can have?
bool IsWindow(const CUaccessPolicyWindow& window);
CUresult CheckFunction(const Function& f, const LaunchShape& shape);
CUresult CheckAttributes(const Function& f, const LaunchShape& shape,
                         std::span<const CUlaunchAttribute> attributes, const Gpu& gpu);

}  // namespace graphkit::soft::driver
