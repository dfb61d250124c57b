// Objects behind CUDA handles. A handle is the address of its object; the object starts with a tag,
// and its memory stays the same kind of object for ever, so a stale handle is recognised instead of
// followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace graphkit::soft {

enum class Tag : uint32_t {
  kGone = 0,
  kContext = 0x67730001,
  kStream,
  kEvent,
  kGraph,
  kNode,
  kModule,
  kFunction,
  kPool,
  kUserObject,
  kSemaphore,
  kArray,
  kMipmappedArray,
  kExternalMemory,
  kLinker,
  kKernel,
};

// Makes and unmakes objects of one kind. Memory goes back to the slab, never to the system.
template <typename T>
class Slab {
 public:
  template <typename... Args>
  T* Make(Args&&... args) {
    if (free_.empty()) Grow();
    void* place = free_.back();
    free_.pop_back();
    ++live_;
    return new (place) T(std::forward<Args>(args)...);
  }

  void Unmake(T* object) {
    object->~T();
    object->tag = Tag::kGone;
    free_.push_back(object);
    --live_;
  }

  size_t live() const { return live_; }

 private:
  static constexpr size_t kChunk = 64;

  struct alignas(T) Place {
    std::byte bytes[sizeof(T)];
  };

  void Grow() {
    chunks_.push_back(std::make_unique<Place[]>(kChunk));
    for (size_t i = kChunk; i-- > 0;) free_.push_back(&chunks_.back()[i]);
  }

  std::vector<std::unique_ptr<Place[]>> chunks_;
  std::vector<void*> free_;
  size_t live_ = 0;
};

// The object behind a handle, or null. A handle that is none may be a small number, an address that
// no program has, or point anywhere that can be read (a host function's address).
template <typename T, typename Handle>
T* Resolve(Handle handle) {
  constexpr uintptr_t kFirst = 1 << 16, kEnd = uintptr_t{1} << 47;
  const auto address = reinterpret_cast<uintptr_t>(handle);
  if (address < kFirst || address >= kEnd || address % alignof(T) != 0) return nullptr;
  auto* object = reinterpret_cast<T*>(handle);
  if constexpr (requires { T::BehindAlias(handle); }) {
    if (T* behind = T::BehindAlias(handle); behind != nullptr) return behind;
  }
  return object->tag == T::kTag ? object : nullptr;
}

}  // namespace graphkit::soft
