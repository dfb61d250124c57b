// Functions of CUDA 13.1 and 13.2, found by name, as the toolkit at hand has neither them nor their
// declarations. Expected values are those of the documentation in cuda.bindings 13.5.
#include <fstream>
#include <iterator>
#include <string>

#include "graphs.h"
#include "kernels.h"

namespace {

template <typename Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
#define FUNCTION(name, ...) auto* const name = Find<__VA_ARGS__>(#name)

FUNCTION(cudaGraphGetId, cudaError_t(cudaGraph_t, unsigned*));
FUNCTION(cudaGraphExecGetId, cudaError_t(cudaGraphExec_t, unsigned*));
FUNCTION(cudaGraphNodeGetLocalId, cudaError_t(cudaGraphNode_t, unsigned*));
FUNCTION(cudaGraphNodeGetToolsId, cudaError_t(cudaGraphNode_t, unsigned long long*));
FUNCTION(cudaGraphNodeGetContainingGraph, cudaError_t(cudaGraphNode_t, cudaGraph_t*));
FUNCTION(cudaGraphNodeGetParams, cudaError_t(cudaGraphNode_t, cudaGraphNodeParams*));
FUNCTION(cudaGraphConditionalHandleCreate_v2,
         cudaError_t(cudaGraphConditionalHandle*, cudaGraph_t, void*, unsigned, unsigned));
FUNCTION(cuGraphGetId, CUresult(CUgraph, unsigned*));
FUNCTION(cuGraphExecGetId, CUresult(CUgraphExec, unsigned*));
FUNCTION(cuGraphNodeGetLocalId, CUresult(CUgraphNode, unsigned*));
FUNCTION(cuGraphNodeGetToolsId, CUresult(CUgraphNode, unsigned long long*));
FUNCTION(cuGraphNodeGetContainingGraph, CUresult(CUgraphNode, CUgraph*));
FUNCTION(cuGraphNodeGetParams, CUresult(CUgraphNode, CUgraphNodeParams*));

using conformance::AddCounter;
using conformance::AddEmpty;
using conformance::NewGraph;

unsigned IdOf(cudaGraph_t graph) {
  unsigned id = 0, again = 1;
  EXPECT_OK(cudaGraphGetId(graph, &id));
  EXPECT_OK(cuGraphGetId(graph, &again));
  EXPECT(id == again);
  return id;
}

// effect: cudaGraphGetId cudaGraphExecGetId cudaGraphNodeGetLocalId cudaGraphNodeGetToolsId
// effect: cuGraphGetId cuGraphExecGetId cuGraphNodeGetLocalId cuGraphNodeGetToolsId
CASE(Ids) {
  cudaGraph_t graph = NewGraph(), other = NewGraph();
  const cudaGraphNode_t first = AddEmpty(graph), second = AddEmpty(graph, {first});
  EXPECT(IdOf(graph) != IdOf(other));
  unsigned local[3] = {};
  EXPECT_OK(cudaGraphNodeGetLocalId(first, &local[0]));
  EXPECT_OK(cudaGraphNodeGetLocalId(second, &local[1]));
  EXPECT_OK(cuGraphNodeGetLocalId(second, &local[2]));
  EXPECT(local[0] != local[1] && local[1] == local[2]);
  unsigned long long tools[3] = {};
  EXPECT_OK(cudaGraphNodeGetToolsId(first, &tools[0]));
  EXPECT_OK(cudaGraphNodeGetToolsId(second, &tools[1]));
  EXPECT_OK(cuGraphNodeGetToolsId(second, &tools[2]));
  EXPECT(tools[0] != tools[1] && tools[1] == tools[2]);
  cudaGraphExec_t exec = conformance::Instantiate(graph);
  unsigned id = 0, again = 1;
  EXPECT_OK(cudaGraphExecGetId(exec, &id));
  EXPECT_OK(cuGraphExecGetId(exec, &again));
  EXPECT(id == again && id != IdOf(graph));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphGetId(graph, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecGetId(exec, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetLocalId(first, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetToolsId(first, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphGetId(nullptr, &id));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphExecGetId(nullptr, &id));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetLocalId(nullptr, &id));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetToolsId(nullptr, &tools[0]));
}

// The ids are those that a drawing shows.
CASE(DrawnIds) {
  cudaGraph_t graph = NewGraph();
  unsigned local = 0;
  EXPECT_OK(cudaGraphNodeGetLocalId(AddEmpty(graph), &local));
  const std::string path = "/tmp/newer_calls." + std::to_string(IdOf(graph)) + ".dot";
  EXPECT_OK(cudaGraphDebugDotPrint(graph, path.c_str(), 0));
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::remove(path.c_str());
  const std::string node =
      "graph_" + std::to_string(IdOf(graph)) + "_node_" + std::to_string(local);
  EXPECT(text.find("\"" + node + "\"") != text.npos);
}

// effect: cudaGraphNodeGetContainingGraph cuGraphNodeGetContainingGraph
CASE(ContainingGraph) {
  cudaGraph_t graph = NewGraph(), inner = NewGraph(), child = nullptr, found = nullptr;
  AddEmpty(inner);
  cudaGraphNode_t node = nullptr, within = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
  EXPECT_OK(cudaGraphNodeGetContainingGraph(node, &found));
  EXPECT(found == graph);
  EXPECT_OK(cudaGraphChildGraphNodeGetGraph(node, &child));
  size_t count = 1;
  EXPECT_OK(cudaGraphGetNodes(child, &within, &count));
  EXPECT_OK(cuGraphNodeGetContainingGraph(within, &found));
  EXPECT(found == child);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetContainingGraph(node, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetContainingGraph(nullptr, &found));
}

// effect: cudaGraphNodeGetParams cuGraphNodeGetParams
CASE(Params) {
  int counter = 0;
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 64));
  cudaGraph_t graph = NewGraph();
  cudaGraphNodeParams params = {};
  EXPECT_OK(cudaGraphNodeGetParams(AddEmpty(graph), &params));
  EXPECT(params.type == cudaGraphNodeTypeEmpty);
  EXPECT_OK(cudaGraphNodeGetParams(AddCounter(graph, &counter), &params));
  EXPECT(params.type == cudaGraphNodeTypeHost && params.host.fn == conformance::AddOne &&
         params.host.userData == &counter);
  const cudaGraphNode_t set = conformance::AddSetWords(graph, memory, 7, 2);
  EXPECT_OK(cudaGraphNodeGetParams(set, &params));
  EXPECT(params.type == cudaGraphNodeTypeMemset && params.memset.dst == memory &&
         params.memset.value == 7 && params.memset.width == 2);
  CUgraphNodeParams driver = {};
  EXPECT_OK(cuGraphNodeGetParams(set, &driver));
  EXPECT(driver.type == CU_GRAPH_NODE_TYPE_MEMSET &&
         driver.memset.dst == reinterpret_cast<CUdeviceptr>(memory) &&
         driver.memset.ctx != nullptr);
  cudaGraphNode_t copy = nullptr;
  const cudaMemcpy3DParms parms =
      conformance::CopyOf(memory, &counter, sizeof counter, cudaMemcpyHostToDevice);
  EXPECT_OK(cudaGraphAddMemcpyNode(&copy, graph, nullptr, 0, &parms));
  EXPECT_OK(cudaGraphNodeGetParams(copy, &params));
  EXPECT(params.type == cudaGraphNodeTypeMemcpy && params.memcpy.copyParams.dstPtr.ptr == memory &&
         params.memcpy.copyParams.extent.width == sizeof counter);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetParams(copy, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetParams(nullptr, &driver));
}

// effect: cudaGraphConditionalHandleCreate_v2
CASE(ParamsOfAConditional) {
  cudaGraph_t graph = NewGraph();
  cudaGraphConditionalHandle handle = 0;
  EXPECT_OK(
      cudaGraphConditionalHandleCreate_v2(&handle, graph, nullptr, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams made = {}, params = {};
  made.type = cudaGraphNodeTypeConditional;
  made.conditional.handle = handle;
  made.conditional.type = cudaGraphCondTypeIf;
  made.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &made));
  EXPECT_OK(cudaGraphNodeGetParams(node, &params));
  EXPECT(params.type == cudaGraphNodeTypeConditional && params.conditional.handle == handle &&
         params.conditional.phGraph_out[0] == made.conditional.phGraph_out[0]);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphConditionalHandleCreate_v2(nullptr, graph, nullptr, 1, 0));
}

}  // namespace

int main() {
  if (cudaGraphNodeGetParams == nullptr || cuGraphNodeGetParams == nullptr) {
    std::printf("newer_calls: skipped, needs CUDA 13.2\n");
    return 77;
  }
  conformance::RunCases();
  return conformance::Finish("newer_calls");
}
