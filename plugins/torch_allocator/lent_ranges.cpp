#include "plugins/torch_allocator/lent_ranges.h"

#include <iterator>

namespace graphkit::torch {

LentRanges::LentRanges(const std::vector<Interval<Address>>& free) {
  for (const Interval<Address>& range : free) {
    // Blocks begin where the driver's would: at a multiple of 512.
    const Address begin = RoundUp(range.begin, kBlockGranularity);
    const Address end = range.end / kBlockGranularity * kBlockGranularity;
    if (begin >= end) continue;
    whole_[begin] = free_[begin] = end;
    bytes_ += end - begin;
  }
}

std::optional<Address> LentRanges::Take(Bytes size) {
  auto best = free_.end();
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    const Bytes here = at->second - at->first;
    if (here < size) continue;
    if (best == free_.end() || here < best->second - best->first) best = at;
  }
  if (best == free_.end()) return {};
  const auto [begin, end] = *best;
  free_.erase(best);
  if (begin + size < end) free_[begin + size] = end;
  return begin;
}

void LentRanges::Give(Address address, Bytes size) {
  Address begin = address;
  Address end = address + size;
  const auto next = free_.find(end);
  if (next != free_.end() && !whole_.contains(end)) {
    end = next->second;
    free_.erase(next);
  }
  const auto after = free_.lower_bound(begin);
  if (after != free_.begin() && !whole_.contains(begin)) {
    const auto before = std::prev(after);
    if (before->second == begin) {
      begin = before->first;
      free_.erase(before);
    }
  }
  free_[begin] = end;
}

}  // namespace graphkit::torch
