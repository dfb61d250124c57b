// The memory that a recorded allocator held before the first event, and at any time: from what it
// holds at the end, event by event back.
//
//   end      [ segment ]        [ pages      ]
//   events   segment freed at x, pages mapped at y
//   start    [ segment ]   [x ] [ pages ]
//
// An expandable segment is a range for each stretch of pages, as in the snapshot.
#pragma once

#include <cstdint>
#include <map>

#include "libgraphkit/alloc/caching_allocator.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

struct RecordedRange {
  Bytes size = 0;
  uint64_t stream = 0;
  PoolHandle pool = 0;
  bool small = false;
  bool expandable = false;

  // Whether two stretches of pages can be of one expandable segment.
  bool Joins(const RecordedRange& o) const {
    return expandable && o.expandable && stream == o.stream && pool == o.pool && small == o.small;
  }
};
using RecordedRanges = std::map<Address, RecordedRange>;  // by where they begin

struct RewoundRanges {
  RecordedRanges start;
  RecordedRanges ever;
};
RewoundRanges RewindRanges(const TorchSnapshot& snapshot, size_t device,
                           const CachingConfig& config);

// The range that the address lies in; null: in none.
const RecordedRanges::value_type* RangeOf(const RecordedRanges& ranges, Address address);

// Where the address space of the expandable segment begins that the pages at `address` belong to:
// at the lowest of its pages that ever were. Its size: what the allocator reserves, or more when
// that much was used.
Address SpaceBegin(const RecordedRanges& ever, Address address, const RecordedRange& pages);
Bytes SpaceSize(const RecordedRanges& ever, Address begin, const RecordedRange& pages,
                const CachingConfig& config);

}  // namespace graphkit
