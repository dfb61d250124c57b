// Small steps that the conformance programs about graphs share.
#pragma once

#include <vector>

#include "conformance.h"

namespace conformance {

inline cudaGraph_t NewGraph() {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  return graph;
}

inline cudaGraphNode_t AddEmpty(cudaGraph_t graph, std::vector<cudaGraphNode_t> after = {}) {
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

inline void AddOne(void* value) { ++*static_cast<int*>(value); }

inline cudaGraphNode_t AddCounter(cudaGraph_t graph, int* counter,
                                  std::vector<cudaGraphNode_t> after = {}) {
  cudaHostNodeParams params = {AddOne, counter};
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

// Sets `words` 4-byte words to a value.
inline cudaMemsetParams SetWords(void* to, unsigned value, size_t words = 1) {
  cudaMemsetParams params = {};
  params.dst = to;
  params.value = value;
  params.elementSize = 4;
  params.width = words;
  params.height = 1;
  return params;
}

inline cudaGraphNode_t AddSetWords(cudaGraph_t graph, void* to, unsigned value, size_t words = 1) {
  const cudaMemsetParams params = SetWords(to, value, words);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  return node;
}

// Of bytes in a row.
inline cudaMemcpy3DParms CopyOf(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms params = {};
  params.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  params.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  params.extent = make_cudaExtent(bytes, 1, 1);
  params.kind = kind;
  return params;
}

inline cudaGraphExec_t Instantiate(cudaGraph_t graph, unsigned long long flags = 0) {
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, flags));
  return exec;
}

inline void LaunchAndWait(cudaGraphExec_t exec, cudaStream_t stream) {
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
}

inline void RunOnce(cudaGraph_t graph, cudaStream_t stream) {
  cudaGraphExec_t exec = Instantiate(graph);
  LaunchAndWait(exec, stream);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

inline unsigned ReadWord(const void* device) {
  unsigned value = 0;
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

inline cudaMemAllocNodeParams AllocationOf(size_t bytes) {
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.poolProps.location.id = 0;
  params.bytesize = bytes;
  return params;
}

inline void* AddAllocation(cudaGraph_t graph, size_t bytes, cudaGraphNode_t* node,
                           std::vector<cudaGraphNode_t> after = {}) {
  cudaMemAllocNodeParams params = AllocationOf(bytes);
  EXPECT_OK(cudaGraphAddMemAllocNode(node, graph, after.data(), after.size(), &params));
  return params.dptr;
}

inline cudaGraphNode_t AddFree(cudaGraph_t graph, void* memory,
                               std::vector<cudaGraphNode_t> after) {
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemFreeNode(&node, graph, after.data(), after.size(), memory));
  return node;
}

}  // namespace conformance
