#include "plugins/soft_cuda/ground/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "plugins/soft_cuda/ground/backing.h"

namespace graphkit::soft {
namespace {

constexpr uint64_t kGranularity = 512;
constexpr uint64_t kCommitStep = uint64_t{1} << 30;
constexpr uint64_t kReturnAbove = uint64_t{1}
                                  << 20;  // larger blocks give their pages back when freed

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

void* Address(uint64_t value) { return reinterpret_cast<void*>(value); }

}  // namespace

AddressSpace::AddressSpace(uint64_t wanted, uint64_t bytes, Backing* backing) : backing_(backing) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* place = mmap(Address(wanted), bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  if (place == MAP_FAILED) place = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (place == MAP_FAILED) return;
  madvise(place, bytes, MADV_DONTDUMP);
  begin_ = usable_ = reinterpret_cast<uint64_t>(place);
  size_ = bytes;
  free_[begin_] = bytes;
  if (backing_ != nullptr) backing_->Own(begin_, bytes, true);
}

// Larger blocks give their pages back.
void AddressSpace::GiveBack(uint64_t begin, uint64_t size) {
  if (backing_ != nullptr) return backing_->Clear(begin, size);
  const uint64_t page = RoundUp(begin, 4096);
  madvise(Address(page), (begin + size - page) & ~uint64_t{4095}, MADV_DONTNEED);
}

void AddressSpace::Commit(uint64_t end) {
  if (end <= usable_) return;
  const uint64_t to = std::min(RoundUp(end, kCommitStep), begin_ + size_);
  mprotect(Address(usable_), to - usable_, PROT_READ | PROT_WRITE);
  if (backing_ != nullptr) backing_->Open(usable_, to - usable_);
  usable_ = to;
}

uint64_t AddressSpace::Allocate(uint64_t bytes) {
  if (bytes > size_) return 0;
  const uint64_t size = RoundUp(std::max<uint64_t>(bytes, 1), kGranularity);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second < size) continue;
    const auto [begin, space] = *hole;
    free_.erase(hole);
    if (space > size) free_[begin + size] = space - size;
    taken_[begin] = size;
    used_ += size;
    Commit(begin + size);
    return begin;
  }
  return 0;
}

bool AddressSpace::Free(uint64_t address) {
  auto block = taken_.find(address);
  if (block == taken_.end()) return false;
  uint64_t begin = block->first;
  uint64_t size = block->second;
  taken_.erase(block);
  used_ -= size;
  if (size >= kReturnAbove) GiveBack(begin, size);
  if (backing_ != nullptr) backing_->ForgetContents(begin, size);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return true;
    }
  }
  free_[begin] = size;
  return true;
}

MemoryRange AddressSpace::Find(uint64_t address) const {
  auto next = taken_.upper_bound(address);
  if (next == taken_.begin()) return {};
  const auto& [begin, size] = *std::prev(next);
  return address < begin + size ? MemoryRange{begin, size} : MemoryRange{};
}

}  // namespace graphkit::soft
