// Memory: at once, in stream order, in graphs, and what is known of an address.
#include <cstring>

#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t stream;

// effect: cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMallocManaged
// effect: cudaPointerGetAttributes
CASE(Plain) {
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

  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocHost(nullptr, 4096));
  EXPECT_FAILS(cudaFreeHost(&local));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, host));

  void* managed = nullptr;
  EXPECT_OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
  std::memset(managed, 1, 4096);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  EXPECT_OK(cudaFree(managed));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocManaged(&managed, 4096, 0x40));
  (void)cudaGetLastError();
}

// effect: cudaMemPoolSetAttribute
// effect: cudaMallocAsync cudaFreeAsync cudaMemPoolGetAttribute cudaDeviceGetDefaultMemPool
CASE(InStreamOrder) {
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
  unsigned long long threshold = 1 << 20;
  EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(threshold == 1 << 20);
  EXPECT_FAILS(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(100), &threshold));
  EXPECT_FAILS(cudaMallocAsync(nullptr, 16, stream));
  EXPECT_FAILS(cudaDeviceGetDefaultMemPool(&pool, -1));
}

// effect: cudaHostAlloc cudaHostGetFlags cudaHostGetDevicePointer cudaHostRegister
// effect: cudaHostUnregister cudaMallocPitch cudaMalloc3D
CASE(HostAndRows) {
  void* host = nullptr;
  EXPECT_OK(cudaHostAlloc(&host, 4096, cudaHostAllocPortable | cudaHostAllocMapped));
  unsigned flags = 0;
  EXPECT_OK(cudaHostGetFlags(&flags, host));
  EXPECT((flags & cudaHostAllocPortable) != 0);
  void* device = nullptr;
  EXPECT_OK(cudaHostGetDevicePointer(&device, host, 0));
  EXPECT(device != nullptr);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostGetDevicePointer(&device, host, 1));
  EXPECT_OK(cudaFreeHost(host));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostAlloc(&host, 4096, 0x100));
  int local = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostGetFlags(&flags, &local));

  alignas(4096) static char own[8192];
  EXPECT_OK(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, own));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered,
               cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
  EXPECT_OK(cudaHostUnregister(own));
  EXPECT_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));

  size_t pitch = 0;
  EXPECT_OK(cudaMallocPitch(&device, &pitch, 100, 3));
  EXPECT(pitch >= 100 && pitch % 32 == 0);
  EXPECT_OK(cudaMemset2D(device, pitch, 1, 100, 3));
  EXPECT_OK(cudaFree(device));
  EXPECT_FAILS(cudaMallocPitch(nullptr, &pitch, 100, 3));
  cudaPitchedPtr volume = {};
  EXPECT_OK(cudaMalloc3D(&volume, make_cudaExtent(100, 3, 2)));
  EXPECT(volume.pitch >= 100);
  EXPECT_OK(cudaFree(volume.ptr));
  EXPECT_FAILS(cudaMalloc3D(nullptr, make_cudaExtent(100, 3, 2)));
  (void)cudaGetLastError();
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

CASE(NodesOfMemory) {
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

CASE(UnfreedAllocation) {
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
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  unsigned long long used = 1;
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
}

CASE(FreeOfForeignMemory) {
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
  conformance::RunCases();
  return conformance::Finish("memory");
}
