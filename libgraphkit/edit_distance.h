// How far one word is from another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace graphkit {

// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
// Optimal string alignment: three rows of the usual table suffice.
inline size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replace = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

}  // namespace graphkit
