// Launch configurations of the runtime as those of the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

CUlaunchConfig ToDriver(const cudaLaunchConfig_t& config);  // points to the same attributes

}  // namespace graphkit::soft::runtime
