// The parameters of a node, read from the parameter structs of the API: checked, and copied deeply.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/model/graph.h"
#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft::driver {

// Types that own graphs or memory aren't supported here: 801.
CUresult ReadParams(const CUgraphNodeParams& from, NodeParams* out);

// The parameters of one type of node as those of any, so that the functions of each type that add a
// node and change one of a graph or exec have one reader.
CUgraphNodeParams AnyParams(const CUDA_KERNEL_NODE_PARAMS_v1& kernel);
CUgraphNodeParams AnyParams(const CUDA_KERNEL_NODE_PARAMS_v2& kernel);
CUgraphNodeParams AnyParams(const CUDA_MEMCPY3D& copy, CUcontext context);
CUgraphNodeParams AnyParams(const CUDA_MEMSET_NODE_PARAMS& set, CUcontext context);
CUgraphNodeParams AnyParams(const CUDA_HOST_NODE_PARAMS& host);
CUgraphNodeParams AnyParams(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& signal);
CUgraphNodeParams AnyParams(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& wait);
CUgraphNodeParams AnyParams(const CUDA_BATCH_MEM_OP_NODE_PARAMS& batch);
CUgraphNodeParams EventRecordParams(CUevent event);
CUgraphNodeParams EventWaitParams(CUevent event);

// A kernel node that is given other parameters keeps its attributes.
void KeepAttributes(const Node& node, NodeParams* params);
// And the memory of its arguments, of the same kernel: llama.cpp keeps the pointers that it asked
// for once, though parameters that are set may end their lives.
void KeepArgumentMemory(Node* node, NodeParams* params);

CUcontext CurrentHandle();  // null: no context

// --- the arguments of a launch, as a kernel node keeps them (launch_params.cpp)

// Copies the argument values by the kernel's layout, out of `kernel_params` or the buffer in
// `extra`. Where the layout isn't known nothing is read.
CUresult CopyArguments(const Function& function, void** kernel_params, void** extra,
                       KernelArguments* out);
// One pointer per parameter, into the copy; null where there is none.
void** ArgumentPointers(const Function& function, KernelArguments& arguments);

// The same for values that were given as one buffer.
void** BufferPointers(KernelArguments& arguments);

}  // namespace graphkit::soft::driver
