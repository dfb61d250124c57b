#include "plugins/soft_cuda/ground/contents.h"

#include <algorithm>
#include <iterator>

namespace graphkit::soft {

// Takes what was written out of a range.
void Contents::Cut(uint64_t begin, uint64_t end) {
  auto next = written_.upper_bound(begin);
  if (next != written_.begin() && std::prev(next)->second.end > begin) --next;
  while (next != written_.end() && next->first < end) {
    const auto [first, old] = *next;
    next = written_.erase(next);
    if (first < begin) {
      written_[first] = old;
      written_[first].end = begin;
    }
    if (old.end > end) written_[end] = old;
  }
}

void Contents::Put(uint64_t begin, uint64_t end, bool known) {
  if (begin >= end) return;
  Cut(begin, end);
  written_[begin] = {end, begin, ++now_, known};
}

void Contents::Pass(const Passed& memory) {
  if (memory.exact) return Put(memory.begin, memory.end, false);
  Mark& mark = marks_[memory.begin];
  mark.end = memory.end;
  (memory.sure ? mark.sure : mark.maybe) = ++now_;
}

void Contents::Forget(uint64_t begin, uint64_t bytes) {
  Cut(begin, begin + bytes);
  marks_.erase(marks_.lower_bound(begin), marks_.lower_bound(begin + bytes));
}

// Does an object that the program wrote as one hold the range, and the address within or at its
// begin? An address where an allocator's block may begin may also be that of a newer object.
bool Contents::IsInput(uint64_t address, uint64_t begin, uint64_t end) const {
  constexpr uint64_t kBlock = 512;  // PyTorch's; CUDA's own allocations are as aligned
  const uint64_t first = std::min(address, begin);  // a mark in the middle is of a view
  const auto after = written_.upper_bound(first);
  if (after == written_.begin()) return false;
  const auto& [start, object] = *std::prev(after);
  if (!object.known || object.end < std::max(end, address)) return false;
  return (start == first && object.object == first) || address % kBlock != 0;
}

// Since when the bytes behind a mark are unknown, for a read of the range; 0: they aren't.
uint64_t Contents::When(uint64_t address, const Mark& mark, uint64_t begin, uint64_t end) const {
  return IsInput(address, begin, end) ? mark.sure : std::max(mark.sure, mark.maybe);
}

// The same of the object that the range begins in.
uint64_t Contents::PassedBefore(uint64_t begin, uint64_t end) const {
  const auto next = marks_.upper_bound(begin);
  if (next == marks_.begin()) return 0;
  const auto& [address, mark] = *std::prev(next);
  if (mark.end <= begin) return 0;
  const auto after = written_.upper_bound(begin);
  if (after != written_.begin() && address < begin) {
    const auto& [first, last] = *std::prev(after);
    // Another object has begun between them.
    if (first > address && last.object > address) return 0;
  }
  return When(address, mark, begin, end);
}

void Contents::AddUnknown(uint64_t begin, uint64_t end, uint64_t since,
                          std::vector<Part>& parts) const {
  const auto add = [&](uint64_t from, uint64_t to) {
    if (from >= to) return;
    if (!parts.empty() && parts.back().end == from) {
      parts.back().end = to;
    } else {
      parts.push_back({from, to});
    }
  };
  auto next = written_.upper_bound(begin);
  if (next != written_.begin() && std::prev(next)->second.end > begin) --next;
  uint64_t at = begin;
  for (; next != written_.end() && next->first < end; ++next) {
    const uint64_t first = std::max(begin, next->first);
    const uint64_t last = std::min(end, next->second.end);
    if (since > 0) add(at, first);  // nothing was ever written there
    if (!next->second.known || next->second.time < since) add(first, last);
    at = last;
  }
  if (since > 0) add(at, end);
}

std::vector<Contents::Part> Contents::UnknownIn(uint64_t begin, uint64_t bytes) const {
  std::vector<Part> parts;
  const uint64_t end = begin + bytes;
  uint64_t since = PassedBefore(begin, end);
  uint64_t at = begin;
  for (auto next = marks_.upper_bound(begin); next != marks_.end() && next->first < end; ++next) {
    AddUnknown(at, next->first, since, parts);
    at = next->first;
    since = std::max(since, When(next->first, next->second, begin, end));
  }
  AddUnknown(at, end, since, parts);
  return parts;
}

}  // namespace graphkit::soft
