// For each block and each lane, the first birth that the block is before: found once for all, so
// that windows needn't search for it.
//
// The births of a lane see ever more of each chain. So for one lane and one chain, the blocks whose
// marker lies on that chain come out in the order of their markers, and a pointer that only moves
// forwards finds them all. All lanes are walked together, in capture order: what they look at lies
// close together then.
//
//     births of a lane      b0      b1       b2         count of chain c there: 1, 1, 4
//     markers on chain c    x(0)  y(1)  z(2)  w(4)      first births: x b0; y, z b2; w none
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/memory/bound/lanes.h"

namespace graphkit {

class Exits {
 public:
  static constexpr uint32_t kNever = 0xffffffffu;    // before none of them
  static constexpr uint32_t kUnknown = 0xfffffffeu;  // ask Lanes::Before

  // `lanes` must outlive it.
  explicit Exits(const Lanes& lanes);

  // An item; kNever; or kUnknown, where the order isn't that simple or the birth is far away.
  uint32_t Of(uint32_t item, uint32_t lane) const {
    if (deltas_.empty()) return kUnknown;
    const uint16_t delta = deltas_[static_cast<size_t>(item) * lanes_.lanes() + lane];
    if (delta >= kFar) return delta == kFar ? kUnknown : kNever;
    return item + delta;
  }
  // True if an item is before a birth of a lane: the same as Lanes::Before.
  bool Before(uint32_t item, uint32_t birth) const {
    const uint32_t exit = Of(item, lanes_.lane(birth));
    return exit == kUnknown ? lanes_.Before(item, birth) : exit <= birth;
  }

 private:
  // Values of deltas_: how far away the birth is; kFar: the order has to be asked; above it: how
  // many of the block's markers the lane hasn't come after.
  static constexpr uint16_t kFar = 0xfeff;
  static constexpr uint16_t kMostMarkers = 0xff;

  // A marker of a block, on a chain.
  struct Mark {
    uint32_t seq;
    uint32_t item;
  };

  // How far the walk has come in one lane.
  struct Walk {
    bool plain = false;
    OrderPoint last = {};
    std::vector<size_t> next = {};  // of the marks of each chain, by place in chains_
  };

  bool SortMarkers();
  void SetUp(std::vector<Walk>* walks);
  void Step(uint32_t birth, Walk* walk);
  void Pass(uint32_t birth, uint32_t item);

  const Lanes& lanes_;
  std::vector<uint32_t> chains_;          // that have markers
  std::vector<std::vector<Mark>> marks_;  // by place in chains_, by seq
  std::vector<uint8_t> markers_;          // by item: how many; 0: not that simple
  std::vector<uint16_t> deltas_;          // by item and lane
};

}  // namespace graphkit
