// The driver calls of libraries and frameworks as they start. Sources: runs of PyTorch 2.15, cuDNN,
// numba-cuda and cuda.core on the software device, and cuda.h at each function.
#include <dlfcn.h>

#include "code.h"
#include "conformance.h"
#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

cudaStream_t stream;

void CUDA_CB Logged(void*, CUlogLevel, char*, size_t) {}

// PyTorch registers a callback in every run.
// effect: cuLogsRegisterCallback cuLogsUnregisterCallback
// effect: cudaLogsRegisterCallback cudaLogsUnregisterCallback
CASE(Logs) {
  CUlogsCallbackHandle handle = nullptr;
  EXPECT_OK(cuLogsRegisterCallback(Logged, nullptr, &handle));
  EXPECT(handle != nullptr);
  EXPECT_FAILS(cuLogsRegisterCallback(nullptr, nullptr, &handle));
  EXPECT_OK(cuLogsUnregisterCallback(handle));
  ON_SOFT(EXPECT_FAILS(cuLogsUnregisterCallback(handle)));
  cudaLogsCallbackHandle of_runtime = nullptr;
  const auto logged = [](void*, cudaLogLevel, char*, size_t) {};
  EXPECT_OK(cudaLogsRegisterCallback(logged, nullptr, &of_runtime));
  EXPECT_FAILS(cudaLogsRegisterCallback(nullptr, nullptr, &of_runtime));
  EXPECT_OK(cudaLogsUnregisterCallback(of_runtime));
  ON_SOFT(EXPECT_FAILS(cudaLogsUnregisterCallback(of_runtime)));
}

// cuDNN looks the function up by dlsym and asks every stream that it is given.
// effect: cuStreamGetGreenCtx
CASE(GreenContexts) {
  void* found = dlsym(RTLD_DEFAULT, "cuStreamGetGreenCtx");
  EXPECT(found != nullptr);
  const auto ask = reinterpret_cast<CUresult (*)(CUstream, CUgreenCtx*)>(found);
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(&stream);
  EXPECT_OK(ask(stream, &green));
  EXPECT(green == nullptr);
  EXPECT_FAILS(cuStreamGetGreenCtx(stream, nullptr));
}

// cudaProfilerStart's counterpart, as the static runtime and profilers look it up.
CASE(Profilers) {
  for (const char* name : {"cuProfilerStart", "cuProfilerStop"}) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    EXPECT_OK(cuGetProcAddress(name, &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    EXPECT(found != nullptr && status == CU_GET_PROC_ADDRESS_SUCCESS);
    if (found != nullptr) EXPECT_OK(reinterpret_cast<CUresult (*)()>(found)());
  }
}

// Clients load every image at once where it says EAGER.
CASE(LoadingMode) {
  CUmoduleLoadingMode mode{};
  EXPECT_OK(cuModuleGetLoadingMode(&mode));
  EXPECT(mode == CU_MODULE_LAZY_LOADING);
}

CASE(ManagedVariablesNeedNoContext) {
  CUlibrary library = nullptr;
  EXPECT_OK(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxPopCurrent(&context));
  CUdeviceptr address = 0;
  size_t bytes = 0;
  EXPECT_OK(cuLibraryGetManaged(&address, &bytes, library, "seen_by_both"));
  EXPECT(address != 0 && bytes == 4);
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT,
               cuLibraryGetGlobal(&address, &bytes, library, "counter"));
  EXPECT_OK(cuCtxPushCurrent(context));
  EXPECT_OK(cuLibraryUnload(library));
}

// The one node of what `launch` captures.
template <typename Launch>
CUDA_KERNEL_NODE_PARAMS Captured(cudaGraph_t* graph, Launch&& launch) {
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch();
  EXPECT_OK(cudaStreamEndCapture(stream, graph));
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  EXPECT_OK(cudaGraphGetNodes(*graph, &node, &count));
  CUDA_KERNEL_NODE_PARAMS params = {};
  EXPECT_OK(cuGraphKernelNodeGetParams(node, &params));
  return params;
}

// A node gives back both handles, by whichever it was launched.
CASE(KernelsAndFunctions) {
  cudaKernel_t of_runtime = nullptr;
  EXPECT_OK(cudaGetKernel(&of_runtime, reinterpret_cast<const void*>(Touch)));
  const auto kernel = reinterpret_cast<CUkernel>(of_runtime);
  CUfunction function = nullptr;
  EXPECT_OK(cuKernelGetFunction(&function, kernel));
  void* none = nullptr;
  void* arguments[] = {&none};
  cudaGraph_t graph = nullptr;
  const auto launch = [&](CUfunction f) {
    return [=, &arguments] {
      EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    };
  };
  CUDA_KERNEL_NODE_PARAMS params = Captured(&graph, launch(reinterpret_cast<CUfunction>(kernel)));
  EXPECT(params.func == function && params.kern == kernel);
  EXPECT_OK(cudaGraphDestroy(graph));
  params = Captured(&graph, launch(function));
  EXPECT(params.func == function && params.kern == kernel);
  EXPECT_OK(cudaGraphDestroy(graph));
  cudaFunction_t by_symbol = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&by_symbol, reinterpret_cast<const void*>(Touch)));
  EXPECT(by_symbol == function);
}

// Undocumented tables stay refused; stderr says who asked (software device only).
CASE(Tables) {
  const void* table = nullptr;
  const CUuuid id = {};
  EXPECT_FAILS(cuGetExportTable(&table, &id));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  RunCases();
  return Finish("driver_clients");
}
