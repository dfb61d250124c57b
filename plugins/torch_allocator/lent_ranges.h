// Memory that is lent for a while, and what of it is free: the smallest stretch that holds a
// request, the lowest of equals; what is given back joins its neighbours.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/units.h"

namespace graphkit::torch {

class LentRanges {
 public:
  // Disjoint, by begin. Neighbours that touch stay apart if `free` says so: they may be of two
  // segments.
  explicit LentRanges(const std::vector<Interval<Address>>& free);

  // `size`: rounded to 512, not 0.
  std::optional<Address> Take(Bytes size);
  void Give(Address address, Bytes size);
  Bytes bytes() const { return bytes_; }  // lent at all

 private:
  std::map<Address, Address> whole_;  // ends by begin, as they were lent
  std::map<Address, Address> free_;
  Bytes bytes_ = 0;
};

}  // namespace graphkit::torch
