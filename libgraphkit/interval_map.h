// Ranges of addresses or offsets that have a value each, as they come and go: what an allocator has
// from the driver (whole segments, and pages mapped into and out of expandable ones), or the blocks
// in it.
//
//     offsets   0        4        8             c at 2 to 6 lies over a and b
//               |   a    |   b    |      →      | a |   c   | b |
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>
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

// Ranges that may lie over each other, with a value each, found by a part of them.
template <typename T>
class RangeIndex {
 public:
  // An empty range is none.
  void Add(Interval<Address> range, T value) {
    longest_ = std::max(longest_, range.size());
    if (!range.empty()) entries_.push_back({range, std::move(value)});
  }
  // To be called between adding and searching. Those that begin alike stay in their order.
  void Sort() { std::ranges::stable_sort(entries_, {}, Begin); }
  bool empty() const { return entries_.empty(); }

  // Calls `visit(range, value)` for each that has a part in the range, by where they begin.
  template <typename Body>
  void Visit(Interval<Address> range, const Body& visit) const {
    const Address from = range.begin - std::min(range.begin, longest_);
    auto at = std::ranges::lower_bound(entries_, from, {}, Begin);
    for (; at != entries_.end() && at->range.begin < range.end; ++at) {
      if (at->range.end > range.begin) visit(at->range, at->value);
    }
  }

 private:
  struct Entry {
    Interval<Address> range;
    T value;
  };
  static Address Begin(const Entry& entry) { return entry.range.begin; }

  std::vector<Entry> entries_;  // by begin
  Bytes longest_ = 0;
};

// What both have in common; empty: nothing.
template <typename T>
constexpr Interval<T> Common(const Interval<T>& a, const Interval<T>& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Adds to `left` what ranges (by begin; they may overlap) leave of another one. How many of them
// were looked at.
template <typename T>
size_t Subtract(const Interval<T>& from, std::span<const Interval<T>> ranges,
                std::vector<Interval<T>>* left) {
  T reached = from.begin;
  size_t looks = 0;
  for (; looks < ranges.size() && ranges[looks].begin < from.end; ++looks) {
    if (ranges[looks].begin > reached) left->push_back({reached, ranges[looks].begin});
    reached = std::max(reached, ranges[looks].end);
  }
  if (reached < from.end) left->push_back({reached, from.end});
  return looks;
}

// The addresses of a block or a segment.
constexpr Interval<Address> AddressesOf(const auto& memory) {
  return {memory.address, memory.address + memory.size};
}

}  // namespace graphkit
