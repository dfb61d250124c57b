#include "libgraphkit/io/import/mapped_ranges.h"

namespace graphkit {

std::vector<MappedRange> MappedRanges::Remove(Interval<Address> range) {
  std::vector<MappedRange> touched;
  if (range.empty()) return touched;
  auto at = by_begin_.upper_bound(range.begin);
  if (at != by_begin_.begin() && std::prev(at)->second.range.end > range.begin) --at;
  while (at != by_begin_.end() && at->second.range.begin < range.end) {
    touched.push_back(at->second);
    at = by_begin_.erase(at);
  }
  for (const MappedRange& piece : touched) {
    MappedRange rest = piece;
    rest.range.end = range.begin;
    if (!rest.range.empty()) by_begin_[rest.range.begin] = rest;
    rest.range = {range.end, piece.range.end};
    if (!rest.range.empty()) by_begin_[rest.range.begin] = rest;
  }
  return touched;
}

void MappedRanges::Add(const MappedRange& added) {
  if (added.range.empty()) return;
  Remove(added.range);
  by_begin_[added.range.begin] = added;
}

MappedRange* MappedRanges::Find(Address address) {
  auto at = by_begin_.upper_bound(address);
  if (at == by_begin_.begin()) return nullptr;
  --at;
  return at->second.range.contains(address) ? &at->second : nullptr;
}

}  // namespace graphkit
