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
#include <unordered_map>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

// The knowledge of a range. Only what lies in known ranges can be predicted; leaving the others out
// changes nothing for it: a request takes the best of all blocks, so the best of fewer as well.
enum class RangeState : uint8_t {
  kKnown,
  kStartUnknown,  // what lay in it before the first event contradicts the file
  kPoolUnknown,   // given back during the run, and it can't be told whose it was
};

struct RecordedRange {
  Bytes size = 0;
  uint64_t stream = 0;
  PoolHandle pool = 0;
  bool small = false;
  bool expandable = false;
  RangeState state = RangeState::kKnown;

  // True if two stretches of pages can be of one expandable segment.
  bool Joins(const RecordedRange& o) const {
    return expandable && o.expandable && stream == o.stream && pool == o.pool && small == o.small;
  }
};
using RecordedRanges = std::map<Address, RecordedRange>;  // by where they begin

// The address space of an expandable segment, as far as its pages were mapped at any time.
struct ExpandableSpace {
  RecordedRange pages;
  Address begin = 0;
  Address end = 0;
};

struct RewoundRanges {
  RecordedRanges start;
  RecordedRanges ever;
  std::vector<ExpandableSpace> spaces;              // that there were at the start
  std::unordered_map<uint32_t, RecordedRange> got;  // by the event that got it from the driver
  std::vector<RecordedRange> left_out;  // expandable segments of which something can't be told
  bool pools_unknown = false;  // something was given back, and the file doesn't say whose it was
};
// Whose was what was given back without a word of its pool: the default pool's, but for what stands
// here. Pools that the file doesn't name have the numbers after those that it does. Of pages only
// the default pool is guessed: those of another one are unknown.
struct PoolGuess {
  static constexpr PoolHandle kUnknown = 0xffffffffu;
  bool default_pool = true;                // else nothing is guessed
  std::map<uint32_t, PoolHandle> of = {};  // by the event that gave it back
  uint32_t deduced = 0;                    // pools that the file doesn't name
};
RewoundRanges RewindRanges(const TorchSnapshot& snapshot, size_t device,
                           const CachingConfig& config, const PoolGuess& guess);

// Pages become one range with those of their segment that they overlap or touch.
void AddRange(RecordedRanges* ranges, Address address, RecordedRange range);
// Takes [address, address + size) out of the range that it lies in.
void RemoveRange(RecordedRanges* ranges, Address address, Bytes size);

// Marks all pages of the expandable segment as unknown, those that come as well.
void LeaveOutSpace(RewoundRanges* ranges, const RecordedRange& pages);
bool IsLeftOut(const RewoundRanges& ranges, const RecordedRange& pages);

// The range that the address lies in; null: in none.
const RecordedRanges::value_type* RangeOf(const RecordedRanges& ranges, Address address);

// The address space that the pages, which were there at the start, belong to.
const ExpandableSpace& SpaceOf(const RewoundRanges& ranges, const RecordedRange& pages);

}  // namespace graphkit
