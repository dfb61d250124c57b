#include "libgraphkit/io/merge/same_memory.h"

#include <algorithm>

namespace graphkit {
namespace {

struct Given {
  int64_t wall = kAtOnce;
  BlockId block;
};

// What the driver gave at one address, in order of time.
struct AtAddress {
  std::vector<Given> snapshot;
  std::vector<Given> base;
};

// The last one by `time` that fits; clocks may be `apart`, so one after it that is nearer comes
// first. None: there is none.
template <typename Fits>
BlockId GivenBy(int64_t time, int64_t apart, const std::vector<Given>& given, const Fits& fits) {
  const Given* best = nullptr;
  for (auto at = std::ranges::upper_bound(given, time + apart, {}, &Given::wall);
       at != given.begin();) {
    --at;
    if (!fits(at->block)) continue;
    const bool farther = best && (at->wall == kAtOnce || time - at->wall > best->wall - time);
    if (!farther) best = &*at;
    if (farther || at->wall <= time) break;
  }
  return best ? best->block : BlockId();
}

std::map<Address, AtAddress> GivenAt(const TimedTrace& snapshot, const TimedTrace& base,
                                     const BlocksByAddress& in_base) {
  std::map<Address, AtAddress> given;
  for (const auto& [address, block] : DriverBlocks(snapshot.trace)) {
    // The record of the segment, which has the time, follows that of its memory.
    const int64_t wall = snapshot.wall[snapshot.trace[block].allocated + 1];
    given[address].snapshot.push_back({wall, block});
  }
  for (const auto& [address, block] : in_base) {
    const auto at = given.find(address);
    if (at == given.end()) continue;
    at->second.base.push_back({base.wall[base.trace[block].allocated], block});
  }
  return given;
}

}  // namespace

std::map<BlockId, BlockId> SameDriverBlocks(const TimedTrace& snapshot, const TimedTrace& base,
                                            int64_t apart, NotJoinedList* not_joined) {
  const BlocksByAddress in_base = DriverBlocks(base.trace);
  const auto timed = std::ranges::upper_bound(snapshot.wall, kAtOnce);
  const int64_t history_begin = timed == snapshot.wall.end() ? kAtOnce : *timed;
  std::map<BlockId, BlockId> same;
  for (const auto& [address, given] : GivenAt(snapshot, base, in_base)) {
    for (const auto& [wall, block] : given.snapshot) {
      const Bytes size = snapshot.trace[block].size;
      const int64_t time = wall == kAtOnce ? history_begin : wall;
      const BlockId there = GivenBy(time, apart, given.base, [&](BlockId first) {
        return !RunOfBlocks(base.trace, in_base, first, size).empty();
      });
      if (there) {
        same[block] = there;
      } else if (not_joined && !base.trace.blocks.empty()) {
        not_joined->Add("segments of the snapshot whose memory the trace didn't see asked for",
                        "block " + std::to_string(block.value));
      }
    }
  }
  return same;
}

int64_t MedianOf(std::vector<int64_t> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

// The allocator writes a segment down after the driver gave the memory, or much later what is left
// of one: the least delay that isn't far from a short one is the best reading, and a short one is
// no difference of the clocks at all. A few may all be of a thread that had to wait.
int64_t ClockDifference(std::vector<int64_t> differences) {
  constexpr size_t kFew = 3;
  const int64_t longest_delay = differences.size() > kFew ? 1'000'000 : 1'000'000'000;
  if (differences.empty()) return 0;
  const auto short_one = differences.begin() + 3 * std::ssize(differences) / 4;
  std::ranges::nth_element(differences, short_one);
  int64_t best = *short_one;
  const int64_t far = best + kClocksAgree;
  for (const int64_t difference : differences) {
    if (difference <= far) best = std::max(best, difference);
  }
  return best <= 0 && best >= -longest_delay ? 0 : best;
}

}  // namespace graphkit
