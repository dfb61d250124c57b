#include "plugins/soft_cuda/ground/page_states.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace graphkit::soft {
namespace {

// Bits of an entry (Documentation/admin-guide/mm/pagemap.rst).
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kSwapped = uint64_t{1} << 62;
constexpr uint64_t kOfFile = uint64_t{1} << 61;
constexpr uint64_t kExclusive = uint64_t{1} << 56;
constexpr size_t kBatch = 512;

bool IsBlank(uint64_t entry) { return (entry & (kPresent | kSwapped)) == 0; }
// The page that reads of untouched memory share belongs to none.
bool IsOwned(uint64_t entry) {
  return (entry & kSwapped) != 0 ||
         (entry & (kPresent | kExclusive | kOfFile)) == (kPresent | kExclusive);
}

}  // namespace

bool PageStates::ReadEntries(uint64_t begin, std::span<uint64_t> entries) {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto place = static_cast<off_t>(begin / kPageBytes * sizeof(uint64_t));
  const ssize_t got = pread(file, entries.data(), entries.size_bytes(), place);
  close(file);
  return got == static_cast<ssize_t>(entries.size_bytes());
}

bool PageStates::Read(uint64_t begin, std::span<bool> blank) {
  std::array<uint64_t, kBatch> entries;
  for (size_t at = 0; at < blank.size();) {
    const size_t count = std::min(kBatch, blank.size() - at);
    if (!ReadEntries(begin + at * kPageBytes, {entries.data(), count})) return false;
    for (size_t i = 0; i < count; ++i) blank[at + i] = IsBlank(entries[i]);
    at += count;
  }
  return true;
}

uint64_t PageStates::Touched(uint64_t begin, uint64_t size) const {
  const uint64_t first = begin / kPageBytes * kPageBytes;
  return (begin + size - first + kPageBytes - 1) / kPageBytes * kPageBytes;
}

uint64_t PageStates::Owned(uint64_t begin, uint64_t size) {
  std::array<uint64_t, kBatch> entries;
  const uint64_t first = begin / kPageBytes * kPageBytes;
  const uint64_t pages = Touched(begin, size) / kPageBytes;
  uint64_t owned = 0;
  for (uint64_t at = 0; at < pages; at += kBatch) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(kBatch, pages - at));
    if (!ReadEntries(first + at * kPageBytes, {entries.data(), count})) return pages * kPageBytes;
    for (size_t i = 0; i < count; ++i) owned += IsOwned(entries[i]) ? kPageBytes : 0;
  }
  return owned;
}

bool PageStates::AreBlank(uint64_t begin, uint64_t size) {
  std::array<bool, kBatch> blank;
  for (uint64_t at = 0; at < size; at += kBatch * kPageBytes) {
    const uint64_t pages = (size - at + kPageBytes - 1) / kPageBytes;
    const auto count = static_cast<size_t>(std::min<uint64_t>(kBatch, pages));
    if (!Read(begin + at, {blank.data(), count})) return false;
    if (!std::all_of(blank.begin(), blank.begin() + count, [](bool b) { return b; })) return false;
  }
  return true;
}

}  // namespace graphkit::soft
