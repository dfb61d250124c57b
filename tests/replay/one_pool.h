// A pool with one segment, and what of it is lent, in units.
#pragma once

#include <utility>
#include <vector>

#include "libgraphkit/analysis/launches/borrow.h"
#include "tests/build_trace.h"

namespace graphkit {

inline constexpr Bytes kUnit = 512;

// A pool with one segment, of so many units.
struct OnePool {
  TraceBuilder t;
  StreamId s = t.Stream("s");
  PoolId pool = t.Pool(PoolKind::kPrivate, "pool");
  SegmentId segment;
  Address base = 0;

  explicit OnePool(Bytes units) : segment(t.Segment(pool, units * kUnit, s)) {
    base = t.trace()[segment].address;
  }
  BlockId Alloc(Bytes first, Bytes units) {
    return t.AllocAt(s, units * kUnit, base + first * kUnit, segment);
  }
};

using Units = std::vector<std::pair<Bytes, Bytes>>;  // begin, end

inline Units FreeUnits(const PoolBorrow& pool, Address base) {
  Units units;
  for (const Interval<Address>& range : pool.free) {
    units.emplace_back((range.begin - base) / kUnit, (range.end - base) / kUnit);
  }
  return units;
}

}  // namespace graphkit
