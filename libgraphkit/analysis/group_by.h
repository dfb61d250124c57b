// Sorts the entries of a column by what they belong to, in linear time and two flat arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace graphkit {

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

// `owner_of`: of an entry, an id below `owners`; entries without one are left out.
template <typename Items, typename GetOwner>
Grouped Group(const Items& all, size_t owners, GetOwner owner_of) {
  Grouped by;
  by.Assign(all.size(), owners, [&](size_t i) { return owner_of(all[i]).index(); });
  return by;
}

}  // namespace graphkit
