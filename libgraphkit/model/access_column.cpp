#include "libgraphkit/model/access_column.h"

#include <span>
#include <stdexcept>

namespace graphkit {

void AccessColumn::Set(size_t i, const Access& access) {
  constexpr size_t kNear = 8;  // kernels of a loop touch the same parts of blocks again
  Row& row = rows_[i];
  row.block = access.block;
  row.mode = access.mode;
  row.extent = 0;
  const Extent extent{access.offset, access.length};
  if (extent == Extent()) return;
  const std::span near = std::span(extents_).last(std::min(kNear, extents_.size()));
  const auto known = std::ranges::find(near, extent);
  const auto index = static_cast<size_t>(known - near.begin()) + extents_.size() - near.size();
  if (index == kMostExtents) throw std::length_error("too many extents of accesses");
  if (known == near.end()) extents_.push_back(extent);
  row.extent = static_cast<uint32_t>(index + 1) & kMostExtents;
}

}  // namespace graphkit
