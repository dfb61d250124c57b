// Streams: properties, order, attributes, errors.
#include "conformance.h"
#include "kernels.h"

static void AddOne(void* value) { ++*static_cast<int*>(value); }
static void CUDART_CB AddTen(cudaStream_t, cudaError_t status, void* value) {
  if (status == cudaSuccess) *static_cast<int*>(value) += 10;
}

// effect: cudaStreamGetDevice cudaStreamDestroy
// effect: cudaStreamCreateWithPriority cudaStreamCreateWithFlags cudaStreamCreate
// effect: cudaStreamGetFlags cudaStreamGetPriority cudaStreamGetId cudaLaunchHostFunc
// effect: cudaStreamSynchronize cudaStreamQuery cudaStreamSetAttribute cudaStreamGetAttribute
// effect: cudaStreamCopyAttributes cudaDeviceGetStreamPriorityRange cudaStreamAddCallback
int main() {
  int least = -1;
  int greatest = 1;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= least);

  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  unsigned flags = 0;
  int priority = 0;
  EXPECT_OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_OK(cudaStreamGetPriority(stream, &priority));
  EXPECT(flags == cudaStreamNonBlocking);
  EXPECT(priority == greatest);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 0x40));

  cudaStream_t other = nullptr;
  EXPECT_OK(cudaStreamCreate(&other));
  unsigned long long id = 0;
  unsigned long long other_id = 0;
  EXPECT_OK(cudaStreamGetId(stream, &id));
  EXPECT_OK(cudaStreamGetId(other, &other_id));
  EXPECT(id != other_id);

  int calls = 0;
  for (int i = 0; i < 3; ++i) EXPECT_OK(cudaLaunchHostFunc(stream, AddOne, &calls));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 3);
  EXPECT_OK(cudaStreamAddCallback(stream, AddTen, &calls, 0));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 13);
  EXPECT_OK(cudaStreamQuery(stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, nullptr, nullptr));

  cudaStreamAttrValue value = {};
  value.syncPolicy = cudaSyncPolicyYield;
  EXPECT_OK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
  EXPECT_OK(cudaStreamCopyAttributes(other, stream));
  value = {};
  EXPECT_OK(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &value));
  EXPECT(value.syncPolicy == cudaSyncPolicyYield);
  CUcontext context = nullptr;
  CUstream elsewhere = nullptr;
  EXPECT_OK(cuCtxCreate(&context, nullptr, 0, 0));
  EXPECT_OK(cuStreamCreate(&elsewhere, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamCopyAttributes(stream, elsewhere));
  EXPECT_OK(cuCtxDestroy(context));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamCreateWithPriority(nullptr, 0, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetFlags(stream, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetPriority(stream, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetId(stream, nullptr));
  EXPECT_FAILS(cudaStreamSetAttribute(stream, cudaStreamAttrID(100), &value));
  EXPECT_FAILS(cudaStreamGetAttribute(stream, cudaStreamAttrID(100), &value));
  int device = -1;
  EXPECT_OK(cudaStreamGetDevice(stream, &device));
  EXPECT(device == 0);
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetDevice(stream, nullptr)));

  EXPECT_OK(cudaStreamDestroy(other));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaStreamSynchronize(cudaStreamPerThread));
  return conformance::Finish("stream");
}
