// Launches by the driver: entry points, arguments, attributes, and what a kernel and a device can
// take.
#include <cstring>

#include "code.h"
#include "conformance.h"
#include "kernels.h"

using namespace conformance;

namespace {

CUstream stream;
CUfunction add;
CUfunction bounded;
CUdeviceptr target;

struct Rest {
  long long first = 1;
  char other[16] = {};
};
unsigned amount = 42;
Rest rest;
void* arguments[] = {&target, &amount, &rest};

// A graph of one kernel, and its node.
struct Captured {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS params = {};

  template <typename Launch>
  explicit Captured(Launch&& launch) {
    EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_OK(launch());
    EXPECT_OK(cuStreamEndCapture(stream, &graph));
    size_t count = 1;
    EXPECT_OK(cuGraphGetNodes(graph, &node, &count));
    EXPECT(count == 1);
    EXPECT_OK(cuGraphKernelNodeGetParams(node, &params));
  }
  ~Captured() { EXPECT_OK(cuGraphDestroy(graph)); }

  CUlaunchAttributeValue Attribute(CUlaunchAttributeID id) const {
    CUlaunchAttributeValue value;
    EXPECT_OK(cuGraphKernelNodeGetAttribute(node, id, &value));
    return value;
  }
};

CUlaunchConfig Config(CUlaunchAttribute* attributes = nullptr, unsigned count = 0) {
  CUlaunchConfig config = {};
  config.gridDimX = 4;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 32;
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return config;
}

// effect: cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel
CASE(EntryPoints) {
  const Captured plain(
      [] { return cuLaunchKernel(add, 2, 3, 1, 64, 2, 1, 256, stream, arguments, nullptr); });
  EXPECT(plain.params.gridDimX == 2 && plain.params.gridDimY == 3 && plain.params.gridDimZ == 1);
  EXPECT(plain.params.blockDimX == 64 && plain.params.blockDimY == 2);
  EXPECT(plain.params.sharedMemBytes == 256);
  EXPECT(*static_cast<unsigned*>(plain.params.kernelParams[1]) == 42);
  EXPECT(static_cast<Rest*>(plain.params.kernelParams[2])->first == 1);
  const Captured cooperative(
      [] { return cuLaunchCooperativeKernel(add, 2, 1, 1, 64, 1, 1, 0, stream, arguments); });
  EXPECT(cooperative.Attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative == 1);
  const CUlaunchConfig config = Config();
  const Captured with_config([&] { return cuLaunchKernelEx(&config, add, arguments, nullptr); });
  EXPECT(with_config.params.gridDimX == 4 && with_config.params.blockDimX == 32);
  EXPECT_OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_OK(cuCtxSynchronize());
}

// All arguments in one buffer, laid out as the kernel has them.
CASE(Buffers) {
  struct {
    CUdeviceptr target = 16;
    unsigned amount = 43;
    unsigned gap = 0;
    Rest rest;
  } buffer;
  static_assert(sizeof buffer == 40);
  size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const Captured captured(
      [&] { return cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra); });
  buffer.amount = 0;  // the node has a copy
  const CUDA_KERNEL_NODE_PARAMS& got = captured.params;
  EXPECT(got.kernelParams != nullptr || got.extra != nullptr);
  if (got.extra != nullptr) {
    EXPECT(got.extra[2] == CU_LAUNCH_PARAM_BUFFER_POINTER);
    EXPECT(static_cast<decltype(buffer)*>(got.extra[3])->amount == 43);
  } else {
    EXPECT(*static_cast<unsigned*>(got.kernelParams[1]) == 43);
  }
  EXPECT_FAILS(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, extra));
}

CASE(Limits) {
  EXPECT_FAILS(cuLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_FAILS(cuLaunchKernel(add, 1, 1, 1, 1025, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_FAILS(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_FAILS(cuLaunchKernel(bounded, 1, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_OK(cuLaunchKernel(bounded, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  // More shared memory than is to be had without opting in.
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
               cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 60000, stream, arguments, nullptr));
  EXPECT_OK(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  EXPECT_OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 60000, stream, arguments, nullptr));
  EXPECT_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
               cuLaunchCooperativeKernel(add, 1 << 20, 1, 1, 1024, 1, 1, 0, stream, arguments));
  EXPECT_OK(cuCtxSynchronize());
}

CASE(Attributes) {
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attributes[0].value.priority = -1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim = {2, 1, 1};
  CUlaunchConfig config = Config(attributes, 2);
  {
    const Captured captured([&] { return cuLaunchKernelEx(&config, add, arguments, nullptr); });
    EXPECT(captured.Attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == -1);
    EXPECT(captured.Attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim.x == 2);
  }
  attributes[1].value.clusterDim.x = 3;  // doesn't divide the grid
  EXPECT_FAILS(cuLaunchKernelEx(&config, add, arguments, nullptr));
  attributes[1].value.clusterDim.x = 64;
  EXPECT_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, add, arguments, nullptr));
  config = Config(nullptr, 1);
  EXPECT_FAILS(cuLaunchKernelEx(&config, add, arguments, nullptr));
  EXPECT_FAILS(cuLaunchKernelEx(nullptr, add, arguments, nullptr));
}

// Nodes have the priority of the stream that they were captured in.
CASE(Priorities) {
  int least = 0;
  int greatest = 0;
  EXPECT_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  if (least == greatest) return;
  CUstream usual = stream;
  EXPECT_OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
  {
    const Captured captured(
        [] { return cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr); });
    EXPECT(captured.Attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == greatest);
  }
  EXPECT_OK(cuStreamDestroy(stream));
  stream = usual;
}

// A kernel of a library is launched, and added to graphs, without asking for its function.
CASE(KernelsAsFunctions) {
  CUlibrary library = nullptr;
  EXPECT_OK(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  EXPECT_OK(cuLibraryGetKernel(&kernel, library, "add"));
  EXPECT_OK(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, stream,
                           arguments, nullptr));
  EXPECT_OK(cuStreamSynchronize(stream));
  CUgraph graph = nullptr;
  EXPECT_OK(cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.kern = kernel;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  params.sharedMemBytes = 60000;  // this kernel hasn't opted in
  EXPECT_FAILS(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuLibraryUnload(library));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuMemAlloc(&target, 64));
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  EXPECT_OK(cuModuleGetFunction(&bounded, module, "bounded"));
  RunCases();
  EXPECT_OK(cuModuleUnload(module));
  return Finish("driver_launch");
}
