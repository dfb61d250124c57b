// What makes a runtime library one of CUDA 12 or of CUDA 13.
#pragma once

namespace graphkit::soft::runtime {

extern const int kRuntimeVersion;  // as cudaRuntimeGetVersion gives it

// Each library has a last error of its own, where a program has both.
inline int RuntimeIndex() { return kRuntimeVersion >= 13000 ? 1 : 0; }

}  // namespace graphkit::soft::runtime
