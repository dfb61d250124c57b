// Address ranges that have a value each, as they come and go: what an allocator has from the
// driver (whole segments, and pages mapped into and out of expandable ones), or the blocks in it.
#pragma once

#include <iterator>
#include <map>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/units.h"

namespace graphkit {

template <typename T>
class RangeMap {
 public:
  struct Entry {
    Interval<Address> range;
    T value;
    bool operator==(const Entry&) const = default;
  };

  // Takes `range` out of the ranges: whole pieces go, and the rests on both sides stay.
  // Returns the pieces that were there, as they were before.
  std::vector<Entry> Remove(Interval<Address> range) {
    std::vector<Entry> touched;
    if (range.empty()) return touched;
    auto at = by_begin_.upper_bound(range.begin);
    if (at != by_begin_.begin() && std::prev(at)->second.range.end > range.begin) --at;
    while (at != by_begin_.end() && at->second.range.begin < range.end) {
      touched.push_back(at->second);
      at = by_begin_.erase(at);
    }
    for (const auto& [piece, value] : touched) {
      Put({piece.begin, range.begin}, value);
      Put({range.end, piece.end}, value);
    }
    return touched;
  }

  // Takes the place of whatever lay there. An empty range is none.
  void Add(Interval<Address> range, const T& value) {
    Remove(range);
    Put(range, value);
  }

  // Null: the address lies in none.
  const T* Find(Address address) const {
    const auto at = by_begin_.upper_bound(address);
    if (at == by_begin_.begin()) return nullptr;
    const Entry& entry = std::prev(at)->second;
    return entry.range.contains(address) ? &entry.value : nullptr;
  }

  const std::map<Address, Entry>& all() const { return by_begin_; }

 private:
  void Put(Interval<Address> range, const T& value) {
    if (!range.empty()) by_begin_[range.begin] = {range, value};
  }

  std::map<Address, Entry> by_begin_;
};

}  // namespace graphkit
