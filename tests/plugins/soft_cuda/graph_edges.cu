// The edges that a graph takes. The expected answers are those that others measured on an RTX 3060
// (driver 13.2), where programmatic edges need compute capability 9.
#include "conformance.h"
#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

cudaGraphNode_t AddTouch(cudaGraph_t graph) {
  static float* none = nullptr;
  void* arguments[] = {&none};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  return node;
}

constexpr cudaGraphEdgeData Data(int from_port, int to_port, int type) {
  cudaGraphEdgeData data = {};
  data.from_port = static_cast<unsigned char>(from_port);
  data.to_port = static_cast<unsigned char>(to_port);
  data.type = static_cast<unsigned char>(type);
  return data;
}

constexpr cudaGraphEdgeData kPlain = Data(0, 0, 0);
constexpr cudaGraphEdgeData kLaunched = Data(2, 0, 0);

size_t CountEdges(cudaGraph_t graph) {
  size_t count = 0;
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

bool HasProgrammaticLaunch() {
  int major = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  return major >= 9;
}

// effect: cudaGraphAddDependencies cudaGraphRemoveDependencies cudaGraphGetEdges
CASE(BetweenKernels) {
  struct Case {
    cudaGraphEdgeData data;
    bool taken;
  };
  const bool hopper = HasProgrammaticLaunch();
  const Case cases[] = {{kPlain, true},          {kLaunched, true},      {Data(1, 0, 1), hopper},
                        {Data(2, 0, 1), hopper}, {Data(1, 0, 0), false}, {Data(0, 0, 1), false},
                        {Data(0, 1, 0), false},  {Data(3, 0, 1), false}, {Data(0, 0, 2), false}};
  cudaGraph_t graph = NewGraph();
  for (const auto& [data, taken] : cases) {
    cudaGraphNode_t a = AddTouch(graph);
    cudaGraphNode_t b = AddTouch(graph);
    const cudaError_t error = cudaGraphAddDependencies(graph, &a, &b, &data, 1);
    EXPECT(error == (taken ? cudaSuccess : cudaErrorInvalidValue));
    if (!taken) continue;
    // One edge between two nodes; its data doesn't matter to who removes it.
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &b, &data, 1));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &b, &kPlain, 1));
    EXPECT_OK(cudaGraphRemoveDependencies(graph, &a, &b, &kPlain, 1));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &a, &b, &data, 1));
  }
  EXPECT(CountEdges(graph) == 0);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// A port other than that of completion is a kernel's; a list with an impossible edge adds none.
CASE(BetweenOthers) {
  cudaGraph_t graph = NewGraph();
  int value = 0;
  cudaGraphNode_t kernel = AddTouch(graph);
  cudaGraphNode_t second = AddTouch(graph);
  cudaGraphNode_t empty = AddEmpty(graph);
  cudaGraphNode_t host = AddCounter(graph, &value);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddDependencies(graph, &empty, &kernel, &kLaunched, 1));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddDependencies(graph, &host, &kernel, &kLaunched, 1));
  EXPECT_OK(cudaGraphAddDependencies(graph, &kernel, &empty, &kLaunched, 1));
  EXPECT_OK(cudaGraphAddDependencies(graph, &kernel, &host, &kLaunched, 1));
  EXPECT(CountEdges(graph) == 2);
  cudaGraphNode_t from[] = {kernel, host};
  cudaGraphNode_t to[] = {second, second};
  const cudaGraphEdgeData data[] = {kPlain, kLaunched};
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, from, to, data, 2));
  EXPECT(CountEdges(graph) == 2);
  cudaGraphNode_t circle_from[] = {second, second};
  cudaGraphNode_t circle_to[] = {kernel, second};
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddDependencies(graph, circle_from, circle_to, nullptr, 2));
  EXPECT(CountEdges(graph) == 2);
  EXPECT_OK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
  EXPECT(CountEdges(graph) == 4);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddNode
CASE(OfANewNode) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t kernel = AddTouch(graph);
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeEmpty;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, &kernel, &kLaunched, 1, &params));
  const cudaGraphEdgeData unknown = Data(0, 0, 2);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddNode(&node, graph, &kernel, &unknown, 1, &params));
  EXPECT_OK(cudaGraphAddNode(&node, graph, &kernel, nullptr, 1, &params));
  params.reserved0[0] = 1;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  params.reserved0[0] = 0;
  params.reserved2 = 1;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  EXPECT(CountEdges(graph) == 2);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// A graph that is in a node can't be in another.
// effect: cudaGraphAddChildGraphNode cudaGraphClone
CASE(ChildrenHaveOneParent) {
  cudaGraph_t source = NewGraph();
  AddEmpty(source);
  cudaGraph_t parent = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, source));
  cudaGraph_t inside = nullptr;
  EXPECT_OK(cudaGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT(inside != source);
  cudaGraph_t other = NewGraph();
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, other, nullptr, 0, inside));
  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, inside));
  EXPECT_OK(cudaGraphDestroy(clone));
  EXPECT_OK(cudaGraphDestroy(parent));
  EXPECT_OK(cudaGraphDestroy(other));
  EXPECT_OK(cudaGraphDestroy(source));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  RunCases();
  return Finish("graph_edges");
}
