// The kernels of a rebuilt graph. Compiled to PTX, which the driver turns into code for its device.
#include "plugins/cuda_exec/canary.h"

namespace {

using graphkit::exec::NodeWork;
using graphkit::exec::Report;

struct Claim {
  __device__ bool operator()(Report* report) const {
    return atomicCAS(&report->claimed, 0, 1) == 0;
  }
};

__device__ void Hold(unsigned int microseconds) {
  for (unsigned int i = 0; i < microseconds; ++i) __nanosleep(1000);
}

__device__ void Work(const NodeWork& work) {
  const unsigned long long first =
      blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
  const unsigned long long stride = gridDim.x * static_cast<unsigned long long>(blockDim.x);
  unsigned long long checks = graphkit::exec::Begin(work, first, stride, Claim{});
  __threadfence();
  Hold(work.held_us);
  checks += graphkit::exec::End(work, first, stride, Claim{});
  if (checks != 0) atomicAdd(&work.report->checks, checks);
}

}  // namespace

extern "C" __global__ void graphkit_canary(NodeWork work) { Work(work); }

#if __CUDA_ARCH__ >= 900
// Lets what depends on it programmatically start at once.
extern "C" __global__ void graphkit_canary_early(NodeWork work) {
  asm volatile("griddepcontrol.launch_dependents;");
  Work(work);
}

extern "C" __global__ void graphkit_canary_waits(NodeWork work) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  Work(work);
}
#endif
