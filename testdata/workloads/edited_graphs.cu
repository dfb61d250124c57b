// Graphs that are edited after an exec was made of them: launches run what was instantiated.
//
//     graph   two memsets of one block of 4 KiB, and an edit behind the exec's back      races
//     0       nothing orders them; then an edge does                                       1
//     1       an edge orders them; then it is removed                                      -
//     2       nothing orders them; then the second one is destroyed                        1
//     3       one of another block; then it is given the first one's                       -
//     4       as 0, and instantiated again with the edge: both execs are launched          1
//     5, 6    an edge orders them in both; an exec of 5 is updated to 6, whose edge goes   -
//     7       memory of 1 MiB each in two branches; then an edge from free to alloc: a plan
//             takes 2 MiB, as the branches run at once
//     8, 9    9 is a clone of 8, made before an edge orders 8's; 9 is launched             1
//
// 10 graphs, 9 execs, 10 launches, 4 races.
#include "testdata/workloads/cuda_check.h"
#include "testdata/workloads/cuda_forms.h"

constexpr size_t kSize = 4 * kKiB;

namespace {

cudaStream_t stream = nullptr;
void *x = nullptr, *y = nullptr;

cudaMemsetParams Clear(void* data) {
  cudaMemsetParams params = {};
  params.dst = data;
  params.elementSize = 1;
  params.width = kSize;
  params.height = 1;
  return params;
}

cudaGraphNode_t Add(cudaGraph_t graph, void* data) {
  const cudaMemsetParams params = Clear(data);
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  return node;
}

// Two memsets.
struct Pair {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t a = nullptr, b = nullptr;

  explicit Pair(void* second) {
    CHECK(cudaGraphCreate(&graph, 0));
    a = Add(graph, x);
    b = Add(graph, second);
  }
};

cudaGraphExec_t Instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void Run(cudaGraphExec_t exec) {
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}

void Finish(cudaGraphExec_t exec, cudaGraph_t graph) {
  Run(exec);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void EditPairs() {
  const Pair added(x);
  cudaGraphExec_t exec = Instantiate(added.graph);
  CHECK(AddDependencies(added.graph, &added.a, &added.b, 1));
  Finish(exec, added.graph);

  const Pair removed(x);
  CHECK(AddDependencies(removed.graph, &removed.a, &removed.b, 1));
  exec = Instantiate(removed.graph);
  CHECK(RemoveDependencies(removed.graph, &removed.a, &removed.b, 1));
  Finish(exec, removed.graph);

  const Pair destroyed(x);
  exec = Instantiate(destroyed.graph);
  CHECK(cudaGraphDestroyNode(destroyed.b));
  Finish(exec, destroyed.graph);

  const Pair set(y);
  exec = Instantiate(set.graph);
  const cudaMemsetParams params = Clear(x);
  CHECK(cudaGraphMemsetNodeSetParams(set.b, &params));
  Finish(exec, set.graph);
}

void RunTwoVersions() {
  const Pair pair(x);
  cudaGraphExec_t before = Instantiate(pair.graph);
  CHECK(AddDependencies(pair.graph, &pair.a, &pair.b, 1));
  cudaGraphExec_t after = Instantiate(pair.graph);
  Run(before);
  CHECK(cudaGraphExecDestroy(before));
  Finish(after, pair.graph);
}

void EditAfterUpdate() {
  const Pair first(x), second(x);
  CHECK(AddDependencies(first.graph, &first.a, &first.b, 1));
  CHECK(AddDependencies(second.graph, &second.a, &second.b, 1));
  cudaGraphExec_t exec = Instantiate(first.graph);
  Run(exec);
  cudaGraphExecUpdateResultInfo info = {};
  CHECK(cudaGraphExecUpdate(exec, second.graph, &info));
  CHECK(RemoveDependencies(second.graph, &second.a, &second.b, 1));
  Finish(exec, second.graph);
  CHECK(cudaGraphDestroy(first.graph));
}

// alloc, clear, free.
struct Branch {
  cudaGraphNode_t alloc = nullptr, free = nullptr;

  explicit Branch(cudaGraph_t graph) {
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = kMiB;
    CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
    const cudaMemsetParams clear = Clear(params.dptr);
    cudaGraphNode_t node = nullptr;
    CHECK(cudaGraphAddMemsetNode(&node, graph, &alloc, 1, &clear));
    CHECK(cudaGraphAddMemFreeNode(&free, graph, &node, 1, params.dptr));
  }
};

void EditMemory() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  const Branch left(graph), right(graph);
  cudaGraphExec_t exec = Instantiate(graph);
  CHECK(AddDependencies(graph, &left.free, &right.alloc, 1));
  Finish(exec, graph);
}

void RunClone() {
  const Pair pair(x);
  cudaGraph_t clone = nullptr;
  CHECK(cudaGraphClone(&clone, pair.graph));
  CHECK(AddDependencies(pair.graph, &pair.a, &pair.b, 1));
  Finish(Instantiate(clone), clone);
  CHECK(cudaGraphDestroy(pair.graph));
}

}  // namespace

int main() {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&x, kSize));
  CHECK(cudaMalloc(&y, kSize));
  EditPairs();
  RunTwoVersions();
  EditAfterUpdate();
  EditMemory();
  RunClone();
  std::printf("edited_graphs: 9 execs, 10 launches\n");
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
