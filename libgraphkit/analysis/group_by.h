// Sorts the entries of a column by what they belong to, in linear time and two flat arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace graphkit {

// Indices of entries by owner, in their own order.
struct Grouped {
  std::vector<uint32_t> first;
  std::vector<uint32_t> items;

  std::span<const uint32_t> Of(size_t owner) const {
    return std::span(items).subspan(first[owner], first[owner + 1] - first[owner]);
  }
};

// `owner_of`: of an entry, an id below `owners`; entries without one are left out.
template <typename Items, typename GetOwner>
Grouped Group(const Items& all, size_t owners, GetOwner owner_of) {
  Grouped by;
  by.first.assign(owners + 1, 0);
  for (const auto& item : all) {
    if (owner_of(item).index() < owners) ++by.first[owner_of(item).index() + 1];
  }
  std::partial_sum(by.first.begin(), by.first.end(), by.first.begin());
  by.items.resize(by.first.back());
  std::vector<uint32_t> next(by.first.begin(), by.first.end() - 1);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto owner = owner_of(all[i]);
    if (owner.index() < owners) by.items[next[owner.index()]++] = static_cast<uint32_t>(i);
  }
  return by;
}

}  // namespace graphkit
