// Ranges of addresses or offsets that have a value each, as they come and go: what an allocator has
// from the driver (whole segments, and pages mapped into and out of expandable ones), or the blocks
// in it.
//
//     offsets   0        4        8             c at 2 to 6 lies over a and b
//               |   a    |   b    |      →      | a |   c   | b |
#pragma once

#include <iterator>
#include <map>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/units.h"

namespace graphkit {

template <typename T>
class IntervalMap {
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
    Visit(range, [&](const Entry& entry) { return touched.push_back(entry), true; });
    Clear(range);
    return touched;
  }

  // Takes the place of whatever lay there. An empty range is none.
  void Add(Interval<Address> range, const T& value) {
    if (range.empty()) return;
    Clear(range);
    by_begin_[range.begin] = {range, value};
  }

  // Null: the address lies in none.
  const Entry* FindEntry(Address address) const {
    const auto at = by_begin_.upper_bound(address);
    if (at == by_begin_.begin()) return nullptr;
    const Entry& entry = std::prev(at)->second;
    return entry.range.contains(address) ? &entry : nullptr;
  }
  const T* Find(Address address) const {
    const Entry* entry = FindEntry(address);
    return entry != nullptr ? &entry->value : nullptr;
  }

  // Calls `visit(entry)` for each that has a part in the range, from below, until it says false;
  // then this does.
  template <typename Body>
  bool Visit(Interval<Address> range, const Body& visit) const {
    auto at = by_begin_.upper_bound(range.begin);
    if (at != by_begin_.begin() && std::prev(at)->second.range.end > range.begin) --at;
    for (; at != by_begin_.end() && at->first < range.end; ++at) {
      if (!visit(at->second)) return false;
    }
    return true;
  }

  const std::map<Address, Entry>& all() const { return by_begin_; }
  void ForEach(const auto& change) {
    for (auto& [begin, entry] : by_begin_) change(entry.range, &entry.value);
  }

 private:
  void Clear(Interval<Address> range) {
    Cut(range.begin);
    Cut(range.end);
    by_begin_.erase(by_begin_.lower_bound(range.begin), by_begin_.lower_bound(range.end));
  }

  // No range crosses the address afterwards.
  void Cut(Address address) {
    const auto after = by_begin_.lower_bound(address);
    if (after == by_begin_.begin()) return;
    Entry& entry = std::prev(after)->second;
    if (entry.range.end <= address) return;
    by_begin_.emplace_hint(after, address, Entry{{address, entry.range.end}, entry.value});
    entry.range.end = address;
  }

  std::map<Address, Entry> by_begin_;
};

}  // namespace graphkit
