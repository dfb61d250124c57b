// The address ranges that an allocator has from the driver, as they come and go: whole segments,
// and pages mapped into and out of expandable ones.
#pragma once

#include <map>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct MappedRange {
  Interval<Address> range;
  StreamId stream;
  PoolId pool;
  SegmentId segment;  // none: not in the trace yet
};

class MappedRanges {
 public:
  // What `range` covers of the ranges is taken out: whole pieces, and the rests on both sides stay.
  // Returns the pieces that were there, as they were before.
  std::vector<MappedRange> Remove(Interval<Address> range);
  // Takes the place of whatever lay there. An empty range is none.
  void Add(const MappedRange& added);

  MappedRange* Find(Address address);
  const std::map<Address, MappedRange>& all() const { return by_begin_; }
  std::map<Address, MappedRange>& all() { return by_begin_; }

 private:
  std::map<Address, MappedRange> by_begin_;
};

}  // namespace graphkit
