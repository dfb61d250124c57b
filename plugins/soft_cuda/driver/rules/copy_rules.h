// Rules for copies and fills, from the documentation of the functions that make them.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

// Is the pitch allowed, do arrays hold what is moved in whole elements of one size, does device
// memory hold it, is host memory anything but null?
CUresult CheckCopy(const CUDA_MEMCPY3D& copy);
// Fills in the pitches and heights that a caller may leave at 0.
CUDA_MEMCPY3D WithRows(CUDA_MEMCPY3D copy);
// Is the first element aligned, is each row within its pitch, and all of it in an allocation?
bool CanSet(const CUDA_MEMSET_NODE_PARAMS& set);
// Is it a value of CUmemcpySrcAccessOrder that says something?
bool IsAccessOrder(CUmemcpySrcAccessOrder order);

}  // namespace graphkit::soft::driver
