// Half-open ranges.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace graphkit {

// [begin, end). Empty when begin == end.
template <typename T>
struct Interval {
  T begin{};
  T end{};

  constexpr bool empty() const { return !(begin < end); }
  constexpr T size() const { return empty() ? T{} : static_cast<T>(end - begin); }
  constexpr bool contains(T point) const { return begin <= point && point < end; }
  constexpr bool operator==(const Interval&) const = default;
};

template <typename T>
constexpr bool Overlaps(const Interval<T>& a, const Interval<T>& b) {
  return std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

// What some ranges cover: disjoint, by begin; those that touch are one.
template <typename T>
std::vector<Interval<T>> Union(std::vector<Interval<T>> ranges) {
  std::ranges::sort(ranges, {}, &Interval<T>::begin);
  std::vector<Interval<T>> apart;
  for (const Interval<T>& range : ranges) {
    if (range.empty()) continue;
    if (apart.empty() || apart.back().end < range.begin) apart.push_back(range);
    apart.back().end = std::max(apart.back().end, range.end);
  }
  return apart;
}

// A run of entries in a column: [first, first + count).
struct Slice {
  uint32_t first = 0;
  uint32_t count = 0;
  constexpr bool operator==(const Slice&) const = default;
};

// Overlaps of some ranges with others, by a sweep over their ends, so that the work is
// that of sorting them and of the pairs that are found.

// The a-th and the b-th have a point in common.
struct OverlapPair {
  size_t a = 0;
  size_t b = 0;
  auto operator<=>(const OverlapPair&) const = default;
};

// In order. `looks`, if it isn't null, gets how many ends and pairs were looked at.
template <typename T>
std::vector<OverlapPair> FindOverlaps(std::span<const Interval<T>> as,
                                      std::span<const Interval<T>> bs, uint64_t* looks = nullptr) {
  struct End {
    T at;
    bool begins;  // half-open: what ends at a point does so before others begin there
    bool of_a;
    size_t index;
  };
  std::vector<End> ends;
  const auto add = [&](std::span<const Interval<T>> ranges, bool of_a) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].empty()) continue;
      ends.push_back({ranges[i].begin, true, of_a, i});
      ends.push_back({ranges[i].end, false, of_a, i});
    }
  };
  add(as, true);
  add(bs, false);
  std::ranges::sort(ends, {}, [](const End& end) { return std::tuple(end.at, end.begins); });
  std::array<std::vector<size_t>, 2> open;  // those of b, of a
  std::array<std::vector<size_t>, 2> place{std::vector<size_t>(bs.size()),
                                           std::vector<size_t>(as.size())};
  std::vector<OverlapPair> found;
  for (const End& end : ends) {
    std::vector<size_t>& own = open[end.of_a ? 1 : 0];
    std::vector<size_t>& at = place[end.of_a ? 1 : 0];
    if (!end.begins) {
      at[own.back()] = at[end.index];
      own[at[end.index]] = own.back();
      own.pop_back();
      continue;
    }
    at[end.index] = own.size();
    own.push_back(end.index);
    for (const size_t other : open[end.of_a ? 0 : 1]) {
      found.push_back(end.of_a ? OverlapPair{end.index, other} : OverlapPair{other, end.index});
    }
  }
  if (looks != nullptr) *looks = ends.size() + found.size();
  std::ranges::sort(found);
  return found;
}

}  // namespace graphkit
