// Memory that lies in files: what processes share, and what is mapped more than once.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "plugins/soft_cuda/ground/backing.h"

namespace graphkit::soft {
namespace {

constexpr uint64_t kCounted = 16384 * kPageBytes;  // of shared memory, looked at at once

// Writes the pages that aren't zero, where the file has zeros.
bool WritePages(int file, uint64_t offset, uint64_t begin, uint64_t size) {
  static constexpr std::byte kZeros[kPageBytes] = {};
  for (uint64_t at = 0; at < size; at += kPageBytes) {
    const void* page = PlaceAt(begin + at);
    if (std::memcmp(page, kZeros, kPageBytes) == 0) continue;
    const auto place = static_cast<off_t>(offset + at);
    if (pwrite(file, page, kPageBytes, place) != ssize_t{kPageBytes}) return false;
  }
  return true;
}

}  // namespace

void Backing::Own(uint64_t begin, uint64_t size, bool is_private) {
  const std::lock_guard lock(mutex_);
  ranges_[begin] = {begin + size, is_private};
}

void Backing::Disown(uint64_t begin) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(begin);
}

void Backing::AddShared(uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  shared_[begin] = size;
}

void Backing::DropShared(uint64_t begin) {
  const std::lock_guard lock(mutex_);
  shared_.erase(begin);
  if (shared_.empty()) shared_written_ = 0;
}

void Backing::CountShared() {
  std::vector<unsigned char> resident(kCounted / kPageBytes);
  shared_written_ = 0;
  for (const auto& [begin, size] : shared_) {
    for (uint64_t at = 0; at < size; at += kCounted) {
      const uint64_t bytes = std::min(kCounted, size - at);
      if (mincore(PlaceAt(begin + at), bytes, resident.data()) != 0) continue;
      for (size_t i = 0; i < bytes / kPageBytes; ++i) {
        shared_written_ += (resident[i] & 1) != 0 ? kPageBytes : 0;
      }
    }
  }
}

// Neighbours that are private are one range again.
void Backing::SetPrivate(uint64_t begin, uint64_t end, bool is_private) {
  const uint64_t from = begin;
  while (begin < end) {
    const auto piece = std::prev(ranges_.upper_bound(begin));
    const auto [first, old] = *piece;
    const uint64_t last = std::min(end, old.end);
    ranges_.erase(piece);
    if (first < begin) ranges_[first] = {begin, old.is_private};
    ranges_[begin] = {last, is_private};
    if (last < old.end) ranges_[last] = old;
    begin = last;
  }
  if (!is_private) return;
  auto next = ranges_.find(from);
  if (next != ranges_.begin()) --next;
  while (next != ranges_.end() && next->first <= end) {
    const auto after = std::next(next);
    const bool joins = after != ranges_.end() && after->first == next->second.end &&
                       after->second.is_private && next->second.is_private;
    if (!joins) {
      next = after;
      continue;
    }
    next->second.end = after->second.end;
    ranges_.erase(after);
  }
}

bool Backing::Lay(uint64_t begin, uint64_t size, int file, uint64_t offset) {
  const std::lock_guard lock(mutex_);
  GiveBack(begin, size);
  const void* laid = mmap(PlaceAt(begin), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                          file, static_cast<off_t>(offset));
  if (laid == MAP_FAILED) return false;
  madvise(PlaceAt(begin), size, MADV_DONTDUMP);
  Forget(begin, size);
  contents_.Forget(begin, size);
  SetPrivate(begin, begin + size, false);
  return true;
}

void Backing::TakeUp(uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  MapNothing(begin, size);
  contents_.Forget(begin, size);
  SetPrivate(begin, begin + size, true);
}

bool Backing::Move(uint64_t begin, uint64_t size, int file, uint64_t offset) {
  constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  const auto place = static_cast<off_t>(offset);
  const auto bytes = static_cast<off_t>(size);
  if (keeps_bytes() && fallocate(file, kPunch, place, bytes) != 0) return false;
  if (keeps_bytes() && fallocate(file, 0, place, bytes) != 0) return false;
  if (keeps_bytes() && !WritePages(file, offset, begin, size)) return false;
  GiveBack(begin, size);
  const void* laid =
      mmap(PlaceAt(begin), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, place);
  if (laid == MAP_FAILED) return false;
  madvise(PlaceAt(begin), size, MADV_DONTDUMP);
  Forget(begin, size);
  SetPrivate(begin, begin + size, false);
  shared_[begin] = size;
  return true;
}

bool Backing::Share(uint64_t begin, uint64_t size, int file, uint64_t offset) {
  const std::lock_guard lock(mutex_);
  if (follows_kernels()) {
    for (const Contents::Part& part : contents_.UnknownIn(begin, size))
      FillBytes(part.begin, part.end - part.begin, 0);
    contents_.Forget(begin, size);
  }
  const uint64_t last = PageUp(begin + size);
  for (uint64_t at = PageDown(begin); at < last;) {
    const Range range = *RangeOf(at);
    const uint64_t end = std::min(range.end, last);
    if (range.is_private && !Move(at, end - at, file, offset + at - begin)) return false;
    at = end;
  }
  return true;
}

}  // namespace graphkit::soft
