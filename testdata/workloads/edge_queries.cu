// A tool that walks a graph with programmatic edges, and asks for the edges without a place for
// their data.
//
//   graph        asks the graph for its edges
//   from         asks a node for what it depends on
//   to           asks a node for what depends on it
//
//     edge_queries CASE [fixed]     fixed: with a place for the data
#include "testdata/workloads/cuda_check.h"

#if CUDART_VERSION < 13000
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#endif

__global__ void Fill(float* data) { data[threadIdx.x] = 1; }

namespace {

constexpr size_t kFloats = 32;

void Launch(cudaStream_t stream, float* data) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kFloats);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, Fill, data));
}

void Query(int argc, char** argv, cudaGraph_t graph) {
  const cudaError_t expected = Flag(argc, argv, "fixed") ? cudaSuccess : cudaErrorLossyQuery;
  cudaGraphEdgeData place[2];
  cudaGraphEdgeData* data = Flag(argc, argv, "fixed") ? place : nullptr;
  cudaGraphNode_t nodes[2], from[2], to[2];
  size_t count = 2;
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  size_t edges = 2;
  if (Flag(argc, argv, "graph")) EXPECT(expected, cudaGraphGetEdges(graph, from, to, data, &edges));
  if (Flag(argc, argv, "from"))
    EXPECT(expected, cudaGraphNodeGetDependencies(nodes[1], from, data, &edges));
  if (Flag(argc, argv, "to"))
    EXPECT(expected, cudaGraphNodeGetDependentNodes(nodes[0], to, data, &edges));
}

}  // namespace

int main(int argc, char** argv) {
  cudaStream_t stream = nullptr;
  float *one = nullptr, *other = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&one, kFloats * sizeof(float)));
  CHECK(cudaMalloc(&other, kFloats * sizeof(float)));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Launch(stream, one);
  Launch(stream, other);
  CHECK(cudaStreamEndCapture(stream, &graph));
  Query(argc, argv, graph);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(one));
  CHECK(cudaFree(other));
  CHECK(cudaStreamDestroy(stream));
  std::printf("edge_queries: done\n");
  return 0;
}
