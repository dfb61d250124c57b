#include "libgraphkit/compare/common_subsequence.h"

#include <algorithm>
#include <cstddef>

namespace graphkit {

namespace {

using Sequence = std::span<const uint64_t>;
using Places = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr size_t kLargestTable = 16'000'000;
constexpr size_t kHorizon = 64;

// The textbook table: length[i][j] of what a[i…] and b[j…] have in common.
void ByTable(Sequence a, Sequence b, uint32_t offset, Places& places) {
  const size_t width = b.size() + 1;
  std::vector<uint16_t> length((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      const auto skip = std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
      const int both = length[(i + 1) * width + j + 1] + 1;
      length[i * width + j] = a[i] == b[j] ? static_cast<uint16_t>(both) : skip;
    }
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      places.push_back({offset + static_cast<uint32_t>(i++), offset + static_cast<uint32_t>(j++)});
    } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

// Goes on at the nearest equal pair within the horizon.
void ByHorizon(Sequence a, Sequence b, uint32_t offset, Places& places) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      places.push_back({offset + static_cast<uint32_t>(i++), offset + static_cast<uint32_t>(j++)});
      continue;
    }
    size_t best = 2 * kHorizon, skip_a = 1, skip_b = 1;
    for (size_t da = 0; da < kHorizon && i + da < a.size(); ++da) {
      for (size_t db = 0; da + db < best && db < kHorizon && j + db < b.size(); ++db) {
        if (a[i + da] != b[j + db]) continue;
        best = da + db;
        skip_a = da;
        skip_b = db;
      }
    }
    i += skip_a;
    j += skip_b;
  }
}

}  // namespace

Places CommonSubsequence(Sequence a, Sequence b) {
  Places places, tail;
  uint32_t start = 0;
  while (start < a.size() && start < b.size() && a[start] == b[start]) {
    places.push_back({start, start});
    ++start;
  }
  size_t end_a = a.size(), end_b = b.size();
  while (end_a > start && end_b > start && a[end_a - 1] == b[end_b - 1]) {
    tail.push_back({static_cast<uint32_t>(--end_a), static_cast<uint32_t>(--end_b)});
  }
  const Sequence middle_a = a.subspan(start, end_a - start);
  const Sequence middle_b = b.subspan(start, end_b - start);
  const bool fits = middle_a.size() < 65535 && middle_b.size() < 65535 &&
                    (middle_a.size() + 1) * (middle_b.size() + 1) <= kLargestTable;
  (fits ? ByTable : ByHorizon)(middle_a, middle_b, start, places);
  places.insert(places.end(), tail.rbegin(), tail.rend());
  return places;
}

// Patience sorting: each pile's top is the smallest end of a rising run of that length.
std::vector<uint32_t> LongestRising(std::span<const uint32_t> values) {
  std::vector<uint32_t> tops, before(values.size());
  constexpr uint32_t kNone = 0xffffffffu;
  for (uint32_t i = 0; i < values.size(); ++i) {
    const auto pile = std::ranges::lower_bound(tops, values[i], {},
                                               [&](uint32_t place) { return values[place]; });
    before[i] = pile == tops.begin() ? kNone : *(pile - 1);
    if (pile == tops.end()) {
      tops.push_back(i);
    } else {
      *pile = i;
    }
  }
  std::vector<uint32_t> kept;
  for (uint32_t i = tops.empty() ? kNone : tops.back(); i != kNone; i = before[i])
    kept.push_back(i);
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace graphkit
