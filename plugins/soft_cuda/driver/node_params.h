// What a node does, read from the parameter structs of the API: checked, and copied deeply.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft::driver {

CUresult ReadKernel(const CUDA_KERNEL_NODE_PARAMS_v3& from, NodeParams* out);
CUresult ReadMemcpy(CUDA_MEMCPY3D copy, CUcontext context, NodeParams* out);
CUresult ReadMemset(const CUDA_MEMSET_NODE_PARAMS& set, CUcontext context, NodeParams* out);
CUresult ReadHost(CUhostFn function, void* user_data, NodeParams* out);
CUresult ReadEvent(CUevent event, NodeParams* out);
CUresult ReadSignal(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& from, NodeParams* out);
CUresult ReadWait(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& from, NodeParams* out);
CUresult ReadBatch(const CUDA_BATCH_MEM_OP_NODE_PARAMS& from, NodeParams* out);

// Any of the above by its type. Types that own graphs or memory aren't supported here: 801.
CUresult ReadParams(const CUgraphNodeParams& from, NodeParams* out);

// The fields of the struct that has no kernel handle.
CUDA_KERNEL_NODE_PARAMS_v3 Widen(const CUDA_KERNEL_NODE_PARAMS_v1& from);
CUDA_KERNEL_NODE_PARAMS_v3 Widen(const CUDA_KERNEL_NODE_PARAMS_v2& from);

CUcontext CurrentHandle();  // null: no context

}  // namespace graphkit::soft::driver
