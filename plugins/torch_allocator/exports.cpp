// The C functions of graphkit_torch_allocator.h, and those that take PyTorch's own types.
#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "plugins/torch_allocator/torch_allocator.h"

using graphkit::torch::DeviceAllocator;
using graphkit::torch::PoolKey;
using graphkit::torch::Say;
using graphkit::torch::StreamFilter;
using graphkit::torch::TorchAllocator;

namespace {

// c10::MempoolId_t.
using MempoolId = std::pair<unsigned long long, unsigned long long>;  // NOLINT: PyTorch's type
using MempoolFilter = std::function<bool(graphkit_stream)>;

uint64_t ValueOf(graphkit_stream stream) { return reinterpret_cast<uintptr_t>(stream); }
graphkit_stream HandleOf(uint64_t stream) {
  return reinterpret_cast<graphkit_stream>(static_cast<uintptr_t>(stream));  // NOLINT
}

// Nothing leaves a C function: what goes wrong inside is an answer of `otherwise`.
template <typename T, typename Call>
T Guarded(T otherwise, const Call& call) noexcept {
  try {
    TorchAllocator* all = TorchAllocator::Get();
    return all != nullptr ? call(*all) : otherwise;
  } catch (const std::exception& error) {
    Say(error.what());
  } catch (...) {
    Say("unexpected: something was thrown that is no std::exception");
  }
  return otherwise;
}

template <typename Call>
void Do(const Call& call) noexcept {
  Guarded(0, [&](TorchAllocator& all) {
    call(all);
    return 0;
  });
}

using OnLent = void (*)(void* pointer, size_t size);
std::atomic<OnLent> on_lent = nullptr;

void SayUnknown(const char* what) {
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  Say(std::string(what) + " of a pointer that isn't from here");
}

void* SayOutOfMemory(size_t size, int device, DeviceAllocator* allocator) {
  const graphkit_allocator_figures f = allocator->figures();
  Say("out of memory: " + std::to_string(size) + " bytes on device " + std::to_string(device) +
      "; reserved " + std::to_string(f.reserved) + ", allocated " + std::to_string(f.allocated));
  return nullptr;
}

void BeginPool(int device, const PoolKey& key, StreamFilter filter) {
  Do([&](TorchAllocator& all) { all.Device(device)->BeginPool(key, std::move(filter)); });
}
void EndPool(int device, const PoolKey& key) {
  Do([&](TorchAllocator& all) { all.Device(device)->EndPool(key); });
}
void ReleasePool(int device, const PoolKey& key) {
  Do([&](TorchAllocator& all) { all.Device(device)->ReleasePool(key); });
}

}  // namespace

extern "C" {

#define GRAPHKIT_EXPORT __attribute__((visibility("default")))

GRAPHKIT_EXPORT void* graphkit_allocator_malloc(size_t size, int device, graphkit_stream stream) {
  return Guarded(static_cast<void*>(nullptr), [&](TorchAllocator& all) {
    DeviceAllocator* allocator = all.Device(device);
    bool lent = false;
    void* made = allocator->Malloc(size, ValueOf(stream), &lent);
    if (const OnLent called = on_lent; lent && called != nullptr) called(made, size);
    return made != nullptr || size == 0 ? made : SayOutOfMemory(size, device, allocator);
  });
}

GRAPHKIT_EXPORT void* graphkit_torch_malloc(size_t size, int device, graphkit_stream stream) {
  void* made = graphkit_allocator_malloc(size, device, stream);
  if (made == nullptr && size != 0) throw std::bad_alloc();
  return made;
}

GRAPHKIT_EXPORT void graphkit_allocator_free(void* pointer, size_t, int, graphkit_stream) {
  if (pointer == nullptr) return;
  Do([&](TorchAllocator& all) {
    if (!all.Any([&](DeviceAllocator& d) { return d.Free(pointer); })) SayUnknown("free");
  });
}

GRAPHKIT_EXPORT void graphkit_allocator_record_stream(void* pointer, graphkit_stream stream) {
  if (pointer == nullptr) return;
  Do([&](TorchAllocator& all) {
    if (!all.Any([&](DeviceAllocator& d) { return d.RecordStream(pointer, ValueOf(stream)); })) {
      SayUnknown("record_stream");
    }
  });
}

GRAPHKIT_EXPORT void graphkit_allocator_init(int) {
  Do([](TorchAllocator&) {});
}

GRAPHKIT_EXPORT void graphkit_allocator_empty_cache(void) {
  Do([](TorchAllocator& all) {
    for (DeviceAllocator* device : all.Devices()) device->EmptyCache();
  });
}

GRAPHKIT_EXPORT void graphkit_allocator_memory_fraction(double fraction, int device) {
  Do([&](TorchAllocator& all) { all.Device(device)->SetFraction(fraction); });
}

GRAPHKIT_EXPORT void* graphkit_allocator_base(void* pointer, size_t* size) {
  return Guarded(pointer, [&](TorchAllocator& all) {
    void* base = pointer;
    all.Any([&](DeviceAllocator& d) { return d.BaseOf(pointer, &base, size); });
    return base;
  });
}

GRAPHKIT_EXPORT void graphkit_allocator_begin_pool(int device, graphkit_allocator_pool pool,
                                                   graphkit_allocator_accepts accepts,
                                                   void* context) {
  StreamFilter filter;
  if (accepts != nullptr) {
    filter = [=](uint64_t stream) { return accepts(context, HandleOf(stream)) != 0; };
  }
  BeginPool(device, {pool.first, pool.second}, std::move(filter));
}
GRAPHKIT_EXPORT void graphkit_allocator_end_pool(int device, graphkit_allocator_pool pool) {
  EndPool(device, {pool.first, pool.second});
}
GRAPHKIT_EXPORT void graphkit_allocator_release_pool(int device, graphkit_allocator_pool pool) {
  ReleasePool(device, {pool.first, pool.second});
}

GRAPHKIT_EXPORT uint64_t graphkit_allocator_borrow(int device, graphkit_allocator_pool pool,
                                                   graphkit_stream stream) {
  return Guarded(uint64_t{0}, [&](TorchAllocator& all) {
    return all.Device(device)->Borrow({pool.first, pool.second}, ValueOf(stream));
  });
}
GRAPHKIT_EXPORT size_t graphkit_allocator_return(int device, graphkit_allocator_pool pool,
                                                 graphkit_lent_block* late, size_t room) {
  return Guarded(size_t{0}, [&](TorchAllocator& all) {
    const auto blocks = all.Device(device)->Return({pool.first, pool.second});
    for (size_t i = 0; i < std::min(room, blocks.size()); ++i) {
      late[i] = {reinterpret_cast<void*>(blocks[i].address), blocks[i].size};  // NOLINT
    }
    return blocks.size();
  });
}
GRAPHKIT_EXPORT void graphkit_allocator_on_lent(void (*called)(void* pointer, size_t size)) {
  on_lent = called;
}

// Functions behind CUDAPluggableAllocator's set_begin_allocate_to_pool, set_end_allocate_to_pool_fn
// and set_release_pool (torch/csrc/cuda/CUDAPluggableAllocator.h). C++ types by value, as there.
GRAPHKIT_EXPORT void graphkit_torch_begin_pool(int device, MempoolId pool, MempoolFilter accepts) {
  StreamFilter filter;
  if (accepts) filter = [accepts](uint64_t stream) { return accepts(HandleOf(stream)); };
  BeginPool(device, {pool.first, pool.second}, std::move(filter));
}
GRAPHKIT_EXPORT void graphkit_torch_end_pool(int device, MempoolId pool) {
  EndPool(device, {pool.first, pool.second});
}
GRAPHKIT_EXPORT void graphkit_torch_release_pool(int device, MempoolId pool) {
  ReleasePool(device, {pool.first, pool.second});
}

GRAPHKIT_EXPORT void* graphkit_torch_segment_malloc(size_t size, int device, graphkit_stream) {
  void* made = Guarded(static_cast<void*>(nullptr), [&](TorchAllocator& all) {
    return all.Device(device)->SegmentMalloc(size);
  });
  if (made == nullptr && size != 0)
    throw std::bad_alloc();  // PyTorch gives back memory, and asks again
  return made;
}

GRAPHKIT_EXPORT void graphkit_torch_segment_free(void* pointer, size_t, int, graphkit_stream) {
  if (pointer == nullptr) return;
  Do([&](TorchAllocator& all) {
    if (!all.Any([&](DeviceAllocator& d) { return d.SegmentFree(pointer); })) SayUnknown("free");
  });
}

GRAPHKIT_EXPORT int graphkit_allocator_figures_of(int device, uint32_t version,
                                                  graphkit_allocator_figures* out) {
  return Guarded(1, [&](TorchAllocator& all) {
    if (version != GRAPHKIT_ALLOCATOR_FIGURES) return 1;
    for (DeviceAllocator* allocator : all.Devices()) {
      if (allocator->number() != device) continue;
      *out = allocator->figures();
      return 0;
    }
    return 1;
  });
}

GRAPHKIT_EXPORT void graphkit_allocator_reset_peaks(int device) {
  Do([&](TorchAllocator& all) { all.Device(device)->ResetPeaks(); });
}

GRAPHKIT_EXPORT int graphkit_allocator_report(const char* path) {
  return Guarded(1, [&](TorchAllocator& all) { return all.WriteReport(path) ? 0 : 1; });
}

}  // extern "C"
