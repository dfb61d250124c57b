// The same of the runtime (cuda.bindings 13.5's _internal/runtime.pxd). Here a parameter struct is
// named after the version that brought its function.
#pragma once

#include <cuda_runtime_api.h>

#include "plugins/soft_cuda/abi/newer_driver.h"

#if CUDART_VERSION < 13010
typedef struct cudaExecutionContext_st *cudaExecutionContext_t;
// clang-format off
typedef struct cudaGraphNodeGetContainingGraph_v13010_params_st {
    cudaGraphNode_t hNode;
    cudaGraph_t *phGraph;
} cudaGraphNodeGetContainingGraph_v13010_params;
typedef struct cudaGraphNodeGetLocalId_v13010_params_st {
    cudaGraphNode_t hNode;
    unsigned int *nodeId;
} cudaGraphNodeGetLocalId_v13010_params;
typedef struct cudaGraphNodeGetToolsId_v13010_params_st {
    cudaGraphNode_t hNode;
    unsigned long long *toolsNodeId;
} cudaGraphNodeGetToolsId_v13010_params;
typedef struct cudaGraphGetId_v13010_params_st {
    cudaGraph_t hGraph;
    unsigned int *graphID;
} cudaGraphGetId_v13010_params;
typedef struct cudaGraphExecGetId_v13010_params_st {
    cudaGraphExec_t hGraphExec;
    unsigned int *graphID;
} cudaGraphExecGetId_v13010_params;
typedef struct cudaGraphConditionalHandleCreate_v2_v13010_params_st {
    cudaGraphConditionalHandle *pHandle_out;
    cudaGraph_t graph;
    cudaExecutionContext_t ctx;
    unsigned int defaultLaunchValue;
    unsigned int flags;
} cudaGraphConditionalHandleCreate_v2_v13010_params;
// clang-format on
#endif

#if CUDART_VERSION < 13020
// clang-format off
typedef struct cudaGraphNodeGetParams_v13020_params_st {
    cudaGraphNode_t node;
    struct cudaGraphNodeParams *nodeParams;
} cudaGraphNodeGetParams_v13020_params;
// clang-format on
#endif
