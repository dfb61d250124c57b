// CUPTI of the CUDA 13 that graphkit is built with.
#include "plugins/soft_cuda/cupti/names.h"

namespace graphkit::soft {
namespace {

constexpr CallbackLabel kRuntimeNames[] = {
#include "cupti_runtime_names.inc"
};

}  // namespace

const CuptiVersion kCuptiVersion{CUPTI_API_VERSION, CUPTI_DRIVER_TRACE_CBID_SIZE,
                                 CUPTI_RUNTIME_TRACE_CBID_SIZE, CUPTI_CBID_RESOURCE_SIZE,
                                 kRuntimeNames};

}  // namespace graphkit::soft
