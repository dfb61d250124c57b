// The pages of this process that have memory of their own, by /proc/self/pagemap: a page that was
// never touched since it was mapped has none, and reading it to find out would give it page tables.
// The file is opened for each look: the program may close any descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace graphkit::soft {

constexpr uint64_t kPageBytes = 4096;
inline uint64_t PageDown(uint64_t value) { return value / kPageBytes * kPageBytes; }
inline uint64_t PageUp(uint64_t value) { return PageDown(value + kPageBytes - 1); }
inline void* PlaceAt(uint64_t address) { return reinterpret_cast<void*>(address); }

class PageStates {
 public:
  // For each page from `begin` on, a page's address: true if it is blank, so holds its contents
  // from the mapping. False: not known here.
  bool Read(uint64_t begin, std::span<bool> blank);
  // Bytes of the pages that touch [begin, begin + size), and of those that have memory of their
  // own; all of them where that can't be told. A page that was only read has none.
  uint64_t Touched(uint64_t begin, uint64_t size) const;
  uint64_t Owned(uint64_t begin, uint64_t size);
  bool AreBlank(uint64_t begin, uint64_t size);  // all of them

 private:
  bool ReadEntries(uint64_t begin, std::span<uint64_t> entries);
};

}  // namespace graphkit::soft
