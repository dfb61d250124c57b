// The bytes of a block as a function of the size that its graph was captured for.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/exec_memory.h"

namespace graphkit {

struct SizePoint {
  uint64_t size = 0;
  Bytes bytes = 0;
  bool operator==(const SizePoint&) const = default;
};

// A rule with one number (constant, proportional) is confirmed by a second capture, a line by a
// third. What isn't confirmed lies between growing with the size and not depending on it.
struct BlockGrowth {
  enum class Rule : uint8_t { kConstant, kProportional, kLinear, kUnsure };
  Rule rule = Rule::kUnsure;
  std::vector<SizePoint> points = {};  // ascending, each size once
  double offset = 0;
  double slope = 0;  // the likeliest bytes are offset + slope * size
  Bytes error = 0;   // a captured block was this far from it, at most
  bool operator==(const BlockGrowth&) const = default;
};

// At least one point. Of captures of one size the largest block counts.
BlockGrowth FitGrowth(std::vector<SizePoint> points);

ByteRange BytesAt(const BlockGrowth& growth, uint64_t size);

}  // namespace graphkit
