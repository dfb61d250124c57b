// The common subsequence of two sequences.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace graphkit {

// Places (in a, in b) of equal values, rising in both: as many as possible where the sequences
// differ over less than 4 000 × 4 000 places once their common ends are taken off, otherwise as
// many as a search with a short horizon finds.
std::vector<std::pair<uint32_t, uint32_t>> CommonSubsequence(std::span<const uint64_t> a,
                                                             std::span<const uint64_t> b);

// The places of a longest rising subsequence of `values`.
std::vector<uint32_t> LongestRising(std::span<const uint32_t> values);

// Goes through two sorted lists together: `left` and `right` get what only one of them has, `both`
// two of equal keys.
template <typename T, typename Key, typename Left, typename Right, typename Both>
void WalkSorted(const std::vector<T>& a, const std::vector<T>& b, Key key, Left left, Right right,
                Both both) {
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && key(*i) < key(*j))) {
      left(*i++);
    } else if (i == a.end() || key(*j) < key(*i)) {
      right(*j++);
    } else {
      both(*i++, *j++);
    }
  }
}

}  // namespace graphkit
