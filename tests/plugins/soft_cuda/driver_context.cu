// Contexts: the stack of a thread, the primary context, limits and flags.
#include "conformance.h"
#include "older.h"

using namespace conformance;

namespace {

CUdevice device;
constexpr CUdevice kNoDevice = 9999;

CUcontext Current() {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&context));
  return context;
}

CUcontext NewContext(unsigned flags = 0) {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxCreate(&context, nullptr, flags, device));
  return context;
}

// effect: cuCtxCreate cuCtxDestroy cuCtxGetCurrent cuCtxPushCurrent cuCtxPopCurrent cuCtxSetCurrent
CASE(Stack) {
  CUcontext popped = nullptr;
  EXPECT(Current() == nullptr);
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
  CUcontext first = NewContext();
  EXPECT(Current() == first);
  CUcontext second = NewContext();
  EXPECT(Current() == second && first != second);
  EXPECT_OK(cuCtxPopCurrent(&popped));
  EXPECT(popped == second && Current() == first);
  EXPECT_OK(cuCtxPushCurrent(second));
  EXPECT(Current() == second);
  EXPECT_OK(cuCtxSetCurrent(first));  // replaces the top
  EXPECT(Current() == first);
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT(Current() == first);
  EXPECT_OK(cuCtxPushCurrent(second));
  EXPECT_OK(cuCtxDestroy(second));  // pops it
  EXPECT(Current() == first);
  EXPECT_OK(cuCtxSetCurrent(nullptr));
  EXPECT(Current() == nullptr);
  EXPECT_OK(cuCtxDestroy(first));
  EXPECT_FAILS(cuCtxDestroy(nullptr));
  EXPECT_FAILS(cuCtxPushCurrent(nullptr));
  ON_SOFT(EXPECT_FAILS(cuCtxSetCurrent(first)));
  EXPECT_FAILS(cuCtxGetCurrent(nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(nullptr, nullptr, 0, device));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&first, nullptr, 0x4000, device));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&first, nullptr, 0, kNoDevice));
}

// effect: cuCtxGetFlags cuCtxSetFlags cuCtxGetDevice cuCtxGetDevice_v2 cuCtxGetId
// effect: cuCtxGetApiVersion cuCtxGetStreamPriorityRange cuCtxSynchronize cuCtxSynchronize_v2
// effect: cuCtxResetPersistingL2Cache
CASE(Properties) {
  CUcontext context = NewContext(CU_CTX_SCHED_BLOCKING_SYNC);
  unsigned flags = 0;
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC);
  EXPECT_OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_YIELD);
  CUdevice got = -1;
  EXPECT_OK(cuCtxGetDevice(&got));
  EXPECT(got == device);
  got = -1;
  EXPECT_OK(cuCtxGetDevice_v2(&got, context));
  EXPECT(got == device);
  unsigned long long id = 0;
  unsigned long long other_id = 0;
  EXPECT_OK(cuCtxGetId(nullptr, &id));
  CUcontext other = NewContext();
  EXPECT_OK(cuCtxGetId(other, &other_id));
  EXPECT(id != other_id);
  EXPECT_OK(cuCtxDestroy(other));
  unsigned version = 0;
  EXPECT_OK(cuCtxGetApiVersion(context, &version));
  EXPECT(version >= 3010);
  int least = -1;
  int greatest = 1;
  EXPECT_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest <= least);
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuCtxSynchronize_v2(context));
  EXPECT_OK(cuCtxResetPersistingL2Cache());
  EXPECT_FAILS(cuCtxGetFlags(nullptr));
  EXPECT_FAILS(cuCtxSetFlags(0x4000));
  EXPECT_FAILS(cuCtxGetDevice(nullptr));
  EXPECT_FAILS(cuCtxGetDevice_v2(nullptr, context));
  EXPECT_FAILS(cuCtxGetId(context, nullptr));
  EXPECT_FAILS(cuCtxGetApiVersion(context, nullptr));
  EXPECT_OK(cuCtxDestroy(context));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&got));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  EXPECT_FAILS(cuCtxSynchronize_v2(context));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxResetPersistingL2Cache());
}

// effect: cuCtxGetLimit cuCtxSetLimit cuCtxGetCacheConfig cuCtxSetCacheConfig
// effect: cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig
CASE(Limits) {
  CUcontext context = NewContext();
  size_t value = 0;
  EXPECT_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT(value >= 1024);
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20));
  EXPECT_OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT(value >= 64 << 20);
  EXPECT_FAILS(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  EXPECT_FAILS(cuCtxGetLimit(&value, static_cast<CUlimit>(100)));
  EXPECT_FAILS(cuCtxSetLimit(static_cast<CUlimit>(100), 1));
  EXPECT_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_EQUAL;
  EXPECT_OK(cuCtxGetCacheConfig(&cache));
  EXPECT(cache == CU_FUNC_CACHE_PREFER_L1);
  EXPECT_FAILS(cuCtxGetCacheConfig(nullptr));
  EXPECT_FAILS(cuCtxSetCacheConfig(static_cast<CUfunc_cache>(50)));
  // Banks have one width since compute capability 5.0: what is set has no effect.
  EXPECT_OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  CUsharedconfig banks = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
  EXPECT_OK(cuCtxGetSharedMemConfig(&banks));
  EXPECT(banks == CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  EXPECT_FAILS(cuCtxGetSharedMemConfig(nullptr));
  EXPECT_FAILS(cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(50)));
  EXPECT_OK(cuCtxDestroy(context));
}

// effect: cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease cuDevicePrimaryCtxGetState
// effect: cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxReset
CASE(Primary) {
  unsigned flags = 99;
  int active = 1;
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);
  EXPECT_FAILS(cuDevicePrimaryCtxRelease(device));
  EXPECT_OK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_SPIN));
  CUcontext context = nullptr;
  CUcontext again = nullptr;
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT(Current() == nullptr);  // retaining doesn't make it current
  EXPECT_OK(cuDevicePrimaryCtxRetain(&again, device));
  EXPECT(context == again);
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 1 && (flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_SPIN);
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 1);

  EXPECT_OK(cuCtxSetCurrent(context));
  CUdeviceptr memory = 0;
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  EXPECT_OK(cuMemGetInfo(&before, &total));
  EXPECT_OK(cuMemAlloc(&memory, 64 << 20));
  EXPECT_OK(cuDevicePrimaryCtxReset(device));  // frees what it holds
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuMemGetInfo(&after, &total));
  EXPECT(after + (32 << 20) >= before);
  EXPECT_OK(cuCtxSetCurrent(nullptr));
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  // A GPU's reset left the reference from before.
  if (!OnSoftDevice()) EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);

  EXPECT_FAILS(cuDevicePrimaryCtxRetain(nullptr, device));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&context, kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRelease(kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset(kNoDevice));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxSetFlags(kNoDevice, 0));
  EXPECT_FAILS(cuDevicePrimaryCtxSetFlags(device, 0x4000));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxGetState(kNoDevice, &flags, &active));
}

// effect: cuCtxCreate_v1 cuCtxCreate_v2 cuCtxCreate_v3 cuCtxDestroy_v1 cuCtxPushCurrent_v1
// effect: cuCtxPopCurrent_v1 cuDevicePrimaryCtxRelease_v1 cuDevicePrimaryCtxReset_v1
// effect: cuDevicePrimaryCtxSetFlags_v1
CASE(Older) {
  using Create = CUresult (*)(CUcontext*, unsigned, CUdevice);
  using CreateWithAffinity =
      CUresult (*)(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice);
  using OfContext = CUresult (*)(CUcontext);
  using OfDevice = CUresult (*)(CUdevice);
  const auto cuCtxCreate_v1 = OfVersion<Create>("cuCtxCreate", 2000);
  const auto cuCtxCreate_v2 = OfVersion<Create>("cuCtxCreate", 3020);
  const auto cuCtxCreate_v3 = OfVersion<CreateWithAffinity>("cuCtxCreate", 11040);
  const auto cuCtxDestroy_v1 = OfVersion<OfContext>("cuCtxDestroy", 2000);
  const auto cuCtxPushCurrent_v1 = OfVersion<OfContext>("cuCtxPushCurrent", 2000);
  const auto cuCtxPopCurrent_v1 = OfVersion<CUresult (*)(CUcontext*)>("cuCtxPopCurrent", 2000);
  CUcontext context = nullptr;
  if (OnSoftDevice()) {  // a GPU of more than 4 GiB has no context with short addresses
    EXPECT_OK(cuCtxCreate_v1(&context, 0, device));
    EXPECT(Current() == context);
    EXPECT_OK(cuCtxPopCurrent_v1(&context));
    EXPECT(Current() == nullptr);
    EXPECT_OK(cuCtxPushCurrent_v1(context));
    EXPECT(Current() == context);
    EXPECT_OK(cuCtxDestroy_v1(context));
    EXPECT(Current() == nullptr);
  }
  EXPECT_OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN, device));
  EXPECT(Current() == context);
  EXPECT_OK(cuCtxDestroy(context));
  EXPECT_OK(cuCtxCreate_v3(&context, nullptr, 0, 0, device));
  EXPECT(Current() == context);
  EXPECT_OK(cuCtxDestroy(context));
  EXPECT_FAILS(cuCtxCreate_v1(nullptr, 0, device));
  EXPECT_FAILS(cuCtxCreate_v2(&context, 0, kNoDevice));
  EXPECT_FAILS(cuCtxCreate_v3(&context, nullptr, 0, 0, kNoDevice));
  EXPECT_FAILS(cuCtxDestroy_v1(nullptr));
  EXPECT_FAILS(cuCtxPushCurrent_v1(nullptr));
  EXPECT_FAILS(cuCtxPopCurrent_v1(&context));

  const auto cuDevicePrimaryCtxRelease_v1 = OfVersion<OfDevice>("cuDevicePrimaryCtxRelease", 7000);
  const auto cuDevicePrimaryCtxReset_v1 = OfVersion<OfDevice>("cuDevicePrimaryCtxReset", 7000);
  const auto cuDevicePrimaryCtxSetFlags_v1 =
      OfVersion<CUresult (*)(CUdevice, unsigned)>("cuDevicePrimaryCtxSetFlags", 7000);
  unsigned flags = 0;
  int active = 0;
  EXPECT_OK(cuDevicePrimaryCtxSetFlags_v1(device, CU_CTX_SCHED_YIELD));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_YIELD && active == 1);
  EXPECT_OK(cuDevicePrimaryCtxRelease_v1(device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT_OK(cuDevicePrimaryCtxReset_v1(device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);
  EXPECT_FAILS(cuDevicePrimaryCtxSetFlags_v1(kNoDevice, 0));
  EXPECT_FAILS(cuDevicePrimaryCtxRelease_v1(kNoDevice));
  EXPECT_FAILS(cuDevicePrimaryCtxReset_v1(kNoDevice));
}

void AddOne(void* value) { ++*static_cast<int*>(value); }

// effect: cuCtxRecordEvent cuCtxWaitEvent
CASE(Work) {
  CUcontext context = NewContext();
  CUstream first = nullptr;
  CUstream second = nullptr;
  CUevent event = nullptr;
  EXPECT_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  int calls = 0;
  EXPECT_OK(cuLaunchHostFunc(first, AddOne, &calls));
  EXPECT_OK(cuCtxRecordEvent(context, event));
  EXPECT_OK(cuCtxWaitEvent(context, event));
  int later = 0;
  EXPECT_OK(cuLaunchHostFunc(second, AddOne, &later));  // what is launched from then on waits
  EXPECT_OK(cuStreamSynchronize(second));
  EXPECT(calls == 1 && later == 1);
  EXPECT_OK(cuEventSynchronize(event));
  EXPECT_FAILS(cuCtxRecordEvent(context, nullptr));
  EXPECT_FAILS(cuCtxWaitEvent(context, nullptr));
  EXPECT_OK(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxRecordEvent(context, event));
  CUgraph graph = nullptr;
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(first, &graph));
  EXPECT_OK(cuEventDestroy(event));
  EXPECT_OK(cuCtxDestroy(context));
}

}  // namespace

// effect: cuInit cuDriverGetVersion
int main() {
  int version = 0;
  EXPECT_OK(cuDriverGetVersion(&version));  // the only answer before cuInit
  EXPECT(version >= 12000);
  int count = 0;
  EXPECT_ERROR(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  EXPECT_OK(cuInit(0));
  EXPECT_FAILS(cuDriverGetVersion(nullptr));
  EXPECT_OK(cuDeviceGet(&device, 0));
  RunCases();
  return Finish("driver_context");
}
