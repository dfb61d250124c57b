// Which pages of this process have memory of their own, as /proc/self/pagemap tells: a page that
// was never touched since it was mapped has none, and reading on to find out would give it page
// tables. The file is opened for each look: the program may close any descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace graphkit::soft {

constexpr uint64_t kPageBytes = 4096;

class PageStates {
 public:
  // Whether each page from `begin` on, a page's address, is blank: it holds what it was mapped
  // with. False: that can't be told here.
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
