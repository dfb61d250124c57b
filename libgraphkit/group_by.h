// Sorts the entries of a column by what they belong to, in linear time and two flat arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

// The rows of a column with their indices: for (const auto& [i, node] : Enumerate(trace.nodes)).
template <typename Index = size_t, typename Column>
auto Enumerate(const Column& column) {
  struct Entry {
    Index index;
    decltype(column[0]) row;
  };
  struct Iterator {
    const Column* of;
    size_t at;
    [[gnu::always_inline]] Entry operator*() const { return {static_cast<Index>(at), (*of)[at]}; }
    Iterator& operator++() { return ++at, *this; }
    bool operator==(const Iterator&) const = default;
  };
  struct Range {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  return Range{{&column, 0}, {&column, column.size()}};
}
template <typename Index = size_t, typename Column>
auto Enumerate(const Column&& column) = delete;  // it would be gone

// Sorts items, and keeps one of those that are alike.
template <typename Item, typename Key = std::identity>
void SortUnique(std::vector<Item>* items, Key key = {}) {
  std::ranges::sort(*items, {}, key);
  items->erase(std::unique(items->begin(), items->end()), items->end());
}

// Indices 0…count-1 in the order of their keys; those of equal keys in their own order.
template <typename Key, typename Order = std::ranges::less>
std::vector<uint32_t> IndicesBy(size_t count, Key key, Order order = {}) {
  std::vector<uint32_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0u);
  std::ranges::stable_sort(indices, order, key);
  return indices;
}

// Indices of entries by owner, in their own order: first[owner] begins those of each owner.
struct Grouped {
  std::vector<uint32_t> first;
  std::vector<uint32_t> items;

  // Of entries 0…count-1; `owner_of` an index, from `owners` on none. Reuses the arrays.
  template <typename GetOwner>
  void Assign(size_t count, size_t owners, GetOwner owner_of) {
    first.assign(owners + 2, 0);
    for (size_t i = 0; i < count; ++i) {
      if (owner_of(i) < owners) ++first[owner_of(i) + 2];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    items.resize(first.back());
    for (size_t i = 0; i < count; ++i) {  // first[owner + 1] goes from its begin to its end
      if (owner_of(i) < owners) items[first[owner_of(i) + 1]++] = static_cast<uint32_t>(i);
    }
    first.pop_back();
  }

  std::span<const uint32_t> Of(size_t owner) const {
    return std::span(items).subspan(first[owner], first[owner + 1] - first[owner]);
  }
};

// Entries 0…count-1 by their places in the trace (`seq_of`), those at one place in their own order;
// entries without one (kNever) are left out. In linear time, with twelve bytes an entry: first by
// thousands of places, then each thousand for itself, which lies close together in memory.
template <typename SeqOf>
std::vector<uint32_t> SortBySeq(size_t count, SeqOf seq_of) {
  constexpr uint32_t kBits = 12;
  constexpr size_t kSparse = 16;  // more places than that for each entry: sorted by comparing
  std::vector<Seq> seqs(count);
  std::vector<uint32_t> sorted;
  Seq low = kNever, high = 0;
  for (size_t i = 0; i < count; ++i) {
    seqs[i] = seq_of(i);
    if (seqs[i] == kNever) continue;
    low = std::min(low, seqs[i]);
    high = std::max(high, seqs[i]);
  }
  if (low == kNever) return sorted;
  if ((high - low) / kSparse > count) {
    for (size_t i = 0; i < count; ++i) {
      if (seqs[i] != kNever) sorted.push_back(static_cast<uint32_t>(i));
    }
    std::ranges::stable_sort(sorted, {}, [&](uint32_t i) { return seqs[i]; });
    return sorted;
  }
  // Where each thousand begins, and while it is filled, its end.
  std::vector<uint32_t> first(((high - low) >> kBits) + 2);
  for (const Seq seq : seqs) {
    if (seq != kNever) ++first[((seq - low) >> kBits) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  sorted.resize(first.back());
  for (size_t i = 0; i < count; ++i) {
    if (seqs[i] != kNever) sorted[first[(seqs[i] - low) >> kBits]++] = static_cast<uint32_t>(i);
  }
  // Few places take less than a thousand counts: of many graphs each sorts a few entries.
  const size_t places = std::min<size_t>(size_t{1} << kBits, high - low + 1);
  std::vector<uint32_t> before, unsorted;
  const auto place = [&](uint32_t item) { return (seqs[item] - low) & ((1u << kBits) - 1); };
  for (size_t begin = 0, run = 0; run + 1 < first.size(); begin = first[run++]) {
    const std::span<uint32_t> items = std::span(sorted).subspan(begin, first[run] - begin);
    if (std::ranges::is_sorted(items, {}, place)) continue;
    unsorted.assign(items.begin(), items.end());
    before.assign(places + 1, 0);
    for (const uint32_t item : unsorted) ++before[place(item) + 1];
    std::partial_sum(before.begin(), before.end(), before.begin());
    for (const uint32_t item : unsorted) items[before[place(item)]++] = item;
  }
  return sorted;
}

// `owner_of`: of an entry, an id below `owners`; entries without one are left out.
template <typename Items, typename GetOwner>
Grouped Group(const Items& all, size_t owners, GetOwner owner_of) {
  Grouped by;
  by.Assign(all.size(), owners, [&](size_t i) { return owner_of(all[i]).index(); });
  return by;
}

}  // namespace graphkit
