// A program whose callbacks callback_order.expected lists: a captured fork and join of kernels,
// explicit empty nodes, clone, exec, launch, and the end of each.
#include "graphs.h"
#include "kernels.h"

int main() {
  cudaStream_t stream, side;
  cudaEvent_t event;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamCreate(&side));
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Touch<<<1, 1, 0, stream>>>(nullptr);
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_OK(cudaStreamWaitEvent(side, event, 0));
  Touch<<<1, 2, 0, side>>>(nullptr);
  EXPECT_OK(cudaEventRecord(event, side));
  EXPECT_OK(cudaStreamWaitEvent(stream, event, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));

  conformance::RunOnce(graph, stream);
  EXPECT_OK(cudaGraphDestroy(graph));

  cudaGraphNode_t a = nullptr;
  cudaGraphNode_t b = nullptr;
  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
  EXPECT_OK(cudaGraphAddEmptyNode(&b, graph, nullptr, 0));
  EXPECT_OK(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));
  EXPECT_OK(cudaGraphClone(&clone, graph));
  EXPECT_OK(cudaGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
  EXPECT_OK(cudaGraphDestroyNode(b));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(clone));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphCreate(&graph, 1));
  return conformance::Finish("callback_order");
}
