// Devices: what they are, and errors for ones that don't exist.
#include <cstring>

#include "conformance.h"

using namespace conformance;

namespace {

int count;

// As PyTorch's test_cuda.py expects it of programs that use another device only.
CASE(QuestionsActivateNoDevice) {
  int least = -1;
  int greatest = 1;
  int can = -1;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest < 0);
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  unsigned flags = 0;
  int active = -1;
  EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  // One of these calls or the next makes the context active on an H200 (driver 580).
  ON_SOFT(EXPECT(active == 0));
}

// PyTorch's name for the function that makes this call says that it may make a context
// (currentStreamCaptureStatusMayInitCtx in c10/cuda/CUDAGraphsC10Utils.h), and its allocator makes
// it before its first cudaMalloc. torch_memory_saver needs a context there on GPUs: the cudaMalloc
// that it preloads asks cuCtxGetDevice first.
CASE(AskingWhetherTheNullStreamCapturesMakesAContext) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  EXPECT_OK(cudaStreamIsCapturing(nullptr, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  CUdevice device = -1;
  EXPECT_OK(cuCtxGetDevice(&device));
  EXPECT(device == 0);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamIsCapturing(nullptr, nullptr));
  cudaGetLastError();
}

// effect: cudaGetDeviceCount cudaSetDevice cudaGetDeviceProperties cudaDeviceGetAttribute
// effect: cudaMemGetInfo cudaRuntimeGetVersion cudaDriverGetVersion
// effect: cudaPeekAtLastError cudaGetDevice
// cannot fail: cudaPeekAtLastError
CASE(Identity) {
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  int current = -1;
  EXPECT_OK(cudaGetDevice(&current));
  EXPECT(current == 0);
  EXPECT_FAILS(cudaGetDevice(nullptr));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(count));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaPeekAtLastError());
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_OK(cudaGetLastError());

  cudaDeviceProp prop;
  EXPECT_OK(cudaGetDeviceProperties(&prop, 0));
  int major = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(prop.major == major);
  EXPECT(prop.warpSize == 32);
  EXPECT(prop.maxThreadsPerBlock == 1024);
  EXPECT(std::strlen(prop.name) > 0);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, count));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaRuntimeGetVersion(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDriverGetVersion(nullptr));
  EXPECT_ERROR(cudaErrorInvalidDevice,
               cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, count));
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_OK(cudaMemGetInfo(&free_bytes, &total_bytes));
  EXPECT(total_bytes == prop.totalGlobalMem);
  EXPECT(free_bytes <= total_bytes);

  int runtime = 0;
  int driver = 0;
  EXPECT_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_OK(cudaDriverGetVersion(&driver));
  EXPECT(driver >= 12000 && runtime >= 12000);
  EXPECT_OK(cudaDeviceSynchronize());
}

// effect: cudaDeviceGetPCIBusId cudaDeviceGetByPCIBusId cudaDeviceGetStreamPriorityRange
// effect: cudaDeviceGetLimit cudaDeviceSetLimit cudaCreateChannelDesc cudaCtxResetPersistingL2Cache
// cannot fail: cudaCreateChannelDesc cudaDeviceGetStreamPriorityRange cudaCtxResetPersistingL2Cache
CASE(Settings) {
  char id[32];
  EXPECT_OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  int found = -1;
  EXPECT_OK(cudaDeviceGetByPCIBusId(&found, id));
  EXPECT(found == 0);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(id, sizeof id, count));
  EXPECT_FAILS(cudaDeviceGetByPCIBusId(&found, "ffff:ff:1f.7"));
  int least = 1;
  int greatest = 1;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= least && least == 0);
  size_t before = 0;
  size_t after = 0;
  EXPECT_OK(cudaDeviceGetLimit(&before, cudaLimitPrintfFifoSize));
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 * before));
  EXPECT_OK(cudaDeviceGetLimit(&after, cudaLimitPrintfFifoSize));
  EXPECT(after >= 2 * before);
  EXPECT_FAILS(cudaDeviceGetLimit(nullptr, cudaLimitPrintfFifoSize));
  EXPECT_FAILS(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1));
  const cudaChannelFormatDesc format =
      cudaCreateChannelDesc(16, 8, 0, 0, cudaChannelFormatKindUnsigned);
  EXPECT(format.x == 16 && format.y == 8 && format.f == cudaChannelFormatKindUnsigned);
  EXPECT_OK(cudaCtxResetPersistingL2Cache());
}

// effect: cudaDeviceCanAccessPeer cudaDeviceGetP2PAttribute cudaDeviceEnablePeerAccess
// effect: cudaDeviceDisablePeerAccess cudaDeviceGetP2PAtomicCapabilities
// effect: cudaDeviceGetHostAtomicCapabilities cudaDeviceFlushGPUDirectRDMAWrites
CASE(Peers) {
  int can = -1;
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, count));
  EXPECT_FAILS(cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_FAILS(cudaDeviceDisablePeerAccess(count));
  EXPECT_FAILS(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, count));
  EXPECT_FAILS(cudaDeviceFlushGPUDirectRDMAWrites(
      static_cast<cudaFlushGPUDirectRDMAWritesTarget>(7), cudaFlushGPUDirectRDMAWritesToOwner));
  EXPECT_OK(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                               cudaFlushGPUDirectRDMAWritesToOwner));
  if (count > 1) {
    EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    int supported = -1;
    EXPECT_OK(cudaDeviceGetP2PAttribute(&supported, cudaDevP2PAttrAccessSupported, 0, 1));
    EXPECT(supported == can);
  }
  if (can == 1) {
    EXPECT_ERROR(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    EXPECT_OK(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_ERROR(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  }
#if CUDART_VERSION >= 13000
  const cudaAtomicOperation operations[2] = {cudaAtomicOperationIntegerAdd,
                                             cudaAtomicOperationExchange};
  unsigned capabilities[2] = {~0u, ~0u};
  EXPECT_OK(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
  EXPECT(capabilities[0] != ~0u && capabilities[1] != ~0u);
  EXPECT_FAILS(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, count));
  EXPECT_FAILS(cudaDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, count));
  if (count > 1) EXPECT_OK(cudaDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 1));
#endif
  cudaGetLastError();
}

// effect: cudaInitDevice cudaSetDeviceFlags cudaGetDeviceFlags cudaDeviceReset
// cannot fail: cudaDeviceReset
CASE(Flags) {
  EXPECT_OK(cudaInitDevice(0, 0, 0));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaInitDevice(count, 0, 0));
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  unsigned flags = 0;
  EXPECT_OK(cudaGetDeviceFlags(&flags));
  EXPECT((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync);
  EXPECT_FAILS(cudaGetDeviceFlags(nullptr));
  EXPECT_FAILS(cudaSetDeviceFlags(0x4000));
  cudaGetLastError();
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 1 << 20));
  EXPECT_OK(cudaDeviceReset());
  EXPECT_FAILS(cudaFree(memory));  // it went with the device's context
  cudaGetLastError();
}

}  // namespace

int main() {
  RunCases();
  return Finish("device");
}
