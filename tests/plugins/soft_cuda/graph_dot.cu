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
void NodesEdgesAndFlags() {
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
  EXPECT(Has(params, "KERNEL") && Has(params, "\\<\\<\\<3,64,0\\>\\>\\>"));
  const std::string verbose = Print(graph, cudaGraphDebugDotFlagsVerbose);
  EXPECT(Has(verbose, "node handle") && Has(verbose, "EMPTY"));
  EXPECT_FAILS(cudaGraphDebugDotPrint(graph, "/nonexistent/folder/file", 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphDebugDotPrint(graph, nullptr, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(child));
}

// What one flag adds for a node of its kind.
void ExpectFlag(cudaGraph_t graph, unsigned flag, const char* text) {
  EXPECT(!Has(Print(graph, 0), text));
  EXPECT(Has(Print(graph, flag), text));
}

void EachKindHasItsFlag() {
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
  ExpectFlag(graph, cudaGraphDebugDotFlagsEventNodeParams, "event |");
  ExpectFlag(graph, cudaGraphDebugDotFlagsHandles, "node handle");
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaEventDestroy(event));
}

}  // namespace

int main() {
  path = "/tmp/graph_dot." + std::to_string(getpid());
  NodesEdgesAndFlags();
  EachKindHasItsFlag();
  std::remove(path.c_str());
  return Finish("graph_dot");
}
