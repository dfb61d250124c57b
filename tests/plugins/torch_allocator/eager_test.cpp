// Outside captures: what holds for every allocator (tests/alloc/allocator_model_test.cpp), and what
// record_stream, pools, devices and a full device do.
#include <algorithm>
#include <map>

#include "libgraphkit/random.h"
#include "tests/plugins/torch_allocator/soft_program.h"

namespace graphkit::torch {
namespace {

// Where a request comes from: each way of asking is held to the same rules.
enum class Way { kEager, kPool, kCaptured };

struct Asked {
  Asked(DeviceAllocator* of, Way way, const Streams& streams) : allocator(of) {
    if (way == Way::kPool) allocator->BeginPool({7, 0}, nullptr);
    if (way != Way::kCaptured) return;
    recording.emplace(allocator, PoolKey{8, 0}, streams[0]);
    Touch(allocator->Malloc(64, streams.id(0)), streams[0]);
    for (size_t s = 1; s < 3; ++s) Join(streams[s], streams[0]);
  }
  DeviceAllocator* allocator;
  std::optional<Recording> recording = {};
};

template <typename Check>
void ForEachWay(const Check& check) {
  for (const Way way : {Way::kEager, Way::kPool, Way::kCaptured}) {
    CAPTURE(static_cast<int>(way));
    Made made = MakeAllocator();
    DeviceAllocator& allocator = Start(&made);
    const Streams streams(3);
    Asked asked(&allocator, way, streams);
    check(allocator, streams);
    if (!asked.recording) continue;
    for (size_t s = 1; s < 3; ++s) Join(streams[0], streams[s]);
    asked.recording->Stop();
  }
}

TEST_CASE("live blocks never overlap, are aligned, and lie in what is reserved") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    ForEachWay([seed](DeviceAllocator& allocator, const Streams& streams) {
      Random random(seed);
      std::map<uintptr_t, Bytes> live;
      const Bytes before = allocator.figures().allocated;
      for (int i = 0; i < 300; ++i) {
        if (!live.empty() && random.Below(5) < 2) {
          auto at = live.begin();
          std::advance(at, static_cast<ptrdiff_t>(random.Below(live.size())));
          REQUIRE(allocator.Free(reinterpret_cast<void*>(at->first)));
          live.erase(at);
          continue;
        }
        const Bytes size = 1 + random.Below(3 * kMiB);
        void* block = allocator.Malloc(size, streams.id(random.Below(3)));
        REQUIRE(block != nullptr);
        const auto address = reinterpret_cast<uintptr_t>(block);
        REQUIRE(address % 512 == 0);
        const auto next = live.lower_bound(address);
        REQUIRE((next == live.end() || address + size <= next->first));
        if (next != live.begin()) {
          REQUIRE(std::prev(next)->first + std::prev(next)->second <= address);
        }
        live[address] = size;
        void* base = nullptr;
        size_t bytes = 0;
        REQUIRE(allocator.BaseOf(block, &base, &bytes));
        REQUIRE(address + size <= reinterpret_cast<uintptr_t>(base) + bytes);
      }
      for (const auto& [address, size] : live) allocator.Free(reinterpret_cast<void*>(address));
      CHECK(allocator.figures().allocated == before);
      CHECK(allocator.figures().mallocs - allocator.figures().frees <= 1);
    });
  }
}

TEST_CASE("a stream gets back what it freed, and nothing more is reserved") {
  ForEachWay([](DeviceAllocator& allocator, const Streams& streams) {
    void* first = allocator.Malloc(kMiB, streams.id(1));
    const Bytes reserved = allocator.figures().reserved;
    allocator.Free(first);
    CHECK(allocator.Malloc(kMiB, streams.id(1)) == first);
    CHECK(allocator.figures().reserved == reserved);
  });
}

TEST_CASE("another stream doesn't get it without order") {
  ForEachWay([](DeviceAllocator& allocator, const Streams& streams) {
    void* first = allocator.Malloc(32 * kMiB, streams.id(1));
    Touch(first, streams[1]);
    allocator.Free(first);
    CHECK(allocator.Malloc(32 * kMiB, streams.id(2)) != first);
  });
}

TEST_CASE("without memory a request is refused, and what is live stays") {
  ForEachWay([](DeviceAllocator& allocator, const Streams& streams) {
    const Bytes total = *CudaDriver::Get()->TotalMemory(0);
    allocator.SetFraction(static_cast<double>(40 * kMiB) / static_cast<double>(total));
    void* kept = allocator.Malloc(16 * kMiB, streams.id(1));
    REQUIRE(kept != nullptr);
    const Bytes allocated = allocator.figures().allocated;
    CHECK(allocator.Malloc(100 * kMiB, streams.id(1)) == nullptr);
    CHECK(allocator.figures().out_of_memory == 1);
    CHECK(allocator.figures().allocated == allocated);
    allocator.Free(kept);
    CHECK(allocator.Malloc(16 * kMiB, streams.id(1)) == kept);
  });
}

TEST_CASE("nothing is handed out for 0 bytes, and an unknown pointer isn't taken back") {
  ForEachWay([](DeviceAllocator& allocator, const Streams& streams) {
    CHECK(allocator.Malloc(0, streams.id(0)) == nullptr);
    int local = 0;
    CHECK_FALSE(allocator.Free(&local));
    CHECK_FALSE(allocator.RecordStream(&local, streams.id(1)));
  });
}

struct Gate {  // holds a stream up
  static void Wait(void* open) {
    while (!static_cast<std::atomic<bool>*>(open)->load()) {
    }
  }
};

TEST_CASE("a block recorded on another stream comes back when that stream has passed the free") {
  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  const Streams streams(2);
  std::atomic<bool> open = false;
  void* first = allocator.Malloc(32 * kMiB, streams.id(0));
  REQUIRE(cudaLaunchHostFunc(streams[1], Gate::Wait, &open) == cudaSuccess);
  allocator.RecordStream(first, streams.id(1));
  allocator.Free(first);
  void* second = allocator.Malloc(32 * kMiB, streams.id(0));
  CHECK(second != first);
  open = true;
  REQUIRE(cudaStreamSynchronize(streams[1]) == cudaSuccess);
  CHECK(allocator.Malloc(32 * kMiB, streams.id(0)) == first);
}

TEST_CASE("a full device waits for the streams, gives back what is cached, and asks again") {
  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  const Streams streams(2);
  const Bytes total = *CudaDriver::Get()->TotalMemory(0);
  allocator.SetFraction(static_cast<double>(64 * kMiB) / static_cast<double>(total));
  void* first = allocator.Malloc(40 * kMiB, streams.id(0));
  Touch(first, streams[1]);
  allocator.RecordStream(first, streams.id(1));
  allocator.Free(first);
  void* larger = allocator.Malloc(60 * kMiB, streams.id(1));
  CHECK(larger != nullptr);
  CHECK(allocator.figures().reserved == 60 * kMiB);
  CHECK(allocator.figures().out_of_memory == 0);
}

TEST_CASE("a block freed while its recorded stream is captured waits for the capture's end") {
  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  const Streams streams(2);
  void* input = allocator.Malloc(32 * kMiB, streams.id(1));
  Recording recording(&allocator, {1, 0}, streams[0]);
  Touch(input, streams[0]);
  allocator.RecordStream(input, streams.id(0));
  allocator.Free(input);
  void* other = allocator.Malloc(32 * kMiB, streams.id(1));
  CHECK(other != input);
  recording.Stop();
  CHECK(allocator.Malloc(32 * kMiB, streams.id(1)) == input);
}

TEST_CASE("a pool keeps its memory apart, and gives it back when released") {
  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  const Streams streams(1);
  allocator.BeginPool({5, 0}, nullptr);
  void* inside = allocator.Malloc(32 * kMiB, streams.id(0));
  allocator.Free(inside);
  allocator.EndPool({5, 0});
  CHECK(allocator.Malloc(32 * kMiB, streams.id(0)) != inside);
  CHECK(allocator.figures().reserved == 64 * kMiB);
  allocator.ReleasePool({5, 0});
  CHECK(allocator.figures().reserved == 32 * kMiB);
}

TEST_CASE("nested pools: the inner one gets what is asked for inside") {
  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  const Streams streams(1);
  allocator.BeginPool({5, 0}, nullptr);
  allocator.BeginPool({6, 0}, nullptr);
  void* inner = allocator.Malloc(32 * kMiB, streams.id(0));
  allocator.Free(inner);
  allocator.EndPool({6, 0});
  CHECK(allocator.Malloc(32 * kMiB, streams.id(0)) != inner);
  allocator.EndPool({5, 0});
}

TEST_CASE("devices have memory and captures of their own") {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  if (count < 2) return;  // the test torch_allocator_two has two
  Made one = MakeAllocator();
  Made two = MakeAllocator();
  DeviceAllocator& first = Start(&one, 0);
  DeviceAllocator& second = Start(&two, 1);
  void* a = first.Malloc(4 * kMiB, 0);
  void* b = second.Malloc(4 * kMiB, 0);
  REQUIRE(b != nullptr);
  const auto device_of = [](const void* p) {
    cudaPointerAttributes attributes = {};
    REQUIRE(cudaPointerGetAttributes(&attributes, p) == cudaSuccess);
    return attributes.device;
  };
  CHECK(device_of(a) == 0);
  CHECK(device_of(b) == 1);
  CHECK_FALSE(first.Free(b));
  CHECK(second.Free(b));
  int current = -1;
  REQUIRE(cudaGetDevice(&current) == cudaSuccess);
  CHECK(current == 0);
}

TEST_CASE("peaks begin again when they are reset") {
  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  allocator.Free(allocator.Malloc(30 * kMiB, 0));
  CHECK(allocator.figures().peak_allocated == 30 * kMiB);
  allocator.EmptyCache();
  allocator.ResetPeaks();
  CHECK(allocator.figures().peak_allocated == 0);
  CHECK(allocator.figures().peak_reserved == 0);
}

}  // namespace
}  // namespace graphkit::torch
