// Devices as the driver tells them.
#include <cstring>

#include "conformance.h"
#include "older.h"

// As in cudaProfiler.h, which not every package of the toolkit has.
extern "C" CUresult CUDAAPI cuProfilerStart();
extern "C" CUresult CUDAAPI cuProfilerStop();

using namespace conformance;

namespace {

CUdevice device;
constexpr CUdevice kNoDevice = 9999;

// effect: cuDeviceGet cuDeviceGetCount cuDeviceGetName cuDeviceTotalMem cuDeviceGetUuid
// effect: cuDeviceGetUuid_v1
CASE(Identity) {
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT(count >= 1);
  char name[64];
  EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT(std::strlen(name) > 0);
  char start[4];
  EXPECT_OK(cuDeviceGetName(start, sizeof start, device));
  EXPECT(std::strncmp(start, name, 3) == 0 && start[3] == '\0');
  size_t bytes = 0;
  EXPECT_OK(cuDeviceTotalMem(&bytes, device));
  EXPECT(bytes >= size_t{1} << 30);
  CUuuid uuid = {};
  CUuuid older = {};
  const auto cuDeviceGetUuid_v1 =
      OfVersion<CUresult (*)(CUuuid*, CUdevice)>("cuDeviceGetUuid", 9020);
  EXPECT_OK(cuDeviceGetUuid(&uuid, device));
  EXPECT_OK(cuDeviceGetUuid_v1(&older, device));
  EXPECT(std::memcmp(&uuid, &older, sizeof uuid) == 0);
  EXPECT_FAILS(cuDeviceGetUuid_v1(nullptr, device));
  EXPECT_FAILS(cuDeviceGetCount(nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, count));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetName(name, sizeof name, kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceTotalMem(&bytes, kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetUuid(&uuid, kNoDevice));
}

// effect: cuDeviceGetAttribute cuDeviceComputeCapability cuDeviceGetProperties
CASE(Attributes) {
  int value = 0;
  EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT(value == 32);
  int major = 0;
  int minor = -1;
  EXPECT_OK(cuDeviceComputeCapability(&major, &minor, device));
  EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(value == major && minor >= 0);
  CUdevprop properties = {};
  EXPECT_OK(cuDeviceGetProperties(&properties, device));
  EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  EXPECT(properties.maxThreadsPerBlock == value && properties.SIMDWidth == 32);
  EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                 device));
  EXPECT(value == 1);
  EXPECT_FAILS(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
               cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), device));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE,
               cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceComputeCapability(&major, &minor, kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetProperties(&properties, kNoDevice));
}

// effect: cuDeviceGetPCIBusId cuDeviceGetByPCIBusId
CASE(Bus) {
  char id[32];
  EXPECT_OK(cuDeviceGetPCIBusId(id, sizeof id, device));
  CUdevice found = -1;
  EXPECT_OK(cuDeviceGetByPCIBusId(&found, id));
  EXPECT(found == device);
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId(id, sizeof id, kNoDevice));
  EXPECT_FAILS(cuDeviceGetPCIBusId(nullptr, sizeof id, device));
  EXPECT_FAILS(cuDeviceGetByPCIBusId(&found, "ffff:ff:1f.7"));
  EXPECT_FAILS(cuDeviceGetByPCIBusId(nullptr, id));
}

// effect: cuDeviceCanAccessPeer cuDeviceGetP2PAttribute cuDeviceGetExecAffinitySupport
// effect: cuCtxGetExecAffinity cuFlushGPUDirectRDMAWrites
CASE(Relations) {
  int can = -1;
  EXPECT_OK(cuDeviceCanAccessPeer(&can, device, device));
  EXPECT(can == 0);  // of itself there is no peer
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&can, device, kNoDevice));
  EXPECT_FAILS(cuDeviceCanAccessPeer(nullptr, device, device));
  EXPECT_ERROR(
      CUDA_ERROR_INVALID_DEVICE,
      cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, device, kNoDevice));
  EXPECT_ERROR(
      CUDA_ERROR_INVALID_DEVICE,
      cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, device, device));
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  if (count > 1) {
    EXPECT_OK(cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    int peer = -1;
    EXPECT_OK(cuDeviceCanAccessPeer(&peer, 0, 1));
    EXPECT(can == peer);
  }
  int affinity = -1;
  EXPECT_OK(cuDeviceGetExecAffinitySupport(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device));
  EXPECT(affinity == 0 || affinity == 1);
  EXPECT_FAILS(cuDeviceGetExecAffinitySupport(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device));
  CUexecAffinityParam parameter = {};
  EXPECT_OK(cuCtxGetExecAffinity(&parameter, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  int multiprocessors = 0;
  EXPECT_OK(
      cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT(parameter.param.smCount.val == static_cast<unsigned>(multiprocessors));
  EXPECT_FAILS(cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  EXPECT_OK(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                       CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  EXPECT_FAILS(cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(7),
                                          CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
}

// effect: cuCtxEnablePeerAccess cuCtxDisablePeerAccess cuDeviceGetP2PAtomicCapabilities
CASE(Peers) {
  const CUatomicOperation operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
  unsigned capability = ~0u;
  EXPECT_FAILS(cuCtxEnablePeerAccess(nullptr, 0));
  EXPECT_FAILS(cuCtxDisablePeerAccess(nullptr));
  EXPECT_FAILS(cuDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, device, kNoDevice));
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  int can = 0;
  if (count > 1) EXPECT_OK(cuDeviceCanAccessPeer(&can, 0, 1));
  if (can == 0) return;
  EXPECT_OK(cuDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, 0, 1));
  EXPECT(capability != ~0u);
  CUcontext peer = nullptr;
  EXPECT_OK(cuDevicePrimaryCtxRetain(&peer, 1));
  EXPECT_ERROR(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(peer));
  EXPECT_OK(cuCtxEnablePeerAccess(peer, 0));
  EXPECT_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(peer, 0));
  EXPECT_OK(cuCtxDisablePeerAccess(peer));
  EXPECT_OK(cuDevicePrimaryCtxRelease(1));
}

// An operand can't move to another device by an update (cuda.h on cuGraphExecUpdate and
// cuGraphExecMemsetNodeSetParams); on its own device it can.
CASE(OperandsOfAnotherDevice) {
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  if (count < 2) return;
  unsigned* own = nullptr;
  unsigned* others = nullptr;
  EXPECT_OK(cudaMalloc(&own, 64));
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaMalloc(&others, 64));
  EXPECT_OK(cudaSetDevice(0));
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t set = nullptr;
  cudaGraphNode_t copy = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaMemsetParams fill = {};
  fill.dst = own;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  EXPECT_OK(
      cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, own, own + 8, 4, cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  fill.dst = own + 1;
  EXPECT_OK(cudaGraphExecMemsetNodeSetParams(exec, set, &fill));
  fill.dst = others;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, set, &fill));
  const auto kind = cudaMemcpyDeviceToDevice;
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, own, own + 4, 4, kind));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphExecMemcpyNodeSetParams1D(exec, copy, others, own, 4, kind));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphExecMemcpyNodeSetParams1D(exec, copy, own, others, 4, kind));
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_OK(cudaGraphMemsetNodeSetParams(set, &fill));
  EXPECT_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph, &info));
  EXPECT(info.result == cudaGraphExecUpdateErrorParametersChanged);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(own));
  EXPECT_OK(cudaFree(others));
  (void)cudaGetLastError();
}

// effect: cuDeviceGetHostAtomicCapabilities cuProfilerStart cuProfilerStop
CASE(Rest) {
  const CUatomicOperation operations[2] = {CU_ATOMIC_OPERATION_INTEGER_ADD,
                                           CU_ATOMIC_OPERATION_EXCHANGE};
  unsigned capabilities[2] = {~0u, ~0u};
  EXPECT_OK(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, device));
  EXPECT(capabilities[0] != ~0u && capabilities[1] != ~0u);
  EXPECT_FAILS(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, kNoDevice));
  EXPECT_OK(cuProfilerStart());
  EXPECT_OK(cuProfilerStop());
  EXPECT_OK(cuCtxSetCurrent(nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuProfilerStart());
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuProfilerStop());
}

}  // namespace

int main() {
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDeviceGet(&device, 0));
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  RunCases();
  return Finish("driver_device");
}
