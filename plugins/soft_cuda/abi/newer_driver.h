// Functions of the driver that CUDA 13.0's headers don't have yet: their declarations, and their
// parameters as CUPTI would hand them to tools. From cuda.bindings 13.5 (cydriver.pxd).
#pragma once

#include <cuda.h>

#if CUDA_VERSION < 13010
extern "C" {
CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph);
CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId);
CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId);
CUresult cuGraphGetId(CUgraph hGraph, unsigned int* graphId);
CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId);
}
// clang-format off
typedef struct cuGraphNodeGetContainingGraph_params_st {
    CUgraphNode hNode;
    CUgraph *phGraph;
} cuGraphNodeGetContainingGraph_params;
typedef struct cuGraphNodeGetLocalId_params_st {
    CUgraphNode hNode;
    unsigned int *nodeId;
} cuGraphNodeGetLocalId_params;
typedef struct cuGraphNodeGetToolsId_params_st {
    CUgraphNode hNode;
    unsigned long long *toolsNodeId;
} cuGraphNodeGetToolsId_params;
typedef struct cuGraphGetId_params_st {
    CUgraph hGraph;
    unsigned int *graphId;
} cuGraphGetId_params;
typedef struct cuGraphExecGetId_params_st {
    CUgraphExec hGraphExec;
    unsigned int *graphId;
} cuGraphExecGetId_params;
// clang-format on
#endif

#if CUDA_VERSION < 13020
extern "C" CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams);
// clang-format off
typedef struct cuGraphNodeGetParams_params_st {
    CUgraphNode hNode;
    CUgraphNodeParams *nodeParams;
} cuGraphNodeGetParams_params;
// clang-format on
#endif
