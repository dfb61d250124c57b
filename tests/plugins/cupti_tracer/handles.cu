// Threads that make, use and destroy handles of every kind, all the time, so that the driver gives
// one thread what another has just given back. Says what it made; handles.py holds the trace
// against it.
//
//     handles [--threads N] [--rounds N]
//
// On stdout, in any order:
//     graph THREAD SERIAL ORIGIN NODES EDGES   as the API counts them; its kernels have the grid
//                                              (THREAD, SERIAL)
//     block BYTES                              allocated once and freed once
//     KIND COUNT                               of streams, events that were used, execs, …
#include <cuda_runtime.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "testdata/workloads/cuda_check.h"

namespace {

__global__ void Nothing() {}

// CUDA 13 takes an array for edge data, CUDA 12 doesn't yet.
cudaError_t EdgesOf(cudaGraph_t graph, size_t* count) {
#if CUDART_VERSION >= 13000
  return cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, count);
#else
  return cudaGraphGetEdges(graph, nullptr, nullptr, count);
#endif
}
cudaError_t Connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
#else
  return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}
cudaError_t Disconnect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return cudaGraphRemoveDependencies(graph, &from, &to, nullptr, 1);
#else
  return cudaGraphRemoveDependencies(graph, &from, &to, 1);
#endif
}
cudaError_t AddNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeParams* params) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(node, graph, nullptr, nullptr, 0, params);
#else
  return cudaGraphAddNode(node, graph, nullptr, 0, params);
#endif
}

std::atomic<long> objects_gone{0};

// One thread's work. What it makes in a round is gone when the next one ends.
class Worker {
 public:
  Worker(long thread, long rounds) : thread_(thread), rounds_(rounds) {}

  void Run() {
    for (long round = 0; round < rounds_; ++round) Round(round);
    Destroy(kept_);
    Tell("stream", streams_);
    Tell("event", events_);
    Tell("exec", execs_);
    Tell("launch", launches_);
    Tell("pool", pools_);
    Tell("object", objects_);
  }

  const std::string& said() const { return said_; }
  long objects() const { return objects_; }

 private:
  void Tell(const char* what, long count) {
    said_ += std::string(what) + " " + std::to_string(count) + "\n";
  }
  void Tell(cudaGraph_t graph, unsigned serial, const char* origin) {
    size_t nodes = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(EdgesOf(graph, &edges));
    Tell(serial, origin, nodes, edges);
  }
  void Tell(unsigned serial, const char* origin, size_t nodes, size_t edges) {
    said_ += "graph " + std::to_string(thread_ + 1) + " " + std::to_string(serial) + " " + origin +
             " " + std::to_string(nodes) + " " + std::to_string(edges) + "\n";
  }
  dim3 Grid(unsigned serial) const { return dim3(static_cast<unsigned>(thread_) + 1, serial); }
  void Launch(cudaStream_t stream, unsigned serial) { Nothing<<<Grid(serial), 1, 0, stream>>>(); }

  void Round(long round) {
    for (cudaStream_t* stream : {&main_, &side_}) {
      CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
      ++streams_;
    }
    cudaEvent_t unused;
    CHECK(cudaEventCreate(&unused));
    Memory(round);
    cudaGraph_t captured = Captured(round);
    Spoilt(round);
    Explicit(round, captured);
    Conditional();
    Pool();
    CHECK(cudaEventDestroy(unused));
    if (kept_ != nullptr) Destroy(kept_);
    kept_ = captured;
    CHECK(cudaStreamDestroy(side_));
    CHECK(cudaStreamDestroy(main_));
  }

  // Goes while the capture of `Spoilt` can't free it.
  void Memory(long round) {
    const long bytes = 256 * (thread_ * rounds_ + round + 1);
    CHECK(cudaMalloc(&block_, static_cast<size_t>(bytes)));
    Tell("block", bytes);
  }

  cudaEvent_t Event() {
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    ++events_;
    return event;
  }

  // A chain that forks and joins, run twice, with an object that goes with the graph.
  cudaGraph_t Captured(long round) {
    const unsigned serial = ++serial_;
    CHECK(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal));
    for (long i = 0; i <= round % 4; ++i) Launch(main_, serial);
    cudaEvent_t fork = Event(), join = Event();
    CHECK(cudaEventRecord(fork, main_));
    CHECK(cudaStreamWaitEvent(side_, fork, 0));
    Launch(side_, serial);
    CHECK(cudaEventRecord(join, side_));
    CHECK(cudaStreamWaitEvent(main_, join, 0));
    Launch(main_, serial);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(main_, &graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    Tell(graph, serial, "capture");
    Hold(graph);
    Execute(graph);
    cudaGraph_t clone;
    CHECK(cudaGraphClone(&clone, graph));
    Tell(clone, serial, "clone");
    Destroy(clone);
    return graph;
  }

  void Hold(cudaGraph_t graph) {
    cudaUserObject_t object;
    const auto gone = [](void* count) { ++*static_cast<std::atomic<long>*>(count); };
    CHECK(cudaUserObjectCreate(&object, &objects_gone, gone, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    ++objects_;
  }

  void Execute(cudaGraph_t graph) {
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    ++execs_;
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, main_));
    launches_ += 2;
    CHECK(cudaStreamSynchronize(main_));
    CHECK(cudaGraphExecDestroy(exec));
  }

  // A capture that a call breaks; the memory that the call would have freed stays.
  void Spoilt(long round) {
    const unsigned serial = ++serial_;
    CHECK(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal));
    Launch(main_, serial);
    if (round % 2 == 0) {
      EXPECT(cudaErrorStreamCaptureUnsupported, cudaFree(block_));
    } else {
      EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(main_));
    }
    cudaGraph_t graph = nullptr;
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(main_, &graph));
    Tell(serial, "capture", 1, 0);
    CHECK(cudaFree(block_));
  }

  cudaGraphNode_t AddKernel(cudaGraph_t graph, unsigned serial) {
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(Nothing);
    params.gridDim = Grid(serial);
    params.blockDim = dim3(1);
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
  }

  // A graph made by hand, with a child, changed, captured into, and refused to be destroyed.
  void Explicit(long round, cudaGraph_t child) {
    const unsigned serial = ++serial_;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t nodes[4];
    for (cudaGraphNode_t& node : nodes) node = AddKernel(graph, serial);
    for (int i = 0; i < 3; ++i) CHECK(Connect(graph, nodes[i], nodes[i + 1]));
    CHECK(Disconnect(graph, nodes[0], nodes[1]));
    CHECK(cudaGraphDestroyNode(nodes[3]));
    cudaGraphNode_t embedding;
    CHECK(cudaGraphAddChildGraphNode(&embedding, graph, nodes, 1, child));
    cudaGraph_t embedded;
    CHECK(cudaGraphChildGraphNodeGetGraph(embedding, &embedded));
    Tell(embedded, serial_ - 2, "child");
    if (round % 2 == 0) CHECK(cudaGraphDestroyNode(embedding));
    CHECK(cudaStreamBeginCaptureToGraph(main_, graph, nodes + 1, nullptr, 1,
                                        cudaStreamCaptureModeThreadLocal));
    Launch(main_, serial);
    EXPECT(cudaErrorInvalidValue, cudaGraphDestroy(graph));
    Launch(main_, serial);
    CHECK(cudaStreamEndCapture(main_, &graph));
    Tell(graph, serial, "explicit");
    Execute(graph);
    Destroy(graph);
  }

  void Conditional() {
    const unsigned serial = ++serial_;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    AddKernel(graph, serial);
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 0, 0));
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    cudaGraphNode_t node;
    CHECK(AddNode(&node, graph, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    CHECK(Connect(body, AddKernel(body, serial), AddKernel(body, serial)));
    Tell(graph, serial, "explicit");
    Tell(body, serial, "body");
    Destroy(graph);
  }

  void Pool() {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    ++pools_;
    void* memory = nullptr;
    CHECK(cudaMallocFromPoolAsync(&memory, 4096, pool, main_));
    Tell("block", 4096);
    CHECK(cudaFreeAsync(memory, main_));
    CHECK(cudaStreamSynchronize(main_));
    CHECK(cudaMemPoolDestroy(pool));
  }

  void Destroy(cudaGraph_t graph) { CHECK(cudaGraphDestroy(graph)); }

  const long thread_, rounds_;
  unsigned serial_ = 1;  // a grid of (1, 1) is not in a trace
  long streams_ = 0, events_ = 0, execs_ = 0, launches_ = 0, pools_ = 0, objects_ = 0;
  cudaStream_t main_ = nullptr, side_ = nullptr;
  void* block_ = nullptr;
  cudaGraph_t kept_ = nullptr;  // of the round before
  std::string said_;
};

}  // namespace

int main(int argc, char** argv) {
  const long threads = Number(argc, argv, "--threads", 8);
  const long rounds = Number(argc, argv, "--rounds", 100);
  CHECK(cudaFree(nullptr));
  std::vector<Worker> workers;
  for (long i = 0; i < threads; ++i) workers.emplace_back(i, rounds);
  std::vector<std::thread> running;
  for (Worker& worker : workers) running.emplace_back([&worker] { worker.Run(); });
  for (std::thread& thread : running) thread.join();
  CHECK(cudaDeviceSynchronize());
  long objects = 0;
  for (const Worker& worker : workers) {
    std::fputs(worker.said().c_str(), stdout);
    objects += worker.objects();
  }
  return objects_gone == objects ? 0 : 1;
}
