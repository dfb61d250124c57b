// CUPTI of CUDA 12.9 update 1.
#include "plugins/soft_cuda/cupti/names.h"

namespace graphkit::soft {
namespace {

constexpr CallbackLabel kRuntimeNames[] = {
#include "cupti12_runtime_names.inc"
};

}  // namespace

// tests/plugins/layouts.py compares these with its headers.
const CuptiVersion kCuptiVersion{28, 784, 487, 22, kRuntimeNames};

}  // namespace graphkit::soft
