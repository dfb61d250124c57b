// Programmatic dependent launch in captures: launch attributes become edge data.
#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t main_stream, side;
cudaEvent_t event, join_event;

void Launch(cudaStream_t stream, cudaLaunchAttribute* attribute) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = attribute != nullptr ? 1 : 0;
  float* data = nullptr;
  EXPECT_OK(cudaLaunchKernelEx(&config, Touch, data));
}

cudaGraphEdgeData EdgeOf(cudaGraph_t graph, size_t wanted) {
  cudaGraphNode_t from[8];
  cudaGraphNode_t to[8];
  cudaGraphEdgeData data[8];
  size_t count = 8;
  EXPECT_OK(cudaGraphGetEdges(graph, from, to, data, &count));
  EXPECT(count > wanted);
  return data[wanted];
}

void StreamSerialization() {
  EXPECT_OK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  Launch(main_stream, nullptr);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  Launch(main_stream, &attribute);
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(main_stream, &graph));
  const cudaGraphEdgeData edge = EdgeOf(graph, 0);
  EXPECT(edge.type == cudaGraphDependencyTypeProgrammatic);
  EXPECT(edge.from_port == cudaGraphKernelNodePortProgrammatic);

  cudaGraphNode_t from;
  cudaGraphNode_t to;
  size_t count = 1;
  EXPECT_ERROR(cudaErrorLossyQuery, cudaGraphGetEdges(graph, &from, &to, nullptr, &count));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void ProgrammaticEvent(int at_block_start, int port) {
  EXPECT_OK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = event;
  attribute.val.programmaticEvent.triggerAtBlockStart = at_block_start;
  Launch(main_stream, &attribute);
  EXPECT_OK(cudaStreamWaitEvent(side, event, 0));
  Launch(side, nullptr);
  EXPECT_OK(cudaEventRecord(join_event, side));
  EXPECT_OK(cudaStreamWaitEvent(main_stream, join_event, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(main_stream, &graph));
  const cudaGraphEdgeData edge = EdgeOf(graph, 0);
  EXPECT(edge.type == cudaGraphDependencyTypeProgrammatic);
  EXPECT(edge.from_port == port);
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&main_stream));
  EXPECT_OK(cudaStreamCreate(&side));
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_OK(cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming));
  StreamSerialization();
  ProgrammaticEvent(0, cudaGraphKernelNodePortProgrammatic);
  ProgrammaticEvent(1, cudaGraphKernelNodePortLaunchCompletion);
  return conformance::Finish("programmatic");
}
