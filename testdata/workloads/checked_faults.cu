// One fault a case, for checks that no other workload has a fault for. A case is named as the check
// that finds it.
//
//     checked_faults CHECK [fixed]     fixed: the same without the fault
#include "testdata/workloads/caching_allocator.h"
#include "testdata/workloads/cuda_forms.h"

__global__ void Fill(float* data) { data[threadIdx.x] = 1; }
__global__ void Read(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void ncclDevKernel_Exchange(float* data) { data[threadIdx.x] += 1; }

namespace {

constexpr size_t kBytes = 8 * kKiB;

bool fixed = false;
cudaStream_t stream = nullptr, side = nullptr;
cudaEvent_t event = nullptr;
float *first = nullptr, *second = nullptr;  // of kBytes, outside of graphs
CachingAllocator allocator;

void Begin() { CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed)); }

cudaGraph_t End() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

void Order(cudaStream_t from, cudaStream_t to) {
  CHECK(cudaEventRecord(event, from));
  CHECK(cudaStreamWaitEvent(to, event, 0));
}

// Launches the graph, and lets go of it.
void Run(cudaGraph_t graph, bool launch = true, bool destroy = true) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  if (launch) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  if (destroy) CHECK(cudaGraphDestroy(graph));
}

void EmptyNode() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams params = {};
  params.elementSize = params.height = 1;
  params.width = kBytes;
  params.dst = first;
  cudaGraphNode_t before = nullptr, empty = nullptr, after = nullptr;
  CHECK(cudaGraphAddMemsetNode(&before, graph, nullptr, 0, &params));
  if (!fixed) CHECK(cudaGraphAddEmptyNode(&empty, graph, &before, 1));
  CHECK(cudaGraphAddMemsetNode(&after, graph, fixed ? &before : &empty, 1, &params));
  Run(graph);
}

void EventStreamLeak() {
  cudaEvent_t own = nullptr;
  CHECK(cudaEventCreate(&own));
  CHECK(cudaEventRecord(own, stream));
  if (fixed) CHECK(cudaEventDestroy(own));
  Begin();
  Fill<<<1, 32, 0, stream>>>(first);
  Run(End());
}

void FreeBeforeUse() {
  Begin();
  float* block = nullptr;
  CHECK(cudaMallocAsync(&block, kBytes, stream));
  Fill<<<1, 32, 0, stream>>>(block);
  Order(stream, side);
  Read<<<1, 32, 0, side>>>(block, first);
  if (fixed) Order(side, stream);
  CHECK(cudaFreeAsync(block, stream));
  if (!fixed) Order(side, stream);
  Run(End());
}

// CUDA 13's form of the call takes edge data.
void SetBackTo(cudaGraphNode_t* node) {
#if CUDART_VERSION >= 13000
  CHECK(cudaStreamUpdateCaptureDependencies(stream, node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies));
#else
  CHECK(cudaStreamUpdateCaptureDependencies(stream, node, 1, cudaStreamSetCaptureDependencies));
#endif
}

void FrontierRewind() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeRelaxed));
  Fill<<<1, 32, 0, stream>>>(first);
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  CHECK(cudaGraphGetNodes(graph, &node, &count));
  Fill<<<1, 32, 0, stream>>>(second);
  if (!fixed) SetBackTo(&node);
  Read<<<1, 32, 0, stream>>>(first, first + 64);
  Run(End());
}

void GraphLeak() {
  Begin();
  Fill<<<1, 32, 0, stream>>>(first);
  Run(End(), true, fixed);
}

void OpenCapture() {
  Begin();
  Fill<<<1, 32, 0, stream>>>(first);
  if (fixed) Run(End());
}

void SerializedBranches() {
  float* blocks[8];
  for (float*& block : blocks) CHECK(cudaMalloc(&block, kBytes));
  Begin();
  for (float* block : blocks) Fill<<<1, 32, 0, stream>>>(fixed ? blocks[0] : block);
  Run(End());
  for (float* block : blocks) CHECK(cudaFree(block));
}

void StaticInputPinned() {
  float* input = nullptr;
  CHECK(cudaMalloc(&input, kBytes));
  Begin();
  Fill<<<1, 32, 0, stream>>>(input);
  cudaGraph_t graph = End();
  cudaGraphExec_t kept = nullptr;
  CHECK(cudaGraphInstantiate(&kept, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  if (fixed) CHECK(cudaGraphLaunch(kept, stream));
  Begin();
  Fill<<<1, 32, 0, stream>>>(first);
  Run(End());
  CHECK(cudaGraphExecDestroy(kept));
  CHECK(cudaFree(input));
}

// Two bodies, of which the second runs if the first doesn't.
void CrossBranchFree() {
  Begin();
  Fill<<<1, 32, 0, stream>>>(first);
  cudaGraph_t graph = End();
  cudaGraphNode_t last = nullptr;
  size_t count = 1;
  CHECK(cudaGraphGetNodes(graph, &last, &count));
  cudaGraph_t bodies[2];
  for (cudaGraph_t& body : bodies) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1,
                                           cudaGraphCondAssignDefault));
    const cudaGraphNode_t before = last;
    CHECK(AddNode(&last, graph, &before, 1, &params));
    body = params.conditional.phGraph_out[0];
  }
  allocator.BeginCapture("bodies");
  float* block = nullptr;
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaStreamBeginCaptureToGraph(stream, bodies[i], nullptr, nullptr, 0,
                                        cudaStreamCaptureModeRelaxed));
    if (i == 0) block = allocator.Malloc(kBytes, stream);
    Fill<<<1, 32, 0, stream>>>(i == 0 || !fixed ? block : first);
    if (i == (fixed ? 0 : 1)) allocator.Free(block);
    End();
  }
  allocator.EndCapture();
  Run(graph);
}

void AbortedCapturePool() {
  allocator.BeginCapture("step");
  Begin();
  float* block = allocator.Malloc(kBytes, stream);
  Fill<<<1, 32, 0, stream>>>(block);
  if (!fixed) EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
  allocator.Free(block);
  if (fixed) {
    Run(End());
  } else {
    cudaGraph_t graph = nullptr;
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  }
  allocator.EndCapture();
}

void PoolAcrossStreams() {
  for (cudaStream_t on : {stream, fixed ? stream : side}) {
    allocator.BeginCapture("shared");
    CHECK(cudaStreamBeginCapture(on, cudaStreamCaptureModeRelaxed));
    float* block = allocator.Malloc(kBytes, on);
    Fill<<<1, 32, 0, on>>>(block);
    allocator.Free(block);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(on, &graph));
    allocator.EndCapture();
    Run(graph);
  }
}

void UnsafeReuse() {
  allocator.BeginCapture("step");
  Begin();
  float* block = allocator.Malloc(kBytes, stream);
  Fill<<<1, 32, 0, stream>>>(block);
  Order(stream, side);
  Read<<<1, 32, 0, side>>>(block, first);
  if (fixed) Order(side, stream);
  allocator.Free(block);
  float* later = allocator.Malloc(kBytes, stream);
  Fill<<<1, 32, 0, stream>>>(later);
  if (!fixed) Order(side, stream);
  allocator.Free(later);
  Run(End());
  allocator.EndCapture();
}

void CommBufferIdle() {
  Begin();
  Fill<<<1, 32, 0, stream>>>(second);
  ncclDevKernel_Exchange<<<1, 32, 0, stream>>>(second);
  float* block = nullptr;
  CHECK(cudaMallocAsync(&block, kBytes / 2, stream));
  Fill<<<1, 32, 0, stream>>>(block);
  if (fixed) ncclDevKernel_Exchange<<<1, 32, 0, stream>>>(second);
  Read<<<1, 32, 0, stream>>>(block, first);
  CHECK(cudaFreeAsync(block, stream));
  Run(End());
}

struct Case {
  const char* check;
  void (*run)();
};
constexpr Case kCases[] = {{"aborted-capture-pool", AbortedCapturePool},
                           {"comm-buffer-idle", CommBufferIdle},
                           {"cross-branch-free", CrossBranchFree},
                           {"empty-node", EmptyNode},
                           {"event-stream-leak", EventStreamLeak},
                           {"free-before-use", FreeBeforeUse},
                           {"frontier-rewind", FrontierRewind},
                           {"graph-leak", GraphLeak},
                           {"open-capture", OpenCapture},
                           {"pool-across-streams", PoolAcrossStreams},
                           {"serialized-branches", SerializedBranches},
                           {"static-input-pinned", StaticInputPinned},
                           {"unsafe-reuse", UnsafeReuse}};

}  // namespace

int main(int argc, char** argv) {
  fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMalloc(&first, kBytes));
  CHECK(cudaMalloc(&second, kBytes));
  for (const Case& planted : kCases) {
    if (Flag(argc, argv, planted.check)) planted.run();
  }
  if (Flag(argc, argv, "open-capture") && !fixed) return 0;
  if (!Flag(argc, argv, "aborted-capture-pool") || fixed) allocator.ReleaseSegments();
  CHECK(cudaFree(first));
  CHECK(cudaFree(second));
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(side));
  CHECK(cudaStreamDestroy(stream));
  std::printf("checked_faults: done\n");
  return 0;
}
