// Programs with one fault of memory each, and correct twins of them.
//
//     memory_faults FAULT [--twin]
//
// Memory comes from a pool in blocks of 4 KiB that lie side by side. `lent NAME ADDRESS SIZE` names
// bytes that may be lent between launches in the twin alone; `content NAME ADDRESS SIZE` bytes
// whose content lives otherwise in the twin.
#include "testdata/workloads/caching_allocator.h"

constexpr size_t kBlock = 4 * kKiB;
constexpr int kElements = static_cast<int>(kBlock / sizeof(float));
constexpr const char* kPool = "pool of the graphs";

__global__ void Fill(float* out) { out[threadIdx.x] = 1.0f; }
__global__ void Take(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void Scale(float* values) { values[threadIdx.x] *= 2.0f; }
__global__ void Both(float* own, float* other) { own[threadIdx.x] += other[threadIdx.x]; }

// Like PyTorch's lists of tensors: what lies beyond `count` is left from earlier launches.
struct List {
  float* at[4];
  int count;
};
__global__ void ScaleAll(List list) {
  for (int i = 0; i < list.count; ++i) list.at[i][threadIdx.x] *= 2.0f;
}

namespace {

struct Program {
  bool twin = false;
  CachingAllocator allocator = {};
  cudaStream_t main = nullptr, side = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;

  explicit Program(bool is_twin) : twin(is_twin) {
    CHECK(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&forked, &joined})
      CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }

  float* Malloc() { return allocator.Malloc(kBlock, main); }
  // In the pool, outside of captures.
  float* MallocInPool() {
    allocator.BeginCapture(kPool);
    float* block = Malloc();
    allocator.EndCapture();
    return block;
  }
  void Begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    allocator.BeginCapture(kPool);
    CHECK(cudaStreamBeginCapture(main, mode));
  }
  cudaGraph_t End() {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(main, &graph));
    allocator.EndCapture();
    return graph;
  }
  void Fork() { Order(forked, main, side); }
  void Join() { Order(joined, side, main); }
  static void Order(cudaEvent_t event, cudaStream_t before, cudaStream_t after) {
    CHECK(cudaEventRecord(event, before));
    CHECK(cudaStreamWaitEvent(after, event, 0));
  }
  cudaGraphExec_t Instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
  }
  void Launch(cudaGraphExec_t exec, int times = 2) {
    for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, main));
    CHECK(cudaStreamSynchronize(main));
  }
  void LaunchAll(cudaGraph_t graph) { Launch(Instantiate(graph)); }
};

void Lent(const char* name, const void* address) {
  std::printf("lent %s %p %zu\n", name, address, kBlock);
}

// A copy over two blocks, beside a memset of the second one.
void CopyRaces(Program& p) {
  float* from = p.allocator.Malloc(2 * kBlock, p.main);
  float *x = p.MallocInPool(), *y = p.MallocInPool();
  p.Begin();
  p.Fork();
  CHECK(cudaMemcpyAsync(x, from, 2 * kBlock, cudaMemcpyDeviceToDevice, p.main));
  if (p.twin) p.Fork();
  CHECK(cudaMemsetAsync(y, 0, kBlock, p.side));
  p.Join();
  p.LaunchAll(p.End());
}

// Another graph copies from an output on into what lies behind it.
void CopyReads(Program& p) {
  float* out = p.allocator.Malloc(2 * kBlock, p.main);
  p.Begin();
  float *a = p.Malloc(), *b = p.Malloc();
  Fill<<<1, kElements, 0, p.main>>>(a);
  Fill<<<1, kElements, 0, p.main>>>(b);
  p.allocator.Free(b);
  cudaGraph_t first = p.End();
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(out, a, p.twin ? kBlock : 2 * kBlock, cudaMemcpyDeviceToDevice, p.main));
  cudaGraph_t second = nullptr;
  CHECK(cudaStreamEndCapture(p.main, &second));
  p.LaunchAll(first);
  p.LaunchAll(second);
  Lent("b", b);
}

// A block that was made and filled outside of captures, and freed before the first launch.
void FilledBefore(Program& p) {
  float* out = p.Malloc();
  float* filled = p.MallocInPool();
  CHECK(cudaMemsetAsync(filled, 1, kBlock, p.main));
  p.Begin();
  float* own = p.Malloc();
  if (p.twin) CHECK(cudaMemsetAsync(filled, 1, kBlock, p.main));
  Take<<<1, kElements, 0, p.main>>>(filled, own);
  Take<<<1, kElements, 0, p.main>>>(own, out);
  p.allocator.Free(own);
  cudaGraph_t graph = p.End();
  p.allocator.Free(filled);
  p.LaunchAll(graph);
  Lent("filled", filled);
}

// A block of the capture that work outside of it fills meanwhile.
void FilledInCapture(Program& p) {
  float* from = p.Malloc();
  CHECK(cudaMemsetAsync(from, 1, kBlock, p.side));
  p.Begin(cudaStreamCaptureModeRelaxed);
  float* own = p.Malloc();
  if (!p.twin) CHECK(cudaMemcpyAsync(own, from, kBlock, cudaMemcpyDeviceToDevice, p.side));
  Scale<<<1, kElements, 0, p.main>>>(own);
  p.allocator.Free(own);
  p.LaunchAll(p.End());
  Lent("own", own);
}

cudaGraph_t CaptureScratch(Program& p) {
  p.Begin();
  float* own = p.Malloc();
  Fill<<<1, kElements, 0, p.main>>>(own);
  p.allocator.Free(own);
  return p.End();
}

// A block of the pool that the program still has at its end.
void KeptToTheEnd(Program& p) {
  p.LaunchAll(CaptureScratch(p));
  float* kept = p.MallocInPool();
  if (p.twin) p.allocator.Free(kept);
  Lent("kept", kept);
}

// A block of the pool that is there while an exec runs that was updated to a graph without memory.
void KeptOverUpdate(Program& p) {
  float* elsewhere = p.Malloc();
  cudaGraph_t graph = CaptureScratch(p);
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  Fill<<<1, kElements, 0, p.main>>>(elsewhere);
  cudaGraph_t other = nullptr;
  CHECK(cudaStreamEndCapture(p.main, &other));
  cudaGraphExec_t exec = p.Instantiate(graph);
  p.Launch(exec);
  cudaGraphExecUpdateResultInfo info = {};
  CHECK(cudaGraphExecUpdate(exec, other, &info));
  float* kept = p.MallocInPool();
  CHECK(cudaMemsetAsync(kept, 1, kBlock, p.main));
  if (!p.twin) p.Launch(exec);
  std::vector<float> host(kElements);
  CHECK(cudaMemcpyAsync(host.data(), kept, kBlock, cudaMemcpyDeviceToHost, p.main));
  CHECK(cudaStreamSynchronize(p.main));
  p.allocator.Free(kept);
  Lent("kept", kept);
}

// A kernel on another stream that is given the address of a block: as an argument, or behind the
// end of a list.
void Words(Program& p) {
  float* own = p.Malloc();
  p.Begin();
  p.Fork();
  float* x = p.Malloc();
  Fill<<<1, kElements, 0, p.main>>>(x);
  if (p.twin) {
    ScaleAll<<<1, kElements, 0, p.side>>>({{own, x, nullptr, nullptr}, 1});
  } else {
    Both<<<1, kElements, 0, p.side>>>(own, x);
  }
  p.allocator.Free(x);
  float* y = p.Malloc();  // where x was
  CHECK(cudaMemsetAsync(y, 0, kBlock, p.main));
  p.allocator.Free(y);
  p.Join();
  p.LaunchAll(p.End());
}

// Memory whose content a sleep between launches would have to keep, and that the twin doesn't need;
// or the other way round.

void Content(const char* name, const void* address, size_t size = kBlock) {
  std::printf("content %s %p %zu\n", name, address, size);
}

// A graph that reads some memory, by way of a block of its own.
cudaGraphExec_t CaptureReader(Program& p, const float* from) {
  p.Begin();
  float *own = p.Malloc(), *sum = p.Malloc();
  Take<<<1, kElements, 0, p.main>>>(from, own);
  Take<<<1, kElements, 0, p.main>>>(own, sum);
  p.allocator.Free(own);
  p.allocator.Free(sum);
  return p.Instantiate(p.End());
}

// The program's batch, copied before the first launch only.
void CopiedOnce(Program& p) {
  const std::vector<float> host(kElements, 1.0f);
  float* batch = p.Malloc();
  const cudaGraphExec_t exec = CaptureReader(p, batch);
  for (int step = 0; step < 3; ++step) {
    if (step == 0 || p.twin)
      CHECK(cudaMemcpyAsync(batch, host.data(), kBlock, cudaMemcpyHostToDevice, p.main));
    p.Launch(exec, 1);
  }
  Content("batch", batch);
}

// Half of the batch is copied.
void CopiedInPart(Program& p) {
  const std::vector<float> host(kElements, 1.0f);
  float* batch = p.Malloc();
  const cudaGraphExec_t exec = CaptureReader(p, batch);
  for (int step = 0; step < 3; ++step) {
    CHECK(cudaMemcpyAsync(batch, host.data(), p.twin ? kBlock : kBlock / 2, cudaMemcpyHostToDevice,
                          p.main));
    p.Launch(exec, 1);
  }
  Content("batch", batch + kElements / 2, kBlock / 2);
}

// The batch is filled on a stream that the launch doesn't wait for.
void FilledAside(Program& p) {
  float* batch = p.Malloc();
  const cudaGraphExec_t exec = CaptureReader(p, batch);
  for (int step = 0; step < 3; ++step) {
    CHECK(cudaMemsetAsync(batch, step, kBlock, p.side));
    if (p.twin) p.Join();
    p.Launch(exec, 1);
  }
  Content("batch", batch);
}

// A block of the capture that the program reads after each launch, though it is freed.
void ReadAfterwards(Program& p) {
  std::vector<float> host(kElements);
  p.Begin();
  float *own = p.Malloc(), *sum = p.Malloc();
  Fill<<<1, kElements, 0, p.main>>>(own);
  Take<<<1, kElements, 0, p.main>>>(own, sum);
  p.allocator.Free(own);
  p.allocator.Free(sum);
  const cudaGraphExec_t exec = p.Instantiate(p.End());
  for (int step = 0; step < 2; ++step) {
    p.Launch(exec, 1);
    if (!p.twin) CHECK(cudaMemcpyAsync(host.data(), own, kBlock, cudaMemcpyDeviceToHost, p.main));
  }
  Content("own", own);
}

// A counter that each launch takes over from the one before; the twin sets it anew.
void CountsOn(Program& p) {
  float* counter = p.Malloc();
  CHECK(cudaMemsetAsync(counter, 0, kBlock, p.main));
  p.Begin();
  float* copy = p.Malloc();
  Take<<<1, kElements, 0, p.main>>>(counter, copy);
  Scale<<<1, kElements, 0, p.main>>>(counter);
  p.allocator.Free(copy);
  const cudaGraphExec_t exec = p.Instantiate(p.End());
  for (int step = 0; step < 3; ++step) {
    if (p.twin) CHECK(cudaMemsetAsync(counter, 0, kBlock, p.main));
    p.Launch(exec, 1);
  }
  Content("counter", counter);
}

// Another graph writes what the first one only reads.
void RewrittenByAnother(Program& p) {
  float *table = p.Malloc(), *elsewhere = p.Malloc();
  CHECK(cudaMemsetAsync(table, 0, kBlock, p.main));
  const cudaGraphExec_t exec = CaptureReader(p, table);
  p.Begin();
  CHECK(cudaMemsetAsync(p.twin ? elsewhere : table, 1, kBlock, p.main));
  const cudaGraphExec_t other = p.Instantiate(p.End());
  for (int step = 0; step < 2; ++step) {
    p.Launch(other, 1);
    p.Launch(exec, 2);
  }
  Content("table", table);
}

// A block of the capture that the program holds on to.
void KeptOutput(Program& p) {
  p.Begin();
  float *own = p.Malloc(), *sum = p.Malloc();
  Fill<<<1, kElements, 0, p.main>>>(own);
  Take<<<1, kElements, 0, p.main>>>(own, sum);
  if (p.twin) p.allocator.Free(own);
  p.allocator.Free(sum);
  p.LaunchAll(p.End());
  Content("own", own);
}

// A graph that fills a table before it copies it, in a conditional body only.
void FilledInABody(Program& p) {
  float *table = p.Malloc(), *out = p.Malloc();
  CHECK(cudaMemsetAsync(table, 0, kBlock, p.main));
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, copy = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraph_t filling = graph;
  if (!p.twin) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1,
                                           cudaGraphCondAssignDefault));
    CHECK(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &params));
    filling = params.conditional.phGraph_out[0];
  }
  cudaMemsetParams fill = {};
  fill.dst = table;
  fill.elementSize = 1;
  fill.width = kBlock;
  fill.height = 1;
  cudaGraphNode_t filled = nullptr;
  CHECK(cudaGraphAddMemsetNode(&filled, filling, nullptr, 0, &fill));
  if (p.twin) first = filled;
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &first, 1, out, table, kBlock,
                                 cudaMemcpyDeviceToDevice));
  p.LaunchAll(graph);
  Content("table", table);
}

struct Fault {
  const char* name;
  void (*run)(Program&);
};
constexpr Fault kFaults[] = {
    {"copied-in-part", CopiedInPart},
    {"copied-once", CopiedOnce},
    {"copy-races", CopyRaces},
    {"copy-reads", CopyReads},
    {"counts-on", CountsOn},
    {"filled-aside", FilledAside},
    {"filled-before", FilledBefore},
    {"filled-in-body", FilledInABody},
    {"filled-in-capture", FilledInCapture},
    {"kept-to-the-end", KeptToTheEnd},
    {"kept-output", KeptOutput},
    {"kept-over-update", KeptOverUpdate},
    {"read-afterwards", ReadAfterwards},
    {"rewritten-by-another", RewrittenByAnother},
    {"words", Words},
};

}  // namespace

int main(int argc, char** argv) {
  Program program(Flag(argc, argv, "--twin"));
  for (const Fault& fault : kFaults) {
    if (argc < 2 || std::strcmp(argv[1], fault.name) != 0) continue;
    fault.run(program);
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  std::fprintf(stderr, "memory_faults FAULT [--twin]\n");
  return 2;
}
