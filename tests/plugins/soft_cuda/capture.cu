// Stream capture: fork, join, what is asked of a capture, and the graph that comes out.
#include <vector>

#include "graphs.h"
#include "kernels.h"

namespace {

cudaStream_t main_stream, side;
cudaEvent_t fork_event, join_event;

size_t CountNodes(cudaGraph_t graph) {
  size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

size_t CountEdges(cudaGraph_t graph) {
  size_t count = 0;
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

// effect: cudaStreamBeginCapture cudaStreamEndCapture cudaStreamGetCaptureInfo
// effect: cudaStreamIsCapturing cudaStreamWaitEvent cudaEventRecord cudaGraphGetNodes
// effect: cudaGraphGetRootNodes cudaGraphGetEdges
// a → b, a → c (on the side stream), b and c → d
CASE(ForkAndJoin) {
  EXPECT_OK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  Touch<<<1, 1, 0, main_stream>>>(nullptr);
  EXPECT_OK(cudaEventRecord(fork_event, main_stream));
  EXPECT_OK(cudaStreamWaitEvent(side, fork_event, 0));
  Touch<<<1, 2, 0, main_stream>>>(nullptr);
  Touch<<<1, 3, 0, side>>>(nullptr);
  EXPECT_OK(cudaEventRecord(join_event, side));
  EXPECT_OK(cudaStreamWaitEvent(main_stream, join_event, 0));

  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t seen = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  size_t count = 0;
  EXPECT_OK(cudaStreamGetCaptureInfo(main_stream, &status, &id, &seen, &nodes, &data, &count));
  EXPECT(status == cudaStreamCaptureStatusActive);
  EXPECT(count == 2);
  EXPECT(data[0].from_port == 0 && data[0].type == cudaGraphDependencyTypeDefault);
  EXPECT_OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);

  Touch<<<1, 4, 0, main_stream>>>(nullptr);
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(main_stream, &graph));
  EXPECT(graph == seen);
  EXPECT(CountNodes(graph) == 4);
  EXPECT(CountEdges(graph) == 4);
  EXPECT_OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);

  std::vector<cudaGraphNode_t> all(4);
  count = 4;
  EXPECT_OK(cudaGraphGetNodes(graph, all.data(), &count));
  cudaKernelNodeParams params;
  EXPECT_OK(cudaGraphKernelNodeGetParams(all[3], &params));
  EXPECT(params.func == reinterpret_cast<void*>(Touch));
  EXPECT_OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 1);

  conformance::RunOnce(graph, main_stream);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaEventRecordWithFlags
CASE(RecordMakesNoNode) {
  EXPECT_OK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_OK(cudaEventRecord(fork_event, main_stream));
  EXPECT_OK(cudaEventRecordWithFlags(join_event, main_stream, cudaEventRecordExternal));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(main_stream, &graph));
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  EXPECT_OK(cudaGraphGetNodes(graph, &node, &count));
  EXPECT(count == 1);
  cudaGraphNodeType type;
  EXPECT_OK(cudaGraphNodeGetType(node, &type));
  EXPECT(type == cudaGraphNodeTypeEventRecord);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaStreamUpdateCaptureDependencies
CASE(DependenciesCanBeSet) {
  EXPECT_OK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeRelaxed));
  Touch<<<1, 1, 0, main_stream>>>(nullptr);
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* nodes = nullptr;
  size_t count = 0;
  EXPECT_OK(
      cudaStreamGetCaptureInfo(main_stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
  EXPECT(count == 1);
  EXPECT_OK(cudaStreamUpdateCaptureDependencies(main_stream, nullptr, nullptr, 0,
                                                cudaStreamSetCaptureDependencies));
  Touch<<<1, 2, 0, main_stream>>>(nullptr);
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(main_stream, &graph));
  EXPECT(CountNodes(graph) == 2);
  EXPECT(CountEdges(graph) == 0);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaStreamBeginCaptureToGraph
CASE(CaptureIntoAGraph) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t root = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddEmptyNode(&root, graph, nullptr, 0));
  EXPECT_OK(cudaStreamBeginCaptureToGraph(main_stream, graph, &root, nullptr, 1,
                                          cudaStreamCaptureModeGlobal));
  Touch<<<1, 1, 0, main_stream>>>(nullptr);
  cudaGraph_t same = nullptr;
  EXPECT_OK(cudaStreamEndCapture(main_stream, &same));
  EXPECT(same == graph);
  EXPECT(CountNodes(graph) == 2);
  EXPECT(CountEdges(graph) == 1);
  EXPECT_OK(cudaStreamBeginCaptureToGraph(main_stream, graph, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal));
  Touch<<<1, 1, 0, main_stream>>>(nullptr);
  EXPECT_OK(cudaStreamEndCapture(main_stream, nullptr));  // who has the graph needs no handle
  EXPECT(CountNodes(graph) == 3);
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&main_stream));
  EXPECT_OK(cudaStreamCreate(&side));
  EXPECT_OK(cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming));
  EXPECT_OK(cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming));
  conformance::RunCases();
  EXPECT_OK(cudaGetLastError());
  return conformance::Finish("capture");
}
