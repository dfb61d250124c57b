// The kernels of canary.cu as PTX; empty in a build without nvcc.
#pragma once

namespace graphkit::exec {

extern const char kCanaryPtx[];              // for every device of CUDA 13
extern const char kCanaryPtxProgrammatic[];  // for compute capability 9.0 and up

}  // namespace graphkit::exec
