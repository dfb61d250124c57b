// The library as PyTorch loads it: what it exports, its C functions, and PyTorch's own types.
#include <dlfcn.h>

#include <functional>
#include <new>
#include <thread>

#include "libgraphkit/random.h"
#include "tests/plugins/torch_allocator/soft_program.h"

namespace graphkit::torch {
namespace {

void* Library() {
  static void* const library =
      dlopen(GRAPHKIT_BUILD "/lib/graphkit/libgraphkit_torch_allocator.so", RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
  return library;
}
template <typename Function>
Function* Exported(const char* name) {
  void* symbol = dlsym(Library(), name);
  REQUIRE(symbol != nullptr);
  return reinterpret_cast<Function*>(symbol);
}

using MempoolId = std::pair<unsigned long long, unsigned long long>;  // NOLINT: PyTorch's types
using Filter = std::function<bool(cudaStream_t)>;
using MallocFunction = void*(size_t, int, cudaStream_t);
using FreeFunction = void(void*, size_t, int, cudaStream_t);

graphkit_allocator_figures Figures(int device) {
  graphkit_allocator_figures figures = {};
  auto* of = Exported<decltype(graphkit_allocator_figures_of)>("graphkit_allocator_figures_of");
  CHECK(of(device, GRAPHKIT_ALLOCATOR_FIGURES, &figures) == 0);
  CHECK(of(device, GRAPHKIT_ALLOCATOR_FIGURES + 1, &figures) == 1);
  return figures;
}

TEST_CASE("PyTorch's functions capture into a pool, and give it back") {
  auto* malloc = Exported<MallocFunction>("graphkit_torch_malloc");
  auto* free = Exported<FreeFunction>("graphkit_allocator_free");
  auto* record = Exported<void(void*, cudaStream_t)>("graphkit_allocator_record_stream");
  auto* begin = Exported<void(int, MempoolId, Filter)>("graphkit_torch_begin_pool");
  auto* end = Exported<void(int, MempoolId)>("graphkit_torch_end_pool");
  auto* release = Exported<void(int, MempoolId)>("graphkit_torch_release_pool");
  Exported<void(int)>("graphkit_allocator_init")(1);
  const Streams streams(2);
  const graphkit_allocator_figures before = [&] {
    free(malloc(1, 0, nullptr), 1, 0, nullptr);
    return Figures(0);
  }();
  REQUIRE(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal) == cudaSuccess);
  const cudaStream_t capturing = streams[0];
  begin(0, {3, 0}, [capturing](cudaStream_t s) { return s == capturing; });
  void* a = malloc(4 * kMiB, 0, streams[0]);
  Touch(a, streams[0]);
  Join(streams[1], streams[0]);
  record(a, streams[1]);
  Touch(a, streams[1]);
  free(a, 4 * kMiB, 0, streams[0]);
  Join(streams[0], streams[1]);
  CHECK(malloc(4 * kMiB, 0, streams[0]) == a);
  free(a, 4 * kMiB, 0, streams[0]);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(streams[0], &graph) == cudaSuccess);
  end(0, {3, 0});
  const graphkit_allocator_figures after = Figures(0);
  CHECK(after.record_streams - before.record_streams == 1);
  CHECK(after.captured_mallocs - before.captured_mallocs == 2);
  CHECK(after.proved_frees - before.proved_frees == 2);
  CHECK(after.reserved - before.reserved == 20 * kMiB);
  release(0, {3, 0});
  CHECK(Figures(0).reserved == before.reserved);
}

TEST_CASE("out of memory throws for PyTorch, and is NULL in C") {
  const size_t huge = size_t{1} << 50;
  CHECK(Exported<MallocFunction>("graphkit_allocator_malloc")(huge, 0, nullptr) == nullptr);
  CHECK_THROWS_AS(Exported<MallocFunction>("graphkit_torch_malloc")(huge, 0, nullptr),
                  std::bad_alloc);
  CHECK_THROWS_AS(Exported<MallocFunction>("graphkit_torch_segment_malloc")(huge, 0, nullptr),
                  std::bad_alloc);
}

TEST_CASE("segments for a MemPool are the driver's own") {
  auto* malloc = Exported<MallocFunction>("graphkit_torch_segment_malloc");
  auto* free = Exported<FreeFunction>("graphkit_torch_segment_free");
  auto* base_of = Exported<void*(void*, size_t*)>("graphkit_allocator_base");
  void* segment = malloc(20 * kMiB, 0, nullptr);
  size_t size = 0;
  CHECK(base_of(static_cast<char*>(segment) + 100, &size) == segment);
  CHECK(size == 20 * kMiB);
  free(segment, 20 * kMiB, 0, nullptr);
  CHECK(base_of(segment, &size) == segment);
}

// Each thread captures and works eagerly on streams of its own, and frees what others made.
TEST_CASE("threads allocate, record and free at the same time") {
  auto* malloc = Exported<MallocFunction>("graphkit_allocator_malloc");
  auto* free = Exported<FreeFunction>("graphkit_allocator_free");
  auto* record = Exported<void(void*, cudaStream_t)>("graphkit_allocator_record_stream");
  auto* begin = Exported<void(int, MempoolId, Filter)>("graphkit_torch_begin_pool");
  auto* end = Exported<void(int, MempoolId)>("graphkit_torch_end_pool");
  const graphkit_allocator_figures before = Figures(0);
  const Streams streams(4);
  std::atomic<void*> handed = nullptr;
  const auto work = [&](size_t number) {
    const cudaStream_t stream = streams[number];
    Random random(number + 1);
    for (int round = 0; round < 20; ++round) {
      const bool capture = number % 2 == 0;
      const MempoolId pool{100 + number, 0};
      if (capture) {
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        begin(0, pool, [stream](cudaStream_t s) { return s == stream; });
      }
      std::vector<void*> mine;
      for (int i = 0; i < 30; ++i) {
        void* block = malloc(512 + random.Below(kMiB), 0, stream);
        Touch(block, stream);
        mine.push_back(block);
        if (!capture && random.Below(3) == 0) record(block, streams[number ^ 2]);
        if (random.Below(2) == 0) {
          free(mine.back(), 0, 0, stream);
          mine.pop_back();
        }
      }
      if (capture) {
        cudaGraph_t graph = nullptr;
        REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        end(0, pool);
      } else if (!mine.empty()) {
        void* other = handed.exchange(mine.back());
        mine.pop_back();
        if (other != nullptr) free(other, 0, 0, stream);
      }
      for (void* block : mine) free(block, 0, 0, stream);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  if (void* last = handed.load()) free(last, 0, 0, nullptr);
  const graphkit_allocator_figures after = Figures(0);
  CHECK(after.mallocs - before.mallocs == 4 * 20 * 30);
  CHECK(after.frees - before.frees == 4 * 20 * 30);
  CHECK(after.allocated == before.allocated);
  CHECK(after.captures - before.captures == 2 * 20);
}

}  // namespace
}  // namespace graphkit::torch
