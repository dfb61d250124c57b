// Arrays in graphs: copy nodes that name them, and captured copies.
#include <numeric>
#include <vector>

#include "graphs.h"

using namespace conformance;

namespace {

constexpr size_t kColumns = 8;
constexpr size_t kRows = 4;
constexpr size_t kWidth = kColumns * sizeof(int);
constexpr size_t kCount = kColumns * kRows;
cudaStream_t stream;
cudaArray_t array;
int* from;  // page-locked
int* to;

void Prepare() {
  std::iota(from, from + kCount, 1);
  std::fill(to, to + kCount, 0);
}

cudaMemcpy3DParms IntoArray(const cudaPos& at, size_t columns, size_t rows) {
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = make_cudaPitchedPtr(from, columns * sizeof(int), columns, rows);
  parms.dstArray = array;
  parms.dstPos = at;
  parms.extent = make_cudaExtent(columns, rows, 1);
  parms.kind = cudaMemcpyHostToDevice;
  return parms;
}

cudaMemcpy3DParms OutOfArray(const cudaPos& at, size_t columns, size_t rows) {
  cudaMemcpy3DParms parms = {};
  parms.srcArray = array;
  parms.srcPos = at;
  parms.dstPtr = make_cudaPitchedPtr(to, columns * sizeof(int), columns, rows);
  parms.extent = make_cudaExtent(columns, rows, 1);
  parms.kind = cudaMemcpyDeviceToHost;
  return parms;
}

// effect: cudaGraphAddMemcpyNode cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams
CASE(Nodes) {
  Prepare();
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t nodes[2] = {};
  const cudaMemcpy3DParms in = IntoArray(make_cudaPos(2, 1, 0), 3, 2);
  cudaMemcpy3DParms out = OutOfArray(make_cudaPos(2, 1, 0), 3, 2);
  EXPECT_OK(cudaGraphAddMemcpyNode(&nodes[0], graph, nullptr, 0, &in));
  EXPECT_OK(cudaGraphAddMemcpyNode(&nodes[1], graph, nodes, 1, &out));
  cudaMemcpy3DParms got = {};
  EXPECT_OK(cudaGraphMemcpyNodeGetParams(nodes[0], &got));
  EXPECT(got.dstArray == array && got.dstPtr.ptr == nullptr && got.srcPtr.ptr == from);
  EXPECT(got.dstPos.x == 2 && got.dstPos.y == 1 && got.extent.width == 3 && got.extent.height == 2);
  RunOnce(graph, stream);
  EXPECT((std::vector<int>(to, to + 7) == std::vector<int>{1, 2, 3, 4, 5, 6, 0}));
  out = OutOfArray(make_cudaPos(3, 2, 0), 2, 1);
  EXPECT_OK(cudaGraphMemcpyNodeSetParams(nodes[1], &out));
  RunOnce(graph, stream);
  EXPECT(to[0] == 5 && to[1] == 6);

  cudaMemcpy3DParms wrong = IntoArray(make_cudaPos(6, 0, 0), 3, 2);  // beyond the row
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(nodes, graph, nullptr, 0, &wrong));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParams(nodes[0], &wrong));
  wrong.srcArray = array;  // beside a pointer
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(nodes, graph, nullptr, 0, &wrong));
  cudaGraphNode_t empty = AddEmpty(graph);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeGetParams(empty, &got));
  EXPECT_OK(cudaGraphDestroy(graph));
  (void)cudaGetLastError();
}

// effect: cudaGraphExecMemcpyNodeSetParams cudaGraphClone cudaGraphAddNode
CASE(Execs) {
  Prepare();
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeMemcpy;
  params.memcpy.copyParams = IntoArray(make_cudaPos(0, 0, 0), kColumns, 1);
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, graph));
  cudaGraphExec_t exec = Instantiate(graph);
  const cudaMemcpy3DParms other = IntoArray(make_cudaPos(0, 3, 0), kColumns, 1);
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParams(exec, node, &other));
  LaunchAndWait(exec, stream);
  from[0] = 77;
  RunOnce(clone, stream);
  EXPECT_OK(cudaMemcpy2DFromArray(to, kWidth, array, 0, 0, kWidth, kRows, cudaMemcpyDeviceToHost));
  EXPECT(to[0] == 77 && to[3 * kColumns] == 1 && to[4 * kColumns - 1] == 8);
  const cudaMemcpy3DParms volume = IntoArray(make_cudaPos(0, 0, 0), 2, 2);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, node, &volume));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphClone(nullptr, graph));
  params.memcpy.copyParams.dstArray = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(clone));
  EXPECT_OK(cudaGraphDestroy(graph));
  (void)cudaGetLastError();
}

// effect: cudaMemcpy2DToArrayAsync cudaMemcpy2DFromArrayAsync
CASE(Captured) {
  Prepare();
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_OK(cudaMemcpy2DToArrayAsync(array, 0, 0, from, kWidth, kWidth, kRows,
                                     cudaMemcpyHostToDevice, stream));
  EXPECT_OK(cudaMemcpy2DFromArrayAsync(to, kWidth, array, 0, 0, kWidth, kRows,
                                       cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 2 && to[5] == 0);
  RunOnce(graph, stream);
  EXPECT(std::vector<int>(to, to + kCount) == std::vector<int>(from, from + kCount));
  EXPECT_OK(cudaGraphDestroy(graph));

  // Making an array is no work for a stream.
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
  cudaArray_t other = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaMallocArray(&other, &desc, 8, 8));
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  (void)cudaGetLastError();
}

}  // namespace

int main() {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMallocArray(&array, &desc, kColumns, kRows));
  EXPECT_OK(cudaMallocHost(&from, kCount * sizeof(int)));
  EXPECT_OK(cudaMallocHost(&to, kCount * sizeof(int)));
  conformance::RunCases();
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFreeHost(from));
  EXPECT_OK(cudaFreeHost(to));
  EXPECT_OK(cudaStreamDestroy(stream));
  return conformance::Finish("graph_array");
}
