// Joins that a capture needs, who may query it, and calls that it survives. Sources, by check:
//   [1] NVIDIA's sample graphMemoryNodes, GraphBuilder.join of cuda.core (cuda-python's tests),
//   NCCL:
//       a side stream that has joined is destroyed while the capture goes on
//   [2] cuda_runtime_api.h at cudaStreamIsCapturing: "The blocking stream capture is not
//       invalidated"
//   [3] cuda_runtime_api.h at cudaStreamUpdateCaptureDependencies: "Nodes that are removed from the
//       dependency set via this API do not result in cudaErrorStreamCaptureUnjoined", and at
//       cudaStreamGetCaptureInfo: nor do nodes that become unreachable "due to direct actions on
//       the graph"; NCCL leaves a frontier behind that it has set itself
//   [4] a capture into a body loses its graph when the capture around it is given up: it ends, with
//       901 (seen as a crash of the software device)
//   [5] what others measured on an RTX 3060 (driver 13.2): calls that end a global capture
//   [6] the tests of cuda-python's bindings: questions about a stream need no current context
#include "conformance.h"
#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

cudaStream_t origin, side;
cudaEvent_t event;

void Begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  EXPECT_OK(cudaStreamBeginCapture(origin, mode));
}

// Ends the origin's capture; with `error` there is no graph, otherwise one of so many nodes.
void End(cudaError_t error, size_t nodes = 0) {
  cudaGraph_t graph = nullptr;
  EXPECT_ERROR(error, cudaStreamEndCapture(origin, &graph));
  EXPECT((graph != nullptr) == (error == cudaSuccess));
  if (graph == nullptr) return;
  size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == nodes);
  EXPECT_OK(cudaGraphDestroy(graph));
}

void Work(cudaStream_t stream) { Touch<<<1, 1, 0, stream>>>(nullptr); }

void Order(cudaStream_t from, cudaStream_t to) {
  EXPECT_OK(cudaEventRecord(event, from));
  EXPECT_OK(cudaStreamWaitEvent(to, event, 0));
}

// Begins a capture that a new stream takes part in, with work of both.
cudaStream_t WorkOfNewFork() {
  Begin();
  Work(origin);
  cudaStream_t fork = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&fork, cudaStreamNonBlocking));
  Order(origin, fork);
  Work(fork);
  return fork;
}

// Each stream is waited for twice: there is one edge from its work.
CASE(ManyStreamsJoin) {
  constexpr size_t kStreams = 100;
  Begin();
  Work(origin);
  cudaEvent_t forked = nullptr;
  cudaEvent_t done[kStreams] = {};
  cudaStream_t forks[kStreams] = {};
  EXPECT_OK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(forked, origin));
  for (size_t i = 0; i < kStreams; ++i) {
    EXPECT_OK(cudaStreamCreateWithFlags(&forks[i], cudaStreamNonBlocking));
    EXPECT_OK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    EXPECT_OK(cudaStreamWaitEvent(forks[i], forked, 0));
    Work(forks[i]);
    EXPECT_OK(cudaEventRecord(done[i], forks[i]));
    EXPECT_OK(cudaStreamWaitEvent(origin, done[i], 0));
  }
  for (size_t i = 0; i < kStreams; ++i) EXPECT_OK(cudaStreamWaitEvent(origin, done[i], 0));
  Work(origin);
  cudaGraph_t graph = nullptr;
  size_t nodes = 0;
  size_t edges = 0;
  EXPECT_OK(cudaStreamEndCapture(origin, &graph));
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT(nodes == kStreams + 2 && edges == 2 * kStreams + 1);
  EXPECT_OK(cudaGraphDestroy(graph));
  for (size_t i = 0; i < kStreams; i += 2) EXPECT_OK(cudaStreamDestroy(forks[i]));
  for (size_t i = 1; i < kStreams; i += 2) EXPECT_OK(cudaStreamDestroy(forks[i]));
  for (cudaEvent_t e : done) EXPECT_OK(cudaEventDestroy(e));
  EXPECT_OK(cudaEventDestroy(forked));
}

// [1]
CASE(AJoinedStreamMayBeDestroyed) {
  cudaStream_t fork = WorkOfNewFork();
  Order(fork, origin);
  EXPECT_OK(cudaStreamDestroy(fork));
  Work(origin);
  End(cudaSuccess, 3);
}

// [1] The event outlives the stream that it was recorded in.
CASE(ADestroyedStreamMayBeJoinedByItsEvent) {
  cudaStream_t fork = WorkOfNewFork();
  EXPECT_OK(cudaEventRecord(event, fork));
  EXPECT_OK(cudaStreamDestroy(fork));
  EXPECT_OK(cudaStreamWaitEvent(origin, event, 0));
  End(cudaSuccess, 2);
}

CASE(ADestroyedStreamThatHasNotJoinedIsMissed) {
  cudaStream_t fork = WorkOfNewFork();
  EXPECT_OK(cudaStreamDestroy(fork));
  cudaGraph_t graph = nullptr;
  EXPECT_FAILS(cudaStreamEndCapture(origin, &graph));
  EXPECT(graph == nullptr);
}

// [2]
CASE(AskingTheLegacyStreamSpoilsNothing) {
  Begin();
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  EXPECT_ERROR(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(cudaStreamLegacy, &status));
  EXPECT_ERROR(
      cudaErrorStreamCaptureImplicit,
      cudaStreamGetCaptureInfo(cudaStreamLegacy, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(cudaStreamIsCapturing(origin, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  Work(origin);
  End(cudaSuccess, 1);
}

cudaGraph_t GraphOf(cudaStream_t stream) {
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, nullptr));
  return graph;
}

// The one node that the stream's next node will follow.
cudaGraphNode_t LastOf(cudaStream_t stream) {
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  size_t count = 0;
  EXPECT_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, nullptr, &count));
  EXPECT(count == 1);
  return count == 1 ? nodes[0] : nullptr;
}

void Set(cudaStream_t stream, cudaGraphNode_t node) {
  EXPECT_OK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                                cudaStreamSetCaptureDependencies));
}

// [3]
CASE(WhatASetReplacedNeedsNoJoin) {
  Begin();
  Work(origin);
  cudaGraphNode_t first = LastOf(origin);
  Order(origin, side);
  Work(side);
  Order(side, origin);
  Set(origin, first);
  End(cudaSuccess, 2);
}

// [3]
CASE(AFrontierThatASetPutThereNeedsNoJoin) {
  Begin();
  Work(origin);
  Order(origin, side);
  Work(side);
  Order(side, origin);
  cudaGraphNode_t after = AddEmpty(GraphOf(origin), {LastOf(side)});
  Set(side, after);
  Work(origin);
  End(cudaSuccess, 4);
}

CASE(WorkAfterASetHasToBeJoined) {
  Begin();
  Work(origin);
  Order(origin, side);
  Set(side, AddEmpty(GraphOf(origin), {LastOf(origin)}));
  Work(side);
  End(cudaErrorStreamCaptureUnjoined);
}

// [3]
CASE(WhatAnActionOnTheGraphCutOffNeedsNoJoin) {
  Begin();
  Work(origin);
  Order(origin, side);
  Work(side);
  cudaGraphNode_t cut = LastOf(side);
  Order(side, origin);
  Work(origin);
  cudaGraphNode_t last = LastOf(origin);
  EXPECT_OK(cudaGraphRemoveDependencies(GraphOf(origin), &cut, &last, nullptr, 1));
  End(cudaSuccess, 3);
}

cudaGraph_t AddBody(cudaGraph_t graph) {
  cudaGraphConditionalHandle handle = 0;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  return params.conditional.phGraph_out[0];
}

// [4]
CASE(ACaptureIntoABodyThatIsGoneEnds) {
  if (!conformance::OnSoftDevice()) return;  // NVIDIA's driver crashes at its end
  cudaStream_t gone = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamBeginCapture(gone, cudaStreamCaptureModeRelaxed));
  cudaGraph_t body = AddBody(GraphOf(gone));
  const auto into_body = [&](cudaStream_t stream) {
    EXPECT_OK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                            cudaStreamCaptureModeRelaxed));
    Work(stream);
  };
  into_body(side);
  EXPECT_OK(cudaStreamDestroy(gone));
  cudaStreamCaptureStatus status;
  EXPECT_OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusInvalidated);
  EXPECT_FAILS(cudaStreamUpdateCaptureDependencies(side, nullptr, nullptr, 0, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(side, &graph));
  EXPECT(graph == nullptr);

  EXPECT_OK(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamBeginCapture(gone, cudaStreamCaptureModeRelaxed));
  body = AddBody(GraphOf(gone));
  cudaStream_t second = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  into_body(second);
  EXPECT_OK(cudaStreamDestroy(gone));
  EXPECT_OK(cudaStreamDestroy(second));
}

// [5]
CASE(CallsThatEndAGlobalCapture) {
  void* plain = nullptr;
  EXPECT_OK(cudaMalloc(&plain, 4096));
  auto* data = static_cast<char*>(plain);
  Begin();
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
               cudaMemcpyPeerAsync(data, 0, data + 2048, 0, 1024, origin));
  End(cudaErrorStreamCaptureInvalidated);
  CUmemLocation device = {};
  device.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Begin();
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
               cuMemPrefetchAsync(reinterpret_cast<CUdeviceptr>(plain), 4096, device, 0, origin));
  End(cudaErrorStreamCaptureInvalidated);
  Begin();
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
               cudaStreamAttachMemAsync(origin, plain, 0, cudaMemAttachGlobal));
  End(cudaErrorStreamCaptureInvalidated);
  EXPECT_OK(cudaMemcpyPeerAsync(data, 0, data + 2048, 0, 1024, origin));
  EXPECT_OK(cudaStreamSynchronize(origin));
  EXPECT_OK(cudaFree(plain));
}

// [6]
CASE(QuestionsNeedNoCurrentContext) {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxPopCurrent(&context));
  CUstreamCaptureStatus status;
  cuuint64_t id = 0;
  EXPECT_OK(cuStreamIsCapturing(origin, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_OK(cuStreamGetCaptureInfo(origin, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(cuCtxPushCurrent(context));
  cudaKernel_t kernel = nullptr;
  EXPECT_OK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(Touch)));
  size_t offset = 0;
  size_t size = 0;
  EXPECT_OK(cuKernelGetParamInfo(reinterpret_cast<CUkernel>(kernel), 0, &offset, &size));
  EXPECT(offset == 0 && size == sizeof(float*));
  EXPECT_OK(cuCtxPopCurrent(&context));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT,
               cuKernelGetParamInfo(reinterpret_cast<CUkernel>(kernel), 0, &offset, &size));
  EXPECT_OK(cuCtxPushCurrent(context));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&origin));
  EXPECT_OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Work(side);
  EXPECT_OK(cudaDeviceSynchronize());
  RunCases();
  return Finish("capture_joins");
}
