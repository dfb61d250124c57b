// When work is done: behind the caller's back, in the order of streams, events and graphs. Values
// in page-locked memory hold streams, so that what comes first doesn't hang on time.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

unsigned* word;  // page-locked, seen by the device as well
CUdeviceptr At(unsigned* host) { return reinterpret_cast<CUdeviceptr>(host); }

void Set(unsigned value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

struct Held {
  cudaStream_t stream = nullptr;
  Held() {
    Set(0);
    EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_OK(cuStreamWaitValue32_v2(stream, At(word), 1, CU_STREAM_WAIT_VALUE_GEQ));
  }
  void LetGo() {
    Set(1);
    EXPECT_OK(cudaStreamSynchronize(stream));
  }
  ~Held() { EXPECT_OK(cudaStreamDestroy(stream)); }
};

// effect: cuStreamWaitValue32_v2 cuStreamWaitValue64_v2 cuStreamWriteValue32_v2
// effect: cuStreamWriteValue64_v2 cuStreamBatchMemOp_v2 cudaStreamQuery
CASE(Values) {
  Held held;
  unsigned* words = nullptr;
  EXPECT_OK(cudaHostAlloc(&words, 64, cudaHostAllocDefault));
  std::memset(words, 0, 64);
  EXPECT_OK(cuStreamWriteValue32_v2(held.stream, At(words), 7, 0));
  EXPECT_OK(cuStreamWriteValue64_v2(held.stream, At(words + 2), 1ull << 40, 0));
  EXPECT_OK(
      cuStreamWaitValue64_v2(held.stream, At(words + 2), 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  CUstreamBatchMemOpParams op = {};
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = At(words + 4);
  op.writeValue.value = 9;
  EXPECT_OK(cuStreamBatchMemOp_v2(held.stream, 1, &op, 0));
  EXPECT_ERROR(cudaErrorNotReady, cudaStreamQuery(held.stream));
  EXPECT(words[0] == 0 && words[4] == 0);
  held.LetGo();
  EXPECT_OK(cudaStreamQuery(held.stream));
  EXPECT(words[0] == 7 && words[3] == 1u << 8 && words[4] == 9);
  EXPECT_ERROR(cudaErrorInvalidValue, cuStreamWaitValue32_v2(held.stream, 0, 1, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cuStreamWaitValue64_v2(held.stream, 0, 1, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cuStreamWriteValue32_v2(held.stream, 0, 1, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cuStreamWriteValue64_v2(held.stream, 0, 1, 0));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cuStreamBatchMemOp_v2(held.stream, 1, nullptr, 0)));
  EXPECT_OK(cudaFreeHost(words));
}

std::atomic<int> calls{0};
void Count(void*) { ++calls; }

// Launched work is kept back while its graph is destroyed, and runs then.
void LaunchAndLetGo(cudaGraph_t graph, Held* held) {
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphLaunch(exec, held->stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT(calls == 0);
  held->LetGo();
}

void CountCallback(cudaStream_t, cudaError_t status, void*) { calls += status == cudaSuccess; }

// effect: cudaLaunchHostFunc cudaStreamAddCallback cudaEventQuery
CASE(HostFunctions) {
  Held held;
  calls = 0;
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaLaunchHostFunc(held.stream, Count, nullptr));
  EXPECT_OK(cudaStreamAddCallback(held.stream, CountCallback, nullptr, 0));
  EXPECT_OK(cudaEventRecord(event, held.stream));
  EXPECT_ERROR(cudaErrorNotReady, cudaEventQuery(event));
  EXPECT(calls == 0);
  Set(1);
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT(calls == 2);
  EXPECT_OK(cudaEventQuery(event));
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaLaunchHostFunc(held.stream, nullptr, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamAddCallback(held.stream, nullptr, nullptr, 0));
}

// A stream that waits for an event of a held one is held as well; others aren't.
CASE(AcrossStreams) {
  Held held;
  unsigned* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, 64));
  cudaStream_t after = nullptr;
  cudaStream_t free = nullptr;
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&after, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(event, held.stream));
  EXPECT_OK(cudaStreamWaitEvent(after, event, 0));
  EXPECT_OK(cudaMemsetAsync(device, 1, 4, after));
  EXPECT_OK(cudaMemsetAsync(device + 1, 2, 4, free));
  EXPECT_OK(cudaStreamSynchronize(free));
  EXPECT_ERROR(cudaErrorNotReady, cudaStreamQuery(after));
  held.LetGo();
  EXPECT_OK(cudaStreamSynchronize(after));
  EXPECT(ReadWord(device) == 0x01010101 && ReadWord(device + 1) == 0x02020202);
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaStreamDestroy(after));
  EXPECT_OK(cudaStreamDestroy(free));
  EXPECT_OK(cudaFree(device));
}

// The legacy stream and blocking streams follow each other.
CASE(LegacyStream) {
  Set(0);
  cudaStream_t blocking = nullptr;
  EXPECT_OK(cudaStreamCreate(&blocking));
  EXPECT_OK(cuStreamWaitValue32_v2(blocking, At(word), 1, CU_STREAM_WAIT_VALUE_GEQ));
  calls = 0;
  EXPECT_OK(cudaLaunchHostFunc(cudaStreamLegacy, Count, nullptr));
  EXPECT_ERROR(cudaErrorNotReady, cudaStreamQuery(cudaStreamLegacy));
  EXPECT(calls == 0);
  Set(1);
  EXPECT_OK(cudaStreamSynchronize(cudaStreamLegacy));
  EXPECT(calls == 1);
  EXPECT_OK(cudaStreamDestroy(blocking));
}

// Two branches of a graph, of which the first waits for what the second writes; destroyed while it
// runs.
CASE(Graphs) {
  Held held;
  unsigned* words = nullptr;
  EXPECT_OK(cudaHostAlloc(&words, 64, cudaHostAllocDefault));
  words[0] = 0;
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&context));
  CUstreamBatchMemOpParams wait = {};
  wait.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  wait.waitValue.address = At(words);
  wait.waitValue.value = 5;
  wait.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  CUstreamBatchMemOpParams write = {};
  write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = At(words);
  write.writeValue.value = 5;
  CUDA_BATCH_MEM_OP_NODE_PARAMS waits = {context, 1, &wait, 0};
  CUDA_BATCH_MEM_OP_NODE_PARAMS writes = {context, 1, &write, 0};
  cudaGraph_t graph = NewGraph();
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
  EXPECT_OK(cuGraphAddBatchMemOpNode(&first, graph, nullptr, 0, &waits));
  EXPECT_OK(cuGraphAddBatchMemOpNode(&second, graph, nullptr, 0, &writes));
  calls = 0;
  cudaHostNodeParams host = {Count, nullptr};
  cudaGraphNode_t last = nullptr;
  const cudaGraphNode_t both[] = {first, second};
  EXPECT_OK(cudaGraphAddHostNode(&last, graph, both, 2, &host));
  LaunchAndLetGo(graph, &held);
  EXPECT(calls == 1 && words[0] == 5);
  EXPECT_OK(cudaFreeHost(words));
}

// A user object lives until the launches that use it are over.
// effect: cudaUserObjectCreate
CASE(UserObjects) {
  Held held;
  calls = 0;
  cudaUserObject_t object = nullptr;
  EXPECT_OK(cudaUserObjectCreate(&object, nullptr, Count, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph = NewGraph();
  EXPECT_OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaHostNodeParams host = {Count, nullptr};
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  LaunchAndLetGo(graph, &held);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(calls >= 1);  // the destructor comes at some time after the launch
}

// Pageable memory may change as soon as the copy returns, although the stream isn't done.
CASE(ThreadsAndCopies) {
  Held held;
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Set(1);
  });
  unsigned* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, 64));
  unsigned value = 3;
  EXPECT_OK(cudaMemcpyAsync(device, &value, 4, cudaMemcpyHostToDevice, held.stream));
  value = 4;
  EXPECT_OK(cudaStreamSynchronize(held.stream));
  EXPECT(ReadWord(device) == 3);
  EXPECT_OK(cudaFree(device));
  later.join();
}

}  // namespace

int main() {
  EXPECT_OK(cudaHostAlloc(&word, sizeof *word, cudaHostAllocDefault));
  RunCases();
  EXPECT_OK(cudaFreeHost(word));
  return Finish("execution");
}
