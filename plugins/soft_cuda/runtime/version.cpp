#include "plugins/soft_cuda/runtime/version.h"

#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

const int kRuntimeVersion = CUDART_VERSION;

}  // namespace graphkit::soft::runtime
