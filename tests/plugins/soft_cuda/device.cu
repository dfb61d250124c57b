// Devices: what they are, and errors for ones that don't exist.
#include <cstring>
#include <thread>

#include "conformance.h"

namespace {

// effect: cudaDeviceGetPCIBusId cudaDeviceGetByPCIBusId
void Places() {
  char id[32] = {};
  int device = -1;
  EXPECT_OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  EXPECT(std::strlen(id) >= 12 && id[4] == ':' && id[7] == ':');  // 0000:00:00.0
  EXPECT_OK(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT(device == 0);
  EXPECT_FAILS(cudaDeviceGetPCIBusId(id, sizeof id, 1000));
  EXPECT_FAILS(cudaDeviceGetByPCIBusId(&device, "0fff:ff:1f.7"));
  (void)cudaGetLastError();
}

// effect: cudaDeviceGetLimit cudaDeviceSetLimit cudaCtxResetPersistingL2Cache
// cannot fail: cudaCtxResetPersistingL2Cache
void Limits() {
  size_t before = 0;
  size_t after = 0;
  EXPECT_OK(cudaDeviceGetLimit(&before, cudaLimitPrintfFifoSize));
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 * before));
  EXPECT_OK(cudaDeviceGetLimit(&after, cudaLimitPrintfFifoSize));
  EXPECT(after >= 2 * before);
  EXPECT_ERROR(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&after, static_cast<cudaLimit>(99)));
  EXPECT_ERROR(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceGetLimit(nullptr, cudaLimitPrintfFifoSize));
  EXPECT_OK(cudaCtxResetPersistingL2Cache());
  (void)cudaGetLastError();
}

// effect: cudaGetDevice cudaGetDeviceFlags cudaSetDeviceFlags cudaInitDevice
void Choice() {
  int device = -1;
  unsigned flags = 99;
  EXPECT_OK(cudaInitDevice(0, 0, 0));
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  EXPECT_OK(cudaGetDeviceFlags(&flags));
  EXPECT((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaInitDevice(1000, 0, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetDevice(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetDeviceFlags(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaSetDeviceFlags(0xffff0000));
  (void)cudaGetLastError();
}

// The last error of a thread, which a look leaves and a read takes.
// effect: cudaPeekAtLastError cudaGetLastError
// cannot fail: cudaPeekAtLastError cudaGetLastError
void LastError() {
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetDevice(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaPeekAtLastError());
  EXPECT_ERROR(cudaErrorInvalidValue, cudaPeekAtLastError());
  std::thread([] { EXPECT_OK(cudaPeekAtLastError()); }).join();
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_OK(cudaPeekAtLastError());
}

// effect: cudaDeviceGetStreamPriorityRange cudaDeviceSynchronize cudaDeviceReset
// effect: cudaCreateChannelDesc
// cannot fail: cudaDeviceGetStreamPriorityRange cudaDeviceReset cudaCreateChannelDesc
void ContextOfAll() {
  int least = 1;
  int greatest = 1;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest < 0);
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(nullptr, &greatest));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
  EXPECT_FAILS(cudaStreamEndCapture(stream, &graph));
  const cudaChannelFormatDesc desc =
      cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned);
  EXPECT(desc.x == 8 && desc.y == 16 && desc.z == 0 && desc.f == cudaChannelFormatKindSigned);
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 64));
  EXPECT_OK(cudaDeviceReset());
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);  // freed with the context
  (void)cudaGetLastError();
}

}  // namespace

// effect: cudaGetDeviceCount cudaSetDevice cudaGetDeviceProperties cudaDeviceGetAttribute
// effect: cudaMemGetInfo cudaRuntimeGetVersion cudaDriverGetVersion
int main() {
  int count = 0;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(count));
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
  Places();
  Limits();
  Choice();
  LastError();
  ContextOfAll();
  return conformance::Finish("device");
}
