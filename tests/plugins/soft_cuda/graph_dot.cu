// Graphs written as DOT.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

std::string path;

std::string Print(cudaGraph_t graph, unsigned flags) {
  EXPECT_OK(cudaGraphDebugDotPrint(graph, path.c_str(), flags));
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// effect: cudaGraphDebugDotPrint
CASE(NodesEdgesAndFlags) {
  cudaGraph_t graph = NewGraph();
  float* data = nullptr;
  void* arguments[] = {&data};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(Touch);
  kernel.gridDim = dim3(3);
  kernel.blockDim = dim3(64);
  kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  cudaGraph_t child = NewGraph();
  AddEmpty(child);
  cudaGraphNode_t inner = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&inner, graph, &node, 1, child));

  const std::string plain = Print(graph, 0);
  EXPECT(plain.rfind("digraph dot {", 0) == 0);
  EXPECT(Has(plain, "Touch") && Has(plain, "_node_0\" -> \"graph_"));
  EXPECT(!Has(plain, "KERNEL"));
  const std::string params = Print(graph, cudaGraphDebugDotFlagsKernelNodeParams);
  EXPECT(!Has(params, "KERNEL") && Has(params, "\\<\\<\\<3,64,0\\>\\>\\>"));
  const std::string verbose = Print(graph, cudaGraphDebugDotFlagsVerbose);
  EXPECT(Has(verbose, "node handle") && Has(verbose, "EMPTY"));
  EXPECT_FAILS(cudaGraphDebugDotPrint(graph, "/nonexistent/folder/file", 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphDebugDotPrint(graph, nullptr, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(child));
}

// As public dumps of CUDA 12 have them.
CASE(KnownForms) {
  cudaGraph_t graph = NewGraph();
  unsigned* memory = nullptr;
  float* data = nullptr;
  void* arguments[] = {&data};
  EXPECT_OK(cudaMalloc(&memory, 64));
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(Touch);
  kernel.gridDim = dim3(16, 10, 2);
  kernel.blockDim = dim3(32, 4);
  kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, memory, memory + 8, 32,
                                     cudaMemcpyDeviceToDevice));
  const cudaMemsetParams fill = SetWords(memory, 7, 16);
  EXPECT_OK(cudaGraphAddMemsetNode(&node, graph, &node, 1, &fill));

  const std::string plain = Print(graph, 0);
  EXPECT(Has(plain, "_node_0\"[style=\"bold\" shape=\"octagon\" label=\"0\n_Z"));
  EXPECT(Has(plain, "Pf\n\"];\n\n\"graph_"));
  const std::string verbose = Print(graph, cudaGraphDebugDotFlagsVerbose);
  EXPECT(
      Has(verbose,
          "_node_0\"[style=\"bold\" shape=\"record\" label=\"{KERNEL\n| {ID | 0 (topoId: 2) | "));
  EXPECT(
      Has(verbose,
          "\\<\\<\\<\\{16,10,2\\},\\{32,4\\},0\\>\\>\\>}\n| {{node handle | func handle} | {0x"));
  EXPECT(Has(verbose,
             "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | "
             "{0x0000000000000000 | 0 | 0.000000 | N | N}}\n| {cooperative | 0}\n"
             "| {priority | 0}\n}\"];"));
  EXPECT(Has(verbose, "label=\"{\nMEMCPY\n| {{ID | node handle} | {1 (topoId: 1) | 0x"));
  EXPECT(Has(verbose, "{Extent | {{Width | 32} | {Height | 1} | {Depth | 1}}}}\n}\"];"));
  EXPECT(Has(verbose,
             "label=\"{MEMSET\n| {{ID | node handle | dptr | pitch | value | elementSize | width | "
             "height} | {2 (topoId: 0) | 0x"));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(memory));
}

// A copy to an array, by the types of its ends.
CASE(CopiesOfArrays) {
  cudaGraph_t graph = NewGraph();
  cudaArray_t array = nullptr;
  unsigned host[4] = {};
  const cudaChannelFormatDesc words = cudaCreateChannelDesc<unsigned>();
  EXPECT_OK(cudaMallocArray(&array, &words, 4));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, sizeof host, 4, 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(4, 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
  EXPECT(Has(Print(graph, 0), "(HtoA,16)"));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFreeArray(array));
}

// The text that one flag adds for a node of its kind.
void ExpectFlag(cudaGraph_t graph, unsigned flag, const char* text) {
  EXPECT(!Has(Print(graph, 0), text));
  EXPECT(Has(Print(graph, flag), text));
}

CASE(EachKindHasItsFlag) {
  cudaGraph_t graph = NewGraph();
  cudaEvent_t event = nullptr;
  int counter = 0;
  unsigned* memory = nullptr;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaMalloc(&memory, 64));
  const cudaMemsetParams fill = SetWords(memory, 7, 16);
  EXPECT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  AddCounter(graph, &counter, {node});
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, memory, memory + 8, 32,
                                     cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaGraphAddEventRecordNode(&node, graph, &node, 1, event));
  EXPECT_OK(cudaGraphAddEventWaitNode(&node, graph, &node, 1, event));
  ExpectFlag(graph, cudaGraphDebugDotFlagsMemcpyNodeParams, "Extent");
  ExpectFlag(graph, cudaGraphDebugDotFlagsMemsetNodeParams, "elementSize");
  ExpectFlag(graph, cudaGraphDebugDotFlagsHostNodeParams, "userData");
  ExpectFlag(graph, cudaGraphDebugDotFlagsEventNodeParams, "event: 0x");
  ExpectFlag(graph, cudaGraphDebugDotFlagsHandles, "node handle");
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaEventDestroy(event));
}

}  // namespace

int main() {
  path = "/tmp/graph_dot." + std::to_string(getpid());
  RunCases();
  std::remove(path.c_str());
  return Finish("graph_dot");
}
