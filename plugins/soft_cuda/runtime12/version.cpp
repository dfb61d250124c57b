#include "plugins/soft_cuda/runtime/version.h"

namespace graphkit::soft::runtime {

const int kRuntimeVersion = 12090;

}  // namespace graphkit::soft::runtime
