// Memory: at once, in stream order, in graphs, and what is known of an address.
#include <cstring>

#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t stream;

void Plain() {
  void* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, 1000));
  EXPECT(reinterpret_cast<size_t>(device) % 256 == 0);
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 10));
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  EXPECT(attributes.device == 0);
  int local = 0;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, &local));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT_OK(cudaFree(device));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(device));
  EXPECT_OK(cudaFree(nullptr));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&device, size_t{1} << 46));

  void* host = nullptr;
  EXPECT_OK(cudaMallocHost(&host, 4096));
  std::memset(host, 7, 4096);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT_OK(cudaFreeHost(host));

  void* managed = nullptr;
  EXPECT_OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
  std::memset(managed, 1, 4096);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  EXPECT_OK(cudaFree(managed));
  (void)cudaGetLastError();
}

void InStreamOrder() {
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  void* memory = nullptr;
  EXPECT_OK(cudaMallocAsync(&memory, 1 << 20, stream));
  unsigned long long used = 0;
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= 1 << 20);
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  unsigned long long high = 5;
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
}

cudaGraph_t CaptureAllocation(void** memory, bool freed) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaMallocAsync(memory, 1 << 20, stream));
  Touch<<<1, 32, 0, stream>>>(static_cast<float*>(*memory));
  if (freed) EXPECT_OK(cudaFreeAsync(*memory, stream));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

void NodesOfMemory() {
  void* memory = nullptr;
  cudaGraph_t graph = CaptureAllocation(&memory, true);
  cudaGraphNode_t nodes[3];
  size_t count = 3;
  EXPECT_OK(cudaGraphGetNodes(graph, nodes, &count));
  EXPECT(count == 3);
  cudaMemAllocNodeParams params;
  EXPECT_OK(cudaGraphMemAllocNodeGetParams(nodes[0], &params));
  EXPECT(params.dptr == memory && params.bytesize == 1 << 20);
  void* freed = nullptr;
  EXPECT_OK(cudaGraphMemFreeNodeGetParams(nodes[2], &freed));
  EXPECT(freed == memory);
  cudaGraph_t clone = nullptr;
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void UnfreedAllocation() {
  void* memory = nullptr;
  cudaGraph_t graph = CaptureAllocation(&memory, false);
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaGraphExecDestroy(exec));

  EXPECT_OK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  unsigned long long used = 1;
  EXPECT_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
}

void FreeOfForeignMemory() {
  void* memory = nullptr;
  EXPECT_OK(cudaMallocAsync(&memory, 4096, stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeAsync(memory, stream));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFreeAsync(memory, stream));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  Plain();
  InStreamOrder();
  NodesOfMemory();
  UnfreedAllocation();
  FreeOfForeignMemory();
  return conformance::Finish("memory");
}
