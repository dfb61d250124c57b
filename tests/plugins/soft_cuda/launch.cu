// Launches: entry points, errors, argument layouts, and the copy of the arguments that a node
// keeps.
#include <string_view>

#include "conformance.h"
#include "kernels.h"

// Called by nvcc's code at each <<<>>>.
extern "C" cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*);
#if CUDART_VERSION >= 13000
extern "C" cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
#endif

namespace {

cudaStream_t stream;

cudaGraphNode_t CaptureMixed(cudaGraph_t* graph, Mixed mixed, const float* pointer) {
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  TakeMixed<<<dim3(3, 2), dim3(8, 4), 128, stream>>>(42, mixed, 'c', pointer);
  EXPECT_OK(cudaStreamEndCapture(stream, graph));
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  EXPECT_OK(cudaGraphGetNodes(*graph, &node, &count));
  EXPECT(count == 1);
  return node;
}

// effect: __cudaLaunchKernel __cudaPushCallConfiguration __cudaPopCallConfiguration __cudaGetKernel
CASE(ArgumentsAreCopied) {
  double target = 0;
  float value = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = CaptureMixed(&graph, {'x', &target, 9}, &value);
  cudaKernelNodeParams params;
  EXPECT_OK(cudaGraphKernelNodeGetParams(node, &params));
  EXPECT(params.gridDim.x == 3 && params.gridDim.y == 2 && params.gridDim.z == 1);
  EXPECT(params.blockDim.x == 8 && params.blockDim.y == 4);
  EXPECT(params.sharedMemBytes == 128);
  EXPECT(params.kernelParams != nullptr);
  if (params.kernelParams != nullptr) {
    EXPECT(*static_cast<int*>(params.kernelParams[0]) == 42);
    EXPECT(static_cast<Mixed*>(params.kernelParams[1])->pointer == &target);
    EXPECT(*static_cast<char*>(params.kernelParams[2]) == 'c');
    EXPECT(*static_cast<const float**>(params.kernelParams[3]) == &value);
  }
  EXPECT_OK(cudaGraphDestroy(graph));
}

// More than the 4 KiB that arguments had before CUDA 12.1: the size is written down in another way.
struct Wide {
  void* pointers[3000];
};
__global__ void TakeWide(Wide wide, char last) {
  if (wide.pointers[0] != nullptr) *static_cast<char*>(wide.pointers[0]) = last;
}

// effect: cudaFuncGetParamInfo
CASE(WideLayouts) {
  size_t offset = 0;
  size_t size = 0;
  const auto function = reinterpret_cast<const void*>(TakeWide);
  EXPECT_OK(cudaFuncGetParamInfo(function, 0, &offset, &size));
  EXPECT(offset == 0 && size == sizeof(Wide));
  EXPECT_OK(cudaFuncGetParamInfo(function, 1, &offset, &size));
  EXPECT(offset == sizeof(Wide) && size == 1);
}

// effect: cudaFuncGetParamInfo cudaFuncGetName cudaFuncGetAttributes
// effect: cudaOccupancyMaxActiveBlocksPerMultiprocessor
CASE(Layouts) {
  size_t offset = 0;
  size_t size = 0;
  const auto function = reinterpret_cast<const void*>(TakeMixed);
  EXPECT_OK(cudaFuncGetParamInfo(function, 0, &offset, &size));
  EXPECT(offset == 0 && size == 4);
  EXPECT_OK(cudaFuncGetParamInfo(function, 1, &offset, &size));
  EXPECT(offset == 8 && size == sizeof(Mixed));
  EXPECT_OK(cudaFuncGetParamInfo(function, 3, &offset, &size));
  EXPECT(offset == 40 && size == 8);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFuncGetParamInfo(function, 4, &offset, &size));
  const char* name = nullptr;
  EXPECT_OK(cudaFuncGetName(&name, function));
  EXPECT(name != nullptr && std::string_view(name).find("TakeMixed") != std::string_view::npos);
  cudaFuncAttributes attributes;
  EXPECT_OK(cudaFuncGetAttributes(&attributes, function));
  EXPECT(attributes.maxThreadsPerBlock == 1024);
  int blocks = 0;
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
  EXPECT(blocks >= 1);
}

// cannot fail: __cudaPushCallConfiguration
CASE(GeneratedCalls) {
  dim3 grid;
  dim3 block;
  size_t shared = 0;
  cudaStream_t of = nullptr;
  EXPECT_ERROR(cudaErrorMissingConfiguration,
               __cudaPopCallConfiguration(&grid, &block, &shared, &of));
#if CUDART_VERSION >= 13000
  cudaKernel_t kernel = nullptr;
  int not_a_kernel = 0;
  EXPECT_ERROR(cudaErrorInvalidDeviceFunction, __cudaGetKernel(&kernel, &not_a_kernel));
  EXPECT_OK(__cudaGetKernel(&kernel, reinterpret_cast<const void*>(Touch)));
  float* data = nullptr;
  void* arguments[] = {&data};
  EXPECT_OK(__cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, stream));
  EXPECT_ERROR(kNoShape, __cudaLaunchKernel(kernel, dim3(1), dim3(2048), arguments, 0, stream));
#endif
  cudaGetLastError();
}

// effect: cudaLaunchKernelExC cudaLaunchKernel cudaLaunchCooperativeKernel cudaGetLastError
CASE(Errors) {
  float* data = nullptr;
  void* arguments[] = {&data};
  const auto touch = reinterpret_cast<const void*>(Touch);
  EXPECT_OK(cudaLaunchKernel(touch, dim3(1), dim3(1), arguments, 0, stream));
  EXPECT_OK(cudaLaunchCooperativeKernel(touch, dim3(1), dim3(1), arguments, 0, stream));
  EXPECT_ERROR(kNoShape, cudaLaunchKernel(touch, dim3(0), dim3(1), arguments, 0, stream));
  EXPECT_ERROR(kNoShape, cudaLaunchKernel(touch, dim3(1), dim3(2048), arguments, 0, stream));
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  EXPECT_OK(cudaLaunchKernelExC(&config, touch, arguments));
  config.blockDim = dim3(2048);
  EXPECT_ERROR(kNoShape, cudaLaunchKernelExC(&config, touch, arguments));
  EXPECT_ERROR(kNoShape,
               cudaLaunchCooperativeKernel(touch, dim3(0), dim3(1), arguments, 0, stream));
  int not_a_kernel = 0;
  const char* name = nullptr;
  EXPECT_ERROR(kNoKernel, cudaFuncGetName(&name, &not_a_kernel));
  cudaFuncAttributes attributes;
  EXPECT_ERROR(kNoKernel, cudaFuncGetAttributes(&attributes, &not_a_kernel));
  int blocks = 0;
  EXPECT_ERROR(kNoKernel,
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &not_a_kernel, 256, 0));
  EXPECT_ERROR(kNoKernel, cudaLaunchKernel(&not_a_kernel, dim3(1), dim3(1), arguments, 0, stream));
  EXPECT_ERROR(kNoKernel, cudaGetLastError());
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaDeviceSynchronize());
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  conformance::RunCases();
  return conformance::Finish("launch");
}
