// The colour of each box, by whatever was asked for.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/render/dot/dot.h"

namespace graphkit {

struct BoxColour {
  const char* fill;
  const char* line;
};

// An entry of the legend.
struct ColourMeaning {
  const char* line;
  std::string text;
};

// By node: a key that says which of the scheme's colours it has: a kind, a stream, a pool (or
// kNoKey), one plus a severity (or 0), a class of durations.
std::vector<uint32_t> ColourNodes(const Trace& trace, const DotOptions& options);
inline constexpr uint32_t kNoKey = 0xffffffffu;

// Of several nodes in one box: the first's; by finding the worst, by duration the longest.
uint32_t KeyOfBox(const Box& box, const std::vector<uint32_t>& keys, ColourBy by);
BoxColour ColourOfKey(uint32_t key, ColourBy by);

// What the colours mean, of the keys that occur, in their order.
std::vector<ColourMeaning> ColourLegend(const Trace& trace, const std::vector<uint32_t>& keys,
                                        ColourBy by);

}  // namespace graphkit
