// Lets the conformance programs, which are written for CUDA 13, be built with CUDA 12: there the
// functions with edge data have a suffix, and so have those that take a memory location.
#pragma once

#include <cuda_runtime_api.h>

#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
