// Copies and fills move the bytes that they say, at once, in streams and in graphs.
#include <vector>

#include "conformance.h"
#include "kernels.h"

__device__ int variable[4] = {1, 2, 3, 4};
__constant__ float constants[2];

namespace {

// effect: cudaMemcpy cudaMemset cudaMemcpy2D
CASE(AtOnce) {
  const std::vector<int> source = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int> target(8);
  int* device = nullptr;
  int* second = nullptr;
  const size_t bytes = source.size() * sizeof(int);
  EXPECT_OK(cudaMalloc(&device, bytes));
  EXPECT_OK(cudaMalloc(&second, bytes));
  EXPECT_OK(cudaMemcpy(device, source.data(), bytes, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(second, device, bytes, cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaMemcpy(target.data(), second, bytes, cudaMemcpyDefault));
  EXPECT(target == source);
  EXPECT_OK(cudaMemset(device, 0xff, bytes));
  EXPECT_OK(cudaMemcpy(target.data(), device, bytes, cudaMemcpyDeviceToHost));
  EXPECT(target == std::vector<int>(8, -1));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpy(device, second, bytes, static_cast<cudaMemcpyKind>(9)));

  EXPECT_OK(cudaMemcpy2D(device, 8, source.data(), 16, 8, 2, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(target.data(), device, 16, cudaMemcpyDeviceToHost));
  EXPECT((std::vector<int>(target.begin(), target.begin() + 4) == std::vector<int>{1, 2, 5, 6}));
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2D(device, 4, source.data(), 16, 8, 2, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 16));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, device, 16, cudaMemcpyDeviceToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpyAsync(nullptr, device, 16, cudaMemcpyDeviceToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemsetAsync(nullptr, 0, 16));
  EXPECT_OK(cudaFree(device));
  EXPECT_OK(cudaFree(second));
  (void)cudaGetLastError();
}

// effect: cudaMemcpy
CASE(PageLockedMemoryHasAnEnd) {
  constexpr size_t kBytes = 1 << 16;
  char* host = nullptr;
  char* device = nullptr;
  EXPECT_OK(cudaMallocHost(&host, kBytes));
  EXPECT_OK(cudaMalloc(&device, 2 * kBytes));
  for (cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDefault}) {
    EXPECT_OK(cudaMemcpy(device, host, kBytes, kind));
    EXPECT_OK(cudaMemcpy(device, host + 16, kBytes - 16, kind));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(device, host, kBytes + 1, kind));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyAsync(device, host + 16, kBytes, kind));
  }
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(host + 1, device, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2D(device, kBytes, host, kBytes / 2, 16, 3, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy2D(device, kBytes, host, kBytes / 2, kBytes / 2, 2, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaFreeHost(host));
  EXPECT_OK(cudaFree(device));
  (void)cudaGetLastError();
}

// effect: cudaMemcpyAsync cudaMemsetAsync
CASE(InAGraph) {
  cudaStream_t stream = nullptr;
  int* device = nullptr;
  int* host = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMalloc(&device, 64));
  EXPECT_OK(cudaMallocHost(&host, 64));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaMemsetAsync(device, 1, 64, stream));
  EXPECT_OK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  host[3] = 0;
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(host[3] == 0);
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[3] == 0x01010101);

  cudaGraphNode_t nodes[2];
  size_t count = 2;
  EXPECT_OK(cudaGraphGetNodes(graph, nodes, &count));
  cudaMemsetParams set;
  EXPECT_OK(cudaGraphMemsetNodeGetParams(nodes[0], &set));
  EXPECT(set.dst == device && set.width * set.elementSize * set.height == 64);
  cudaMemcpy3DParms copy;
  EXPECT_OK(cudaGraphMemcpyNodeGetParams(nodes[1], &copy));
  EXPECT(copy.srcPtr.ptr == device && copy.dstPtr.ptr == host && copy.extent.width == 64);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(nodes[1], &set));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(device));
  EXPECT_OK(cudaFreeHost(host));
}

// effect: cudaMemcpyToSymbolAsync cudaMemcpyFromSymbolAsync
// effect: cudaMemcpyToSymbol cudaMemcpyFromSymbol cudaGetSymbolSize cudaGetSymbolAddress
CASE(Variables) {
  int values[4] = {};
  EXPECT_OK(cudaMemcpyFromSymbol(values, variable, sizeof values));
  EXPECT(values[0] == 1 && values[3] == 4);
  const int seven = 7;
  EXPECT_OK(cudaMemcpyToSymbol(variable, &seven, sizeof seven, 4));
  EXPECT_OK(cudaMemcpyFromSymbol(values, variable, sizeof values));
  EXPECT(values[1] == 7 && values[2] == 3);
  size_t bytes = 0;
  EXPECT_OK(cudaGetSymbolSize(&bytes, constants));
  EXPECT(bytes == sizeof constants);
  void* address = nullptr;
  EXPECT_OK(cudaGetSymbolAddress(&address, variable));
  EXPECT(address != nullptr);
  int unregistered = 0;
  EXPECT_ERROR(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, &unregistered));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(variable, values, sizeof values, 4));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyFromSymbol(values, variable, sizeof values, 4));
  const int nine = 9;
  EXPECT_OK(cudaMemcpyToSymbolAsync(variable, &nine, sizeof nine, 8, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpyFromSymbolAsync(values, variable, sizeof values, 0, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(values[2] == 9);
  EXPECT_FAILS(cudaMemcpyToSymbolAsync(variable, values, 16, 4, cudaMemcpyHostToDevice));
  EXPECT_FAILS(cudaMemcpyFromSymbolAsync(values, variable, 16, 4, cudaMemcpyDeviceToHost));
  EXPECT_FAILS(cudaGetSymbolAddress(&address, &unregistered));
  (void)cudaGetLastError();
}

// effect: cudaMemset2D cudaMemset2DAsync cudaMemcpy2DAsync cudaMemcpy3D cudaMemcpy3DAsync
CASE(Rows) {
  unsigned char* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, 64));
  std::vector<unsigned char> host(64);
  const auto read = [&] {
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemcpy(host.data(), device, 64, cudaMemcpyDeviceToHost));
  };
  EXPECT_OK(cudaMemset(device, 0, 64));
  EXPECT_OK(cudaMemset2D(device, 16, 5, 4, 2));
  EXPECT_OK(cudaMemset2DAsync(device + 32, 16, 6, 4, 2));
  read();
  EXPECT(host[3] == 5 && host[4] == 0 && host[19] == 5 && host[35] == 6 && host[51] == 6);
  const std::vector<unsigned char> source = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_OK(cudaMemcpy2DAsync(device, 16, source.data(), 4, 2, 2, cudaMemcpyHostToDevice));
  read();
  EXPECT(host[1] == 2 && host[2] == 5 && host[16] == 5 && host[17] == 6);
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(source.data()), 4, 4, 1);
  parms.dstPtr = make_cudaPitchedPtr(device, 16, 16, 1);
  parms.extent = make_cudaExtent(4, 1, 2);
  parms.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&parms));
  read();
  EXPECT(host[3] == 4 && host[16] == 5 && host[19] == 8);
  parms.dstPtr.ptr = device + 32;
  EXPECT_OK(cudaMemcpy3DAsync(&parms));
  read();
  EXPECT(host[35] == 4 && host[48] == 5);

  EXPECT_FAILS(cudaMemset2D(nullptr, 16, 0, 4, 2));
  EXPECT_FAILS(cudaMemset2DAsync(nullptr, 16, 0, 4, 2));
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2DAsync(device, 1, source.data(), 4, 2, 2, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3DAsync(nullptr));
  EXPECT_OK(cudaFree(device));
  (void)cudaGetLastError();
}

}  // namespace

int main() {
  conformance::RunCases();
  return conformance::Finish("copy");
}
