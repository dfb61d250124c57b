// Memory for large arrays that are read at random: on pages of 2 MiB where the system has them, so
// that a look doesn't also miss the table of pages.
//
//   std::vector<Place, LargePages<Place>> places;
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace graphkit {

// Wishes for large pages where memory that isn't touched yet will lie.
inline void WishForLargePages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(__linux__)
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kPage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

// An allocator. Small arrays come from where others come from.
template <typename T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <typename U>
  LargePages(const LargePages<U>&) {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, AlignmentOf(bytes));
#if defined(__linux__)
    if (bytes >= kLarge)
      madvise(memory, bytes, MADV_HUGEPAGE);  // a wish; what it returns is no matter
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    ::operator delete(memory, AlignmentOf(count * sizeof(T)));
  }
  template <typename U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }

 private:
  static constexpr size_t kPage = size_t{2} << 20;
  static constexpr size_t kLarge = 2 * kPage;

  static std::align_val_t AlignmentOf(size_t bytes) {
    return std::align_val_t(bytes >= kLarge                          ? kPage
                            : alignof(std::max_align_t) > alignof(T) ? alignof(std::max_align_t)
                                                                     : alignof(T));
  }
};

}  // namespace graphkit
