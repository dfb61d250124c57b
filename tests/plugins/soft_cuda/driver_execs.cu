// Graphs as a whole through the driver API: edges with data, instantiation in every form, updates,
// user objects, DOT; with the per-thread twins in a build for per-thread default streams.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "graphs.h"
#include "older.h"

using namespace conformance;

namespace {

CUstream stream;
unsigned* words;  // on the device

struct Pair {
  CUgraph graph = NewGraph();
  CUgraphNode a = AddSetWords(graph, words, 1);
  CUgraphNode b = AddSetWords(graph, words, 2);
};

// effect: cuGraphAddDependencies_v1 cuGraphRemoveDependencies_v1 cuGraphGetEdges_v1
// effect: cuGraphNodeGetDependencies_v1 cuGraphNodeGetDependentNodes_v1
// effect: cuGraphAddDependencies cuGraphRemoveDependencies cuGraphGetEdges
// effect: cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes
CASE(Edges) {
  using Change = CUresult (*)(CUgraph, const CUgraphNode*, const CUgraphNode*, size_t);
  using Neighbours = CUresult (*)(CUgraphNode, CUgraphNode*, size_t*);
  const auto cuGraphAddDependencies_v1 = OfVersion<Change>("cuGraphAddDependencies", 10000);
  const auto cuGraphRemoveDependencies_v1 = OfVersion<Change>("cuGraphRemoveDependencies", 10000);
  const auto cuGraphGetEdges_v1 =
      OfVersion<CUresult (*)(CUgraph, CUgraphNode*, CUgraphNode*, size_t*)>("cuGraphGetEdges",
                                                                            10000);
  const auto cuGraphNodeGetDependencies_v1 =
      OfVersion<Neighbours>("cuGraphNodeGetDependencies", 10000);
  const auto cuGraphNodeGetDependentNodes_v1 =
      OfVersion<Neighbours>("cuGraphNodeGetDependentNodes", 10000);
  Pair p;
  EXPECT_OK(cuGraphAddDependencies_v1(p.graph, &p.a, &p.b, 1));
  size_t count = 1;
  CUgraphNode from = nullptr;
  CUgraphNode to = nullptr;
  EXPECT_OK(cuGraphGetEdges_v1(p.graph, &from, &to, &count));
  EXPECT(count == 1 && from == p.a && to == p.b);
  EXPECT_OK(cuGraphNodeGetDependencies_v1(p.b, &from, &count));
  EXPECT(count == 1 && from == p.a);
  EXPECT_OK(cuGraphNodeGetDependentNodes_v1(p.a, &to, &count));
  EXPECT(count == 1 && to == p.b);
  CUgraphEdgeData data = {};
  data.type = 99;
  EXPECT_OK(cuGraphGetEdges(p.graph, &from, &to, &data, &count));
  EXPECT(data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && data.from_port == 0);
  data.type = 99;
  EXPECT_OK(cuGraphNodeGetDependencies(p.b, &from, &data, &count));
  EXPECT(data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  data.type = 99;
  EXPECT_OK(cuGraphNodeGetDependentNodes(p.a, &to, &data, &count));
  EXPECT(data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  EXPECT_OK(cuGraphRemoveDependencies_v1(p.graph, &p.a, &p.b, 1));
  EXPECT_OK(cuGraphGetEdges_v1(p.graph, nullptr, nullptr, &count));
  EXPECT(count == 0);
  CUgraphEdgeData full = {};
  EXPECT_OK(cuGraphAddDependencies(p.graph, &p.a, &p.b, &full, 1));
  EXPECT_OK(cuGraphRemoveDependencies(p.graph, &p.a, &p.b, &full, 1));
  EXPECT_FAILS(cuGraphAddDependencies_v1(p.graph, &p.a, &p.a, 1));
  EXPECT_FAILS(cuGraphAddDependencies(p.graph, &p.a, &p.a, &full, 1));
  EXPECT_FAILS(cuGraphRemoveDependencies_v1(p.graph, &p.a, &p.b, 1));
  EXPECT_FAILS(cuGraphRemoveDependencies(p.graph, &p.a, &p.b, &full, 1));
  EXPECT_FAILS(cuGraphGetEdges_v1(p.graph, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT_FAILS(cuGraphNodeGetDependencies_v1(p.a, nullptr, nullptr));
  EXPECT_FAILS(cuGraphNodeGetDependencies(p.a, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuGraphNodeGetDependentNodes_v1(p.a, nullptr, nullptr));
  EXPECT_FAILS(cuGraphNodeGetDependentNodes(p.a, nullptr, nullptr, nullptr));
  EXPECT_OK(cuGraphDestroy(p.graph));
}

void ExpectRuns(CUgraphExec exec, unsigned value) {
  const unsigned zero = 0;
  EXPECT_OK(cudaMemcpy(words, &zero, sizeof zero, cudaMemcpyHostToDevice));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(ReadWord(words) == value);
  EXPECT_OK(cuGraphExecDestroy(exec));
}

// effect: cuGraphInstantiate_v1 cuGraphInstantiate_v2 cuGraphInstantiateWithFlags
// effect: cuGraphInstantiateWithParams cuGraphLaunch cuGraphUpload
CASE(Instantiations) {
  using Instantiate = CUresult (*)(CUgraphExec*, CUgraph, CUgraphNode*, char*, size_t);
  const auto cuGraphInstantiate_v1 = OfVersion<Instantiate>("cuGraphInstantiate", 10000);
  const auto cuGraphInstantiate_v2 = OfVersion<Instantiate>("cuGraphInstantiate", 11000);
  CUgraph graph = NewGraph();
  AddSetWords(graph, words, 11);
  char log[128] = "";
  CUgraphNode wrong = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuGraphInstantiate_v1(&exec, graph, &wrong, log, sizeof log));
  ExpectRuns(exec, 11);
  EXPECT_OK(cuGraphInstantiate_v2(&exec, graph, &wrong, log, sizeof log));
  ExpectRuns(exec, 11);
  EXPECT_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_OK(cuGraphUpload(exec, stream));
  ExpectRuns(exec, 11);
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  params.hUploadStream = stream;
  EXPECT_OK(cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
  ExpectRuns(exec, 11);
  EXPECT_FAILS(cuGraphInstantiate_v1(&exec, nullptr, &wrong, log, sizeof log));
  EXPECT_FAILS(cuGraphInstantiate_v2(nullptr, graph, &wrong, log, sizeof log));
  EXPECT_FAILS(cuGraphInstantiateWithFlags(nullptr, graph, 0));
  EXPECT_FAILS(cuGraphInstantiateWithParams(&exec, graph, nullptr));
  EXPECT_FAILS(cuGraphLaunch(nullptr, stream));
  EXPECT_FAILS(cuGraphUpload(nullptr, stream));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphExecUpdate cuGraphExecUpdate_v1
CASE(Updates) {
  const auto cuGraphExecUpdate_v1 =
      OfVersion<CUresult (*)(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*)>(
          "cuGraphExecUpdate", 10020);
  CUgraph graph = NewGraph();
  AddSetWords(graph, words, 1);
  CUgraph next = NewGraph();
  AddSetWords(next, words, 2);
  CUgraph larger = NewGraph();
  AddSetWords(larger, words, 3);
  AddEmpty(larger);
  CUgraphExec exec = Instantiate(graph);
  CUgraphNode wrong = nullptr;
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
  EXPECT_OK(cuGraphExecUpdate_v1(exec, next, &wrong, &result));
  EXPECT(result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  CUgraphExecUpdateResultInfo info = {};
  EXPECT_OK(cuGraphExecUpdate(exec, next, &info));
  EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
               cuGraphExecUpdate_v1(exec, larger, &wrong, &result));
  EXPECT(result != CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, larger, &info));
  EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  ExpectRuns(exec, 2);
  for (CUgraph g : {graph, next, larger}) EXPECT_OK(cuGraphDestroy(g));
}

// effect: cuUserObjectCreate cuUserObjectRetain cuUserObjectRelease cuGraphRetainUserObject
// effect: cuGraphReleaseUserObject
CASE(UserObjects) {
  int destroyed = 0;
  CUuserObject object = nullptr;
  EXPECT_OK(cuUserObjectCreate(&object, &destroyed, AddOne, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  EXPECT_OK(cuUserObjectRetain(object, 2));
  EXPECT_OK(cuUserObjectRelease(object, 2));
  EXPECT(destroyed == 0);
  CUgraph graph = NewGraph();
  EXPECT_OK(cuGraphRetainUserObject(graph, object, 1, 0));
  EXPECT_OK(cuGraphRetainUserObject(graph, object, 1, 0));
  EXPECT_OK(cuGraphReleaseUserObject(graph, object, 1));
  EXPECT_OK(cuUserObjectRelease(object, 1));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(destroyed == 0);  // the graph has the last reference
  EXPECT_FAILS(cuUserObjectRetain(object, 0));
  EXPECT_FAILS(cuUserObjectRelease(object, 0));
  EXPECT_FAILS(cuGraphRetainUserObject(nullptr, object, 1, 0));
  EXPECT_FAILS(cuGraphReleaseUserObject(nullptr, object, 1));
  EXPECT_FAILS(
      cuUserObjectCreate(nullptr, &destroyed, AddOne, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphDebugDotPrint
CASE(Dot) {
  CUgraph graph = NewGraph();
  AddSetWords(graph, words, 1);
  char path[] = "/tmp/driver_execs_XXXXXX";
  close(mkstemp(path));
  EXPECT_OK(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  char start[8] = "";
  std::FILE* file = std::fopen(path, "r");
  EXPECT(file != nullptr && std::fread(start, 1, 7, file) == 7);
  EXPECT(std::strcmp(start, "digraph") == 0);
  if (file != nullptr) std::fclose(file);
  std::remove(path);
  EXPECT_FAILS(cuGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0));
  EXPECT_OK(cuGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaMalloc(&words, 64));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  RunCases();
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cudaFree(words));
  return Finish("driver_execs");
}
