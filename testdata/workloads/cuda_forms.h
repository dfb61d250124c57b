// Calls that CUDA 12 and CUDA 13 spell differently, for edges that wait for everything. With CUDA
// 12 these are the older forms, without edge data.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#if CUDART_VERSION >= 12080
constexpr cudaGraphConditionalNodeType kConditionalSwitch = cudaGraphCondTypeSwitch;
#else
// The headers don't have it yet; a driver of 12.8 or later does.
constexpr cudaGraphConditionalNodeType kConditionalSwitch =
    static_cast<cudaGraphConditionalNodeType>(2);
#endif

inline cudaError_t AddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                           size_t count, cudaGraphNodeParams* params) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(node, graph, after, nullptr, count, params);
#else
  return cudaGraphAddNode(node, graph, after, count, params);
#endif
}

inline cudaError_t AddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                   const cudaGraphNode_t* to, size_t count) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
#else
  return cudaGraphAddDependencies(graph, from, to, count);
#endif
}

inline cudaError_t RemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                      const cudaGraphNode_t* to, size_t count) {
#if CUDART_VERSION >= 13000
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
#else
  return cudaGraphRemoveDependencies(graph, from, to, count);
#endif
}
