// Half-open ranges.
#pragma once

#include <algorithm>
#include <cstdint>

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

// A run of entries in a column: [first, first + count).
struct Slice {
  uint32_t first = 0;
  uint32_t count = 0;
  constexpr bool operator==(const Slice&) const = default;
};

}  // namespace graphkit
