// The allocator for PyTorch, loaded as PyTorch loads it, on the software device: what a malloc and
// the free that goes with it cost, outside captures and in them, and what blocks that wait add to
// that. The driver's part is simulated; caching_rules is PyTorch's allocator as alloc/ models it,
// without a driver, a lock or PyTorch's own bookkeeping.
//
//     LD_LIBRARY_PATH=build/lib/graphkit/soft_cuda build/bench/torch_allocator_bench
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/random.h"
#include "plugins/torch_allocator/graphkit_torch_allocator.h"

namespace graphkit {
namespace {

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct Plugin {
  decltype(&graphkit_allocator_malloc) malloc = nullptr;
  decltype(&graphkit_allocator_free) free = nullptr;
  decltype(&graphkit_allocator_record_stream) record_stream = nullptr;
  decltype(&graphkit_allocator_begin_pool) begin_pool = nullptr;
  decltype(&graphkit_allocator_end_pool) end_pool = nullptr;
  decltype(&graphkit_allocator_release_pool) release_pool = nullptr;
};

const Plugin& Graphkit() {
  static const Plugin plugin = [] {
    void* library = dlopen(GRAPHKIT_BUILD "/lib/graphkit/libgraphkit_torch_allocator.so", RTLD_NOW);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(1);
    }
    const auto load = [&](auto* function, const char* name) {
      *function = reinterpret_cast<std::decay_t<decltype(*function)>>(dlsym(library, name));
    };
    Plugin made;
    load(&made.malloc, "graphkit_allocator_malloc");
    load(&made.free, "graphkit_allocator_free");
    load(&made.record_stream, "graphkit_allocator_record_stream");
    load(&made.begin_pool, "graphkit_allocator_begin_pool");
    load(&made.end_pool, "graphkit_allocator_end_pool");
    load(&made.release_pool, "graphkit_allocator_release_pool");
    return made;
  }();
  return plugin;
}

struct Stream {
  Stream() { Check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(handle); }
  cudaStream_t handle = nullptr;
};

// Sizes of 512 B to 8 MiB, small ones as frequent as large ones in powers of two; and which of the
// live blocks is freed next.
struct Program {
  static constexpr size_t kLive = 1000;
  Program() {
    Random random(7);
    for (size_t i = 0; i < 4096; ++i) {
      const double power = 9 + 14 * static_cast<double>(random.Below(1000)) / 1000;
      sizes.push_back(static_cast<Bytes>(std::exp2(power)));
      victims.push_back(random.Below(kLive));
    }
  }
  std::vector<Bytes> sizes;
  std::vector<size_t> victims;
};

// A million pairs at a time: the live block whose turn it is, is replaced.
template <typename Block, typename Malloc, typename Free>
void ReplaceBlocks(benchmark::State& state, const Malloc& malloc, const Free& free) {
  const Program program;
  std::vector<Block> live;
  for (size_t i = 0; i < Program::kLive; ++i) live.push_back(malloc(program.sizes[i]));
  size_t step = 0;
  for (auto _ : state) {
    Block& block = live[program.victims[step % 4096]];
    free(block);
    block = malloc(program.sizes[(step * 31 + step / 4096) % 4096]);
    ++step;
  }
  for (const Block& block : live) free(block);
}

void ReplaceOn(benchmark::State& state, cudaStream_t stream) {
  const Plugin& plugin = Graphkit();
  ReplaceBlocks<void*>(
      state, [&](Bytes size) { return plugin.malloc(size, 0, stream); },
      [&](void* block) { plugin.free(block, 0, 0, stream); });
}

constexpr int64_t kPairs = 1'000'000;

void BM_Eager_graphkit(benchmark::State& state) {
  const Stream stream;
  ReplaceOn(state, stream.handle);
}
BENCHMARK(BM_Eager_graphkit)->Iterations(kPairs);

void BM_Eager_caching_rules(benchmark::State& state) {
  BumpDriver driver;
  CachingAllocator allocator({}, &driver);
  ReplaceBlocks<BlockHandle>(
      state, [&](Bytes size) { return *allocator.Malloc({.size = size, .stream = 1}); },
      [&](BlockHandle block) { allocator.Free(block); });
}
BENCHMARK(BM_Eager_caching_rules)->Iterations(kPairs);

void BM_Eager_cudaMallocAsync(benchmark::State& state) {
  const Stream stream;
  ReplaceBlocks<void*>(
      state,
      [&](Bytes size) {
        void* block = nullptr;
        Check(cudaMallocAsync(&block, size, stream.handle));
        return block;
      },
      [&](void* block) { Check(cudaFreeAsync(block, stream.handle)); });
}
BENCHMARK(BM_Eager_cudaMallocAsync)->Iterations(kPairs);

void WaitUntilOpen(void* open) {
  while (!static_cast<std::atomic<bool>*>(open)->load()) {
  }
}

void RecordAndFree(int64_t blocks, cudaStream_t own, cudaStream_t other) {
  const Plugin& plugin = Graphkit();
  for (int64_t i = 0; i < blocks; ++i) {
    void* block = plugin.malloc(4096, 0, own);
    plugin.record_stream(block, other);
    plugin.free(block, 0, 0, own);
  }
}

// Blocks wait for a stream that has stopped.
void BM_EagerWaiting(benchmark::State& state) {
  const Stream stream;
  const Stream other;
  std::atomic<bool> open = false;
  Check(cudaLaunchHostFunc(other.handle, WaitUntilOpen, &open));
  RecordAndFree(state.range(0), stream.handle, other.handle);
  ReplaceOn(state, stream.handle);
  open = true;
  Check(cudaStreamSynchronize(other.handle));
}
BENCHMARK(BM_EagerWaiting)->Arg(0)->Arg(1'000)->Arg(100'000)->Iterations(100'000);

// A capture into a pool of its own, from its making to the end.
class Recording {
 public:
  explicit Recording(const Stream& stream) : stream_(stream.handle) {
    static uint64_t number = 0;
    pool_.first = ++number;
    Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
    Graphkit().begin_pool(0, pool_, IsCaptured, nullptr);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    cudaGraph_t graph = nullptr;
    Check(cudaStreamEndCapture(stream_, &graph));
    Graphkit().end_pool(0, pool_);
    Check(cudaGraphDestroy(graph));
    Graphkit().release_pool(0, pool_);
  }

 private:
  static int IsCaptured(void*, graphkit_stream stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status == cudaStreamCaptureStatusActive;
  }
  cudaStream_t stream_;
  graphkit_allocator_pool pool_ = {};
};

// Blocks from outside are freed while the stream that they were recorded on is captured.
void BM_EagerBesideCapture(benchmark::State& state) {
  const Stream stream;
  const Stream captured;
  const Recording recording(captured);
  RecordAndFree(state.range(0), stream.handle, captured.handle);
  ReplaceOn(state, stream.handle);
}
BENCHMARK(BM_EagerBesideCapture)->Arg(0)->Arg(1'000)->Arg(100'000)->Iterations(100'000);

void Join(cudaStream_t later, cudaStream_t earlier, cudaEvent_t event) {
  Check(cudaEventRecord(event, earlier));
  Check(cudaStreamWaitEvent(later, event, 0));
}

enum class Memory : int64_t { kNone, kGraphkit, kGraphNodes };

// One node between a malloc and its free; on several streams every 16th block crosses to the next
// stream, and every 16th step joins the streams.
class CapturedProgram {
 public:
  CapturedProgram(size_t streams, Memory memory) : streams_(streams), memory_(memory) {
    Check(cudaMalloc(&fixed_, Bytes{8} << 20));
    Check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  CapturedProgram(const CapturedProgram&) = delete;
  CapturedProgram& operator=(const CapturedProgram&) = delete;
  ~CapturedProgram() {
    cudaEventDestroy(event_);
    cudaFree(fixed_);
  }

  // Seconds from the first pair to the last; the ends of the capture are not in it. `deferred`
  // blocks wait all the while.
  double Run(int64_t pairs, int64_t deferred) {
    const Recording recording(streams_[0]);
    for (size_t s = 1; s < streams_.size(); ++s) Fork(handle(s));
    Fork(side_.handle);
    RecordAndFree(deferred, handle(0), side_.handle);
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < pairs; ++i) Step(static_cast<size_t>(i));
    const auto end = std::chrono::steady_clock::now();
    for (size_t s = 1; s < streams_.size(); ++s) Join(handle(0), handle(s), event_);
    Join(handle(0), side_.handle, event_);
    return std::chrono::duration<double>(end - begin).count();
  }

 private:
  cudaStream_t handle(size_t s) const { return streams_[s].handle; }
  void Fork(cudaStream_t stream) {
    Join(stream, handle(0), event_);
    Check(cudaMemsetAsync(fixed_, 1, 64, stream));
  }
  void Step(size_t i) {
    const size_t s = i % streams_.size();
    void* block = Malloc(program_.sizes[i % 4096], handle(s));
    Check(cudaMemsetAsync(block, 1, 64, handle(s)));
    if (streams_.size() > 1 && i % 16 == 0) {
      const size_t next = (s + 1) % streams_.size();
      Join(handle(next), handle(s), event_);
      if (memory_ == Memory::kGraphkit) Graphkit().record_stream(block, handle(next));
      Check(cudaMemsetAsync(block, 1, 64, handle(next)));
      Join(handle(s), handle(next), event_);
    }
    Free(block, handle(s));
  }
  void* Malloc(Bytes size, cudaStream_t stream) {
    if (memory_ == Memory::kGraphkit) return Graphkit().malloc(size, 0, stream);
    void* block = fixed_;
    if (memory_ == Memory::kGraphNodes) Check(cudaMallocAsync(&block, size, stream));
    return block;
  }
  void Free(void* block, cudaStream_t stream) {
    if (memory_ == Memory::kGraphkit) Graphkit().free(block, 0, 0, stream);
    if (memory_ == Memory::kGraphNodes) Check(cudaFreeAsync(block, stream));
  }

  const Program program_;
  std::vector<Stream> streams_;
  Stream side_;  // joins at the end: what is recorded on it waits
  Memory memory_;
  void* fixed_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

void BM_Capture(benchmark::State& state) {
  const int64_t pairs = state.range(2);
  CapturedProgram program(static_cast<size_t>(state.range(1)), static_cast<Memory>(state.range(0)));
  double seconds = 0;
  for (auto _ : state) {
    seconds = program.Run(pairs, state.range(3));
    state.SetIterationTime(seconds);
  }
  state.counters["ns_per_pair"] = seconds * 1e9 / static_cast<double>(pairs);
}
BENCHMARK(BM_Capture)
    ->ArgNames({"memory", "streams", "pairs", "deferred"})
    ->ArgsProduct({{0, 1}, {1, 8}, {100'000, 1'000'000}, {0}})
    ->ArgsProduct({{2}, {1, 8}, {100'000}, {0}})
    ->ArgsProduct({{1}, {8}, {100'000}, {1'000, 100'000}})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graphkit
