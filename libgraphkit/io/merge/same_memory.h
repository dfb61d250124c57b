// Memory that a snapshot and a trace of one process both saw, though addresses come back:
//
//     trace      map X    unmap X (a pause)    map X (a resume)     cudaMalloc Y  cudaFree Y  …
//     snapshot   segment at X ──────────────────────────────────    segment at Y  its end
//
// PyTorch writes a segment down right after the driver gave its memory: at its address it is the
// memory that the driver had given last by then, if that is large enough.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "libgraphkit/io/merge/joins.h"

namespace graphkit {

inline constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();

struct TimedTrace {
  const Trace& trace;
  // By place, never falling: the wall time in ns; kAtOnce: before everything that has a time.
  std::span<const int64_t> wall;
};

constexpr int64_t kClocksAgree = 10'000'000;     // ns: those that were put together differ by less
constexpr int64_t kClocksApart = 1'000'000'000;  // ns: those of one machine differ by less

// Block of the snapshot's trace → block of the base, by clocks that differ by less than `apart`; of
// what isn't in the base `not_joined` gets a line, unless it is null. A piece of an expandable
// segment may be a run of adjacent blocks there: the first one. What is left of a segment after an
// unmap is the memory that it was before.
std::map<BlockId, BlockId> SameDriverBlocks(const TimedTrace& snapshot, const TimedTrace& base,
                                            int64_t apart, NotJoinedList* not_joined);

int64_t MedianOf(std::vector<int64_t> numbers);  // of at least one

// The correction of the snapshot's times, from how much earlier (negative) or later the trace saw
// the same allocations.
int64_t ClockDifference(std::vector<int64_t> differences);

}  // namespace graphkit
