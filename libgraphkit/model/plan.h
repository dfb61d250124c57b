// Where each block lies.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

// One arena's part of a plan.
struct ArenaPlan {
  uint32_t arena = 0;
  Bytes peak = 0;         // the highest byte used
  Bytes lower_bound = 0;  // no plan of this arena can have a smaller peak
  bool operator==(const ArenaPlan&) const = default;
};

struct Plan {
  std::vector<Bytes> offsets;     // offsets[i]: of block i, in its arena
  std::vector<ArenaPlan> arenas;  // by arena
  Bytes peak = 0;                 // sum over the arenas
  Bytes lower_bound = 0;          // sum over the arenas
  bool operator==(const Plan&) const = default;

  bool optimal() const { return peak == lower_bound; }
};

}  // namespace graphkit
